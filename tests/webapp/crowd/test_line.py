"""One person's line to a conversation: what they wait for, and when they give it up."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from tests.live import serving
from webapp.crowd.chatting import Chatting
from webapp.crowd.ledger import Ledger
from webapp.crowd.line import ClientSocket
from webapp.crowd.people import Person
from webapp.crowd.web import Web

PERSON = Person(name="sim-1-0", seed=1)


def _line(base: str = "http://127.0.0.1:9", path: str = "/c/x/") -> ClientSocket:
    web = Web([base], PERSON, patience=60.0)
    return ClientSocket(web, Ledger(io.StringIO()), PERSON, path, 0)


@pytest.mark.parametrize(
    ("sides", "sent", "has_read"),
    [
        ([], 0, True),  # who begins
        ([], 1, False),  # stored, and not shown yet
        (["you"], 1, False),
        (["you", "partner"], 1, True),
        (["you", "partner"], 2, False),
        (["partner"], 0, True),
        (["partner", "you"], 0, False),  # shown before the answer to it came
    ],
)
def test_nobody_writes_before_the_answer_is_shown(
    sides: list[str], sent: int, has_read: bool
) -> None:
    line = _line()
    line.entries = {seq: {"kind": "message", "side": s} for seq, s in enumerate(sides, start=1)}
    line.shown = len(sides)
    chatting = Chatting(line, PERSON, (), {}, ())
    chatting.sent = sent
    assert chatting._has_read() == has_read


@pytest.mark.timeout(240)
def test_a_line_that_is_refused_is_given_up(tmp_path: Path) -> None:
    """Somebody consented again elsewhere, so that this browser's cookie opens nothing any more."""

    async def call(base: str, path: str) -> ClientSocket:
        line = _line(base, path)
        line.token = (await line.web.page(path)).token
        line.put("message", text="Hello")
        async with asyncio.timeout(100):
            await line.run()
        await line.web.close()
        return line

    with serving(tmp_path, {"people": 1}) as (server, study):
        line = asyncio.run(call(f"http://{server.host}", f"/c/{study.slug}/"))
    assert (line.over, len(line.outbox)) == (True, 0)
