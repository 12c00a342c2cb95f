"""A real model behind a server of chat completions: rehearsed, talked to, exported, drawn again.

    python -m tests.benchmarks.real_server --url http://127.0.0.1:8000/v1 --model NAME

Two people send the same lines to it, through the embedded reply worker. What is between Parley and
the server is written down by a proxy and compared with the export: the bytes that were sent, and
those that came back. At last the first requests are sent once more, to see whether their seeds
give the same words.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LINES = ("Hello! How are you today?", "What do you like to do at weekends?")
PATIENCE = 600.0


class _Recorder(BaseHTTPRequestHandler):
    """Passes requests on to the real server, and keeps both bodies."""

    protocol_version = "HTTP/1.1"
    server: _Proxy

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        told = post(f"{self.server.url}/chat/completions", asked)
        self.server.kept.append((json.loads(asked), json.loads(told)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Recorder)
        self.url = url
        self.kept: list[tuple[dict[str, Any], dict[str, Any]]] = []


def post(url: str, body: bytes) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
        return bytes(answer.read())


def words(told: dict[str, Any]) -> str:
    return str(told["choices"][0]["message"]["content"])


@contextmanager
def recorded(url: str) -> Iterator[_Proxy]:
    proxy = _Proxy(url)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    os.environ["BOT_PRIVATE_HOSTS"] = f"127.0.0.1:{proxy.server_address[1]}"
    yield proxy
    proxy.shutdown()


def wait_until_answered() -> None:
    from webapp.models import ReplyJob

    deadline = time.monotonic() + PATIENCE
    while ReplyJob.objects.filter(state__in=("QUEUED", "CLAIMED", "ANSWERED")).exists():
        if time.monotonic() > deadline:
            raise SystemExit("no reply in time")
        time.sleep(0.05)


def rehearse(system: Any) -> None:
    from django.utils import timezone

    from webapp.services.replies import rehearsal

    system.refresh_from_db()
    system.rehearsal = "UNTESTED"
    system.save()
    rehearsal.start(system=system, by="staff", now=timezone.now())
    wait_until_answered()
    system.refresh_from_db()
    print(f"rehearsal: {system.rehearsal} ({system.rehearsal_note})")


def chat(options: dict[str, Any]) -> Any:
    """Rehearse the system, then let two people send the same lines; return their campaign."""
    from tests import live
    from tests.benchmarks.waiting_systems import send_all
    from webapp.models import Campaign, Participation, System

    made = live._seed(bot="chat_server", options=options, people=2, reply_seconds=int(PATIENCE))
    rehearse(System.objects.get())
    for line in LINES:
        send_all(list(Participation.objects.values_list("pk", flat=True)), line)
        wait_until_answered()
    return Campaign.objects.get(slug=made["slug"])


def compare(records: list[dict[str, Any]], proxy: _Proxy) -> None:
    """Print what was said, and whether the export has what the proxy saw."""
    seen = {json.dumps(asked, sort_keys=True): words(told) for asked, told in proxy.kept}
    calls = [call for one in records for reply in one["replies"] for call in reply["calls"]]
    asked = sum(json.dumps(call["prompt"], sort_keys=True) in seen for call in calls)
    equal = sum(seen.get(json.dumps(one["prompt"], sort_keys=True)) == one["raw"] for one in calls)
    for one in records:
        print(f"conversation {one['conversation']}")
        for event in one["events"]:
            print(f"  {'bot' if event['side'] else 'you'}: {event['content'].get('text')}")
    print(f"calls in the export: {len(calls)}; requests as sent: {asked}; raw as received: {equal}")
    first = [one["replies"][0]["calls"][0]["raw"] for one in records]
    print(f"different replies to the same first line: {len(set(first))} of {len(first)}")
    again = [_asked_again(one["replies"][0]["calls"][0], proxy.url) for one in records]
    same = sum(text == before for text, before in zip(again, first, strict=True))
    print(f"the same words to the same request and seed: {same} of {len(first)}")


def _asked_again(call: dict[str, Any], url: str) -> str:
    told = post(f"{url}/chat/completions", json.dumps(call["prompt"]).encode())
    return words(json.loads(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument(
        "--at-once", type=int, default=1, help="more where the server seeds each request by itself"
    )
    given: Any = parser.parse_args()
    with recorded(given.url) as proxy, tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEBUG="1", DATA_DIR=folder, DJANGO_SETTINGS_MODULE="webapp.settings")
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        import django

        django.setup()
        from tests.databases import migrate
        from webapp import workers
        from webapp.services.data import exports

        migrate()
        host = workers.hosted_here()
        url = f"http://127.0.0.1:{proxy.server_address[1]}/v1"
        limits = {"max_tokens": given.tokens, "seconds": 300.0, "at_once": given.at_once}
        host.start()
        try:
            campaign = chat({"url": url, "model": given.model, **limits})
        finally:
            host.stop()
        path = exports.write_to(campaign=campaign, path=Path(folder) / "export.zip")
        lines = zipfile.ZipFile(path).read("conversations.jsonl").splitlines()
        compare([json.loads(line) for line in lines], proxy)


if __name__ == "__main__":
    main()
