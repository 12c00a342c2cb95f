"""Replies that grow on a page while workers of their own, behind a real broker, have them.

A server of a model sends pieces when it is let, a Celery worker reads them, Redis passes on what
has grown, another process has the socket. PostgreSQL is looked through for what it must not hold.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
import redis

from tests.bots.chat_completions import END, Fake, running
from tests.live import ROOT, Client, Server, Study, serving
from tests.servers import postgresql, redis_server

pytestmark = [pytest.mark.trust, pytest.mark.timeout(400)]
PATIENCE = 90.0  # seconds; a worker may have to be imported, or a lease to end
PIECES = ("Marmalade,\n\n", "  * “så klart” 👩🏽\u200d🍳 <b>&amp;</b>\t\\0\n", "-\u00a0toast.  ")
WHOLE = "".join(PIECES)
OPTIONS = {"model": "streams", "stream": True, "tries": 1, "seconds": 60, "reasoning_ends": ""}
PEOPLE = 4
HOLDING = ["webapp_event", "webapp_replycall", "webapp_replyjob"]  # of a reply that is there
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
REPLIES = (
    "SELECT e.content->>'text', j.text, j.state FROM webapp_event e JOIN webapp_replyjob j"
    " ON j.conversation_id = e.conversation_id AND j.in_reply_to = e.seq - 1"
    " WHERE e.kind = 'message' AND e.side = 1"
    " AND e.conversation_id = (SELECT id FROM webapp_conversation ORDER BY id OFFSET %s LIMIT 1)"
)
CALLS = (
    "SELECT c.outcome, c.raw, c.finish_reason, c.reply_tokens FROM webapp_replycall c"
    " JOIN webapp_replyjob j ON c.job_id = j.id"
    " WHERE j.conversation_id = (SELECT id FROM webapp_conversation ORDER BY id OFFSET %s LIMIT 1)"
    " ORDER BY c.number"
)


class Site:
    """An installation: web process, broker, database, and workers that come and go."""

    def __init__(self, server: Server, study: Study, database: str, broker: str) -> None:
        self.server, self.study, self.database, self.broker = server, study, database, broker

    async def asked(self, number: int) -> Client:
        """Return a client who has sent a message."""
        client = await (await Client(self.server, self.study, number).connect()).hello()
        await client.send_message("What do you eat in the morning?")
        return client

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "celery", "-A", "webapp", "worker", "-P", "threads"]
        options = ["-Q", "bot.chat_server", "-c", "4", "--without-gossip", "--without-mingle"]
        options += ["-l", "warning"]
        worker = subprocess.Popen([*command, *options], cwd=ROOT, env=self.server.env)
        try:
            yield worker
        finally:
            worker.kill()
            worker.wait()

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(query.encode(), values or None).fetchall()

    def holding(self, words: str) -> list[str]:
        """Return the tables of the database that hold these words."""
        query = 'SELECT count(*) FROM "{}" t WHERE strpos(t::text, %s) > 0'
        tables = [name for (name,) in self.rows(TABLES)]
        return sorted(name for name in tables if self.rows(query.format(name), words) != [(0,)])

    def kept_by_redis(self, words: str) -> list[bytes]:
        """Return the keys of the broker under which these words are kept."""
        with redis.from_url(self.broker) as known:
            return [key for key in known.scan_iter() if words.encode() in (known.dump(key) or b"")]

    def replies(self, number: int) -> list[tuple[Any, ...]]:
        """Return the bot's messages of a conversation, each with its job."""
        return self.rows(REPLIES, number)

    def calls(self, number: int) -> list[tuple[Any, ...]]:
        """Return the calls of the bot in a conversation, by their numbers."""
        return self.rows(CALLS, number)


def wait(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, fake: Fake) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("streamed")
    wanted = {"bot": "chat_server", "options": {"url": fake.url, **OPTIONS}, "people": PEOPLE}
    wanted["changes"] = {"chat.streams": True}
    with ExitStack() as stack:
        database, broker = stack.enter_context(postgresql()), stack.enter_context(redis_server())
        changes = {"DATABASE_URL": database, "REDIS_URL": broker, "PARTIALS_BY_REDIS": "1"}
        changes["BOT_PRIVATE_HOSTS"] = f"127.0.0.1:{fake.port}"
        server, study = stack.enter_context(serving(folder, wanted, **changes))
        yield Site(server, study, database, broker)


