"""The files of docs/deploy: what they name exists, and nginx and systemd accept them (R41)."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_docs import FENCE, SETTING, check
from webapp import settings
from webapp.sockets import consumers

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "deploy"
UNITS = sorted([*FOLDER.glob("*.service"), *FOLDER.glob("*.timer")])
PLACED = re.compile(r"(?:/opt/parley/|^)((?:script|\.venv/bin|docs|webapp)/[\w./-]+|manage\.py)")


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text("compose.yaml"))
    return found


def commands() -> Iterator[str]:
    """Yield what units, images and containers start."""
    for unit in UNITS:
        yield from re.findall(r"^ExecStart=(.*)", unit.read_text(encoding="utf-8"), re.M)
    for words in re.findall(r"^CMD (.*)", text("Dockerfile"), re.M):
        yield shlex.join(json.loads(words))
    for service in compose()["services"].values():
        words = service.get("command", [])
        yield from words[2].split(" && ") if words[:2] == ["sh", "-c"] else [shlex.join(words)]


def test_every_command_has_the_options_that_it_is_given() -> None:
    ours = [line for line in commands() if "parley" in line or ".venv" in line]
    assert len(ours) == 6 + 2 + 7
    assert [line for line in ours if not check(line.replace("%i", "8001"))] == []


def test_every_path_of_the_clone_exists() -> None:
    words = [word for line in commands() for word in shlex.split(line)]
    words += re.findall(r"^(?:COPY|RUN) .*?(script/\w+)", text("Dockerfile"), re.M)
    for line in re.findall(r"^COPY (script.*) script/$", text("Dockerfile"), re.M):
        words += line.split()
    named = {found[1] for word in words if (found := PLACED.search(word))}
    assert {"manage.py", "script/bootstrap", "script/torch.lock", ".venv/bin/celery"} <= named
    assert [each for each in sorted(named) if not (ROOT / each).exists()] == []


def test_every_stage_that_is_built_or_copied_from_exists() -> None:
    stages = set(re.findall(r"^FROM \S+ AS (\S+)", text("Dockerfile"), re.M))
    builds = [each["build"] for each in compose()["services"].values() if "build" in each]
    wanted = {each["target"] for each in builds}
    wanted |= set(re.findall(r"--from=(\S+)", text("Dockerfile")))
    assert wanted == {"web", "worker", "web-packages", "worker-packages"}
    assert wanted <= stages
    for each in builds:
        assert (FOLDER / each["context"]).resolve() == ROOT
        assert (ROOT / each["dockerfile"]).exists()


def test_every_variable_is_a_setting() -> None:
    known = set(SETTING.findall((ROOT / "webapp" / "settings.py").read_text(encoding="utf-8")))
    given = set(re.findall(r"^([A-Z_]+)=", text("parley.env"), re.M))
    passwords = {"DATABASE_PASSWORD", "REPLIES_PASSWORD"}  # of roles.sql
    assert passwords <= given
    assert (given - passwords) | set(compose()["x-parley"]["environment"]) <= known
    in_image = re.findall(r"([A-Z_]+)=", re.findall(r"^ENV (.*)", text("Dockerfile"), re.M)[0])
    assert set(in_image) - {"PYTHONUNBUFFERED"} <= known


def test_ports_and_names_agree_with_the_roll() -> None:
    roll = (ROOT / "script" / "roll").read_text(encoding="utf-8")
    ports = re.findall(r"server 127\.0\.0\.1:(\d+);", text("parley-servers.conf"))
    assert f"script/roll {' '.join(ports)}\n" in roll
    services = compose()["services"]
    assert [services[f"web{one}"]["ports"] for one in (1, 2)] == [
        [f"127.0.0.1:{port}:8000"] for port in ports
    ]
    assert '"--port", "8000"' in text("Dockerfile")
    assert "127.0.0.1:8000/healthz" in services["web1"]["healthcheck"]["test"][-1]
    (upstream,) = re.findall(r'UPSTREAM = Path."(\S+)".', roll)
    assert f"include {upstream};" in text("nginx.conf")
    assert {path.stem for path in UNITS} >= {*re.findall(r"(parley-\w+@)\{port\}", roll)}
    for _, block in FENCE.findall(text("README.md")):
        assert f"script/roll {' '.join(ports)} --drain" in block


def test_the_watch_asks_where_the_model_server_listens() -> None:
    unit, watch = text("model-server.service"), text("model-server-watch.service")
    (port,) = re.findall(r"--port (\d+)", unit)
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", unit + watch)) == {port}


def test_limits_of_the_proxy_are_not_below_those_of_the_code() -> None:
    body = int(re.findall(r"client_max_body_size (\d+)m", text("nginx.conf"))[0])
    assert body << 20 == settings.MAX_UPLOAD_BYTES
    silent = int(re.findall(r"proxy_read_timeout (\d+)s", text("nginx.conf"))[0])
    assert silent > consumers.IDLE


def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("no nginx or no openssl: install nginx-light")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=parley -keyout key.pem"
    command = [*words.split(), "-out", "fullchain.pem"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    shutil.copy(FOLDER / "parley-servers.conf", tmp_path)
    site = text("nginx.conf").replace("/etc/nginx/", f"{tmp_path}/")
    site = re.sub(r"listen (80|443)", r"listen 127.0.0.1:1\1", site)
    (tmp_path / "site.conf").write_text(site.replace("/etc/ssl/parley/", f"{tmp_path}/"))
    main = f"pid {tmp_path}/pid; events {{}} http {{ include {tmp_path}/site.conf; }}"
    (tmp_path / "main.conf").write_text(main)
    done = subprocess.run(
        [program, "-t", "-c", tmp_path / "main.conf", "-e", tmp_path / "error.log"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """In a tree of its own, where the programs that they start exist."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze: install systemd")
    programs = tmp_path / "parley" / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("uvicorn", "celery", "python", "vllm"):
        (programs / name).symlink_to("/bin/true")
    (tmp_path / "parley.env").touch()
    copies = []
    for unit in UNITS:
        words = unit.read_text(encoding="utf-8").replace("/opt/parley", f"{tmp_path}/parley")
        words = words.replace("/opt/vllm/bin", str(programs))
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(words.replace("/etc/parley.env", f"{tmp_path}/parley.env"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *copies], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "parley" in line or "model" in line]
    assert (ours, len(copies)) == ([], 10)
    assert done.returncode == 0, done.stderr


