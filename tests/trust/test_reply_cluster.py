"""Reply workers as processes of their own: Celery brings the hint, the table is the truth."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import redis

from tests.live import ROOT, Client, Server, Study, is_reply, serving
from tests.servers import redis_server

pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]


@contextmanager
def reply_worker(server: Server) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "celery", "-A", "webapp", "worker", "-Q", "bot.parrot"]
    options = ["-P", "solo", "--without-gossip", "--without-mingle", "-l", "warning"]
    worker = subprocess.Popen([*command, *options], cwd=ROOT, env=server.env)
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


async def _talk(server: Server, study: Study, worker: subprocess.Popen[bytes]) -> Client:
    client = await (await Client(server, study).connect()).hello()
    for number in range(3):
        await client.send_message(f"This is number {number}.")
        await client.reply(seconds=60)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    await client.send_message("Is anybody there?")
    await client.until(lambda frame: frame["type"] == "ack")
    return client


async def _hint(redis_url: str) -> tuple[str, Any]:
    """Return the one hint that waits for a worker: its type of content, and what it carries."""
    broker = redis.from_url(redis_url)
    while not (waiting := cast("list[bytes]", broker.lrange("bot.parrot", 0, -1))):
        await asyncio.sleep(0.05)
    message = json.loads(waiting[0])
    return message["content-type"], json.loads(base64.b64decode(message["body"]))[:2]


async def test_a_celery_worker_answers_and_a_killed_one_is_replaced(tmp_path: Path) -> None:
    """R11, R12: what nobody answered while no worker lived is answered by the next one, once."""
    with (
        redis_server() as redis_url,
        serving(tmp_path, {"people": 1}, REDIS_URL=redis_url) as (server, study),
    ):
        with reply_worker(server) as worker:
            client = await _talk(server, study, worker)
        found = await asyncio.wait_for(_hint(redis_url), 10)
        kind, (arguments, named) = found
        assert (kind, arguments[0], named) == ("application/json", "parrot", {})
        assert [type(job) for job in arguments[1]] == [int], "R15: numbers of jobs, never a text"
        with reply_worker(server):
            await client.until(lambda _: sum(map(is_reply, client.frames)) == 4, seconds=60)
        await client.close()
        assert [side for side, _ in client.texts] == ["you", "partner"] * 4