@pytest.fixture
def pieces(fake: Fake) -> list[Event]:
    """Have the model's server wait after each piece; returns what lets it go on."""
    fake.pieces = [*PIECES, *END]
    fake.waits = {number: Event() for number in range(1, len(PIECES) + 1)}
    fake.asked.clear()
    return list(fake.waits.values())


def let_go(pieces: list[Event]) -> None:
    for may_go_on in pieces:
        may_go_on.set()


def has_grown_to(count: int) -> Any:
    """Tell a partial reply of so many pieces from what else comes."""
    return lambda frame: frame["type"] == "partial" and frame["text"] == "".join(PIECES[:count])


async def has_it_once(site: Site, client: Client, number: int) -> None:
    """Read the reply: page, log and database have it once, to the byte as it was streamed."""
    reply = await client.reply(PATIENCE)
    await client.send(type="sync", last_seq=0)
    await client.until(lambda frame: frame["type"] == "ready")
    after = client.frames[client.frames.index(reply) :]
    assert "partial" not in {each["type"] for each in after}
    assert client.texts.count(("partner", WHOLE)) == 2  # as it came, and once in all of the log
    assert {side for side, text in client.texts if text != WHOLE} == {"you"}
    assert site.replies(number) == [(WHOLE, WHOLE, "DONE")]


async def test_it_grows_through_worker_and_broker_before_anything_is_stored(
    site: Site, pieces: list[Event]
) -> None:
    """R8: the page has the words before the database does, and Redis keeps none of them."""
    with site.worker():
        client = await site.asked(0)
        for count, may_go_on in enumerate(pieces, start=1):
            await client.until(has_grown_to(count), PATIENCE)
            assert site.holding("Marmalade") == []
            assert site.kept_by_redis("Marmalade") == []
            may_go_on.set()
        await has_it_once(site, client, 0)
    assert site.calls(0) == [("SHOWN", json.dumps(WHOLE), "stop", 5)]
    assert site.holding("Marmalade") == HOLDING
    assert site.kept_by_redis("Marmalade") == []
    await client.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_worker_that_ends_amid_a_reply_leaves_no_half_of_it(
    site: Site, fake: Fake, pieces: list[Event], how: signal.Signals
) -> None:
    """R12: another worker has the model write anew, and one message comes of it."""
    number = 1 + (how == signal.SIGTERM)
    with site.worker() as first:
        client = await site.asked(number)
        await client.until(has_grown_to(1), PATIENCE)
        pieces[0].set()
        await client.until(has_grown_to(2), PATIENCE)
        first.send_signal(how)
        first.wait(PATIENCE)
        assert site.replies(number) == site.calls(number) == []
        pieces[0].clear()
        with site.worker():
            wait(lambda: len(fake.asked) == 2, "another request")
            let_go(pieces)
            await has_it_once(site, client, number)
    assert site.calls(number) == [("SHOWN", json.dumps(WHOLE), "stop", 5)]
    await client.close()


async def test_a_worker_that_stalls_amid_a_reply_has_no_say_when_it_wakes(
    site: Site, fake: Fake, pieces: list[Event]
) -> None:
    """R12: its lease ends, another worker answers, and what the late one hears goes nowhere."""
    with site.worker() as first:
        client = await site.asked(3)
        await client.until(has_grown_to(1), PATIENCE)
        first.send_signal(signal.SIGSTOP)
        with site.worker():
            wait(lambda: len(fake.asked) == 2, "another request")
            let_go(pieces)
            await has_it_once(site, client, 3)
            first.send_signal(signal.SIGCONT)
            wait(lambda: len(site.calls(3)) == 2, "the late answer")
            await client.send(type="sync", last_seq=0)
            await client.until(lambda frame: frame["type"] == "ready")
            after = client.frames[[each.get("side") for each in client.frames].index("partner") :]
    assert "partial" not in {each["type"] for each in after}
    assert site.replies(3) == [(WHOLE, WHOLE, "DONE")]
    await client.close()