def test_every_process_is_started_by_a_unit_and_by_a_service() -> None:
    """What one process has as threads (`webapp.embedded`) is a process of its own here."""
    units = "\n".join(unit.read_text(encoding="utf-8") for unit in UNITS)
    services = [str(each.get("command", "")) for each in compose()["services"].values()]
    for command in ("sweep", "recruit", "chat_service"):
        assert f"manage.py {command}\n" in units
        assert any("manage.py" in words and command in words for words in services)


def test_containers_have_all_variables_and_an_account_of_the_database_each() -> None:
    services = compose()["services"]
    for name in (
        "migrate",
        "web1",
        "web2",
        "replies",
        "sweep",
        "recruit",
        "chat_service",
        "backup",
    ):
        assert services[name]["env_file"] == ["/etc/parley.env"], name
        who = "parley_replies" if name == "replies" else "parley"
        address = services[name]["environment"]["DATABASE_URL"]
        assert address.startswith(f"postgres://{who}:"), name
        assert set(services[name]["environment"]) >= {"SECRET_KEY", "REDIS_URL", "DATA_DIR"}
    assert "POSTGRES_USER" not in services["database"]["environment"], "it would be a superuser"
    (mounted,) = [each for each in services["database"]["volumes"] if "roles.sql" in each]
    assert (FOLDER / mounted.partition(":")[0]).exists()
    asked = set(re.findall(r"^.getenv \w+ (\w+)$", text("roles.sql"), re.M))
    assert asked <= set(services["database"]["environment"])


@pytest.fixture
def installation(tmp_path: Path) -> dict[str, str]:
    """Return the variables of an installation of its own, with a new database."""
    variables = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ALLOWED_HOSTS": "parley.example.org",
        "DATA_DIR": str(tmp_path),
        "CHAT_SERVICE_TOKEN": "123:token",
        "CHAT_SERVICE_SECRET": secrets.token_urlsafe(20),
    }
    done = started("manage.py migrate", variables).communicate()
    assert "Applying" in done[0], done
    return variables


def started(line: str, variables: dict[str, str]) -> subprocess.Popen[str]:
    words = [sys.executable, *shlex.split(line)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=ROOT, env=variables, **pipes)


def command_of(unit: str) -> str:
    (line,) = re.findall(r"^ExecStart=/opt/parley/.venv/bin/python (.*)", text(unit), re.M)
    return str(line)


def handles_sigterm(pid: int) -> bool:
    """Tell whether a process has a handler of its own for SIGTERM, as Linux knows."""
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = re.findall(r"^SigCgt:\s*([0-9a-f]+)", status, re.M)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def test_the_backup_unit_writes_one_where_its_user_may(installation: dict[str, str]) -> None:
    process = started(command_of("parley-backup.service"), installation)
    printed, complaints = process.communicate()
    assert process.returncode == 0, complaints
    folder = Path(installation["DATA_DIR"]) / "backups"
    assert [path.name in printed for path in folder.iterdir()] == [True]
    assert "/var/lib/parley" in text("parley-backup.service"), "what ProtectSystem leaves writable"
    assert "DATA_DIR=/var/lib/parley\n" in text("parley.env")
    assert "OnCalendar=hourly" in text("parley-backup.timer")


def test_the_chat_service_unit_ends_as_systemd_ends_it(installation: dict[str, str]) -> None:
    process = started(command_of("parley-chat-service.service"), installation)
    until = time.monotonic() + 60
    while not handles_sigterm(process.pid) and time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.terminate()
    _, complaints = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in complaints) == (0, False), complaints


def test_without_its_token_the_chat_service_unit_says_so(installation: dict[str, str]) -> None:
    del installation["CHAT_SERVICE_TOKEN"]
    process = started(command_of("parley-chat-service.service"), installation)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "CHAT_SERVICE_TOKEN is not set" in complaints
