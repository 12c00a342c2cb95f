"""nginx in front of web processes on this machine, as docs/deploy/nginx.conf has it but for TLS."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import live, servers

CONFIG = """
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/unused;
    uwsgi_temp_path {folder}/unused;
    scgi_temp_path {folder}/unused;
    upstream parley {{ include {folder}/servers.conf; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://parley;
            proxy_next_upstream error timeout http_503;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection;
            proxy_read_timeout 90s;
        }}
    }}
}}
"""


@dataclass(frozen=True)
class Proxy:
    """A running nginx: its port, the list of servers that it includes, and what rereads it."""

    port: int
    upstream: Path
    reload: str


def program() -> str:
    """Return nginx; where there is none, the test is skipped."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("no nginx: install nginx-light")
    return found


@contextlib.contextmanager
def running(folder: Path, ports: Sequence[int]) -> Iterator[Proxy]:
    port, upstream, config = servers.free_port(), folder / "servers.conf", folder / "nginx.conf"
    upstream.write_text("".join(f"server 127.0.0.1:{each};\n" for each in ports))
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(CONFIG.format(folder=folder, port=port, user=user))
    command = [program(), "-c", str(config), "-p", str(folder)]
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        live.wait_for_port(port, process)
        yield Proxy(port, upstream, " ".join([*command, "-s", "reload"]))
    finally:
        process.terminate()
        process.wait(live.PATIENCE)
