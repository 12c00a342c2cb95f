"""A bot crashes, stalls, loses its GPU or says 100 kB: what the person sees who talks to it.

A real server with its worker, a real child process, real sockets; others who talk to the same bot
are answered all the while.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.unruly import FUNCTIONS
from tests.live import Client, Server, Study, is_reply, serving

pytestmark = pytest.mark.timeout(300)
SECONDS = 8  # until a person is told that there is no answer
NOTICE = "Your partner could not answer. You can try once more, or finish now with full pay."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Study]]:
    wanted = {
        "bot": "callable",
        "options": {"function": "tests.journeys.unruly.told"},
        "people": 6,
        "reply_seconds": SECONDS,
    }
    folder: Path = tmp_path_factory.mktemp("misbehaves")
    with serving(folder, wanted, BOT_CALLABLES=FUNCTIONS, BOT_SECONDS="3") as both:
        yield both


async def enter(place: tuple[Server, Study], number: int) -> Client:
    client = await Client(*place, number).connect()
    return await client.hello()


def notice(frame: dict[str, Any]) -> bool:
    return frame.get("kind") == "notice"


async def told(client: Client, text: str) -> dict[str, Any]:
    """Say something and return the notice that comes instead of a reply."""
    await client.send_message(text)
    found = await client.until(notice, seconds=60)
    assert found["notice"] == NOTICE
    return await client.until(lambda frame: frame["type"] == "status" and frame["failed"])


async def test_a_reply_of_100_kb_is_cut_to_what_a_message_may_have(
    place: tuple[Server, Study],
) -> None:
    client = await enter(place, 0)
    await client.send_message("Tell me something long.")
    reply = await client.reply(seconds=60)
    assert len(reply["text"]) in (3999, 4000)
    assert reply["text"].startswith("word word")
    await client.send_message("Thank you.")
    assert (await client.reply())["text"] == "I see. Tell me more."
    await client.close()


async def test_a_crash_is_tried_three_times_and_then_told_once(
    place: tuple[Server, Study],
) -> None:
    """R13: others are answered, one more try is offered, then full pay without an answer."""
    client, other = await enter(place, 1), await enter(place, 2)
    await client.send_message("Now crash.")
    await other.send_message("Hello.")
    await other.reply(seconds=60)
    await client.until(notice, seconds=60)
    status = await client.until(lambda frame: frame["type"] == "status" and frame["failed"])
    assert status["may_retry"]
    await client.send(type="retry", id=str(uuid4()))
    await client.until(notice, seconds=60)
    status = await client.until(lambda frame: frame["type"] == "status" and frame["failed"])
    assert not status["may_retry"]
    await client.send(type="give_up", id=str(uuid4()))
    await client.until(lambda frame: frame["type"] == "status" and frame["ended"])
    assert not list(filter(is_reply, client.frames))
    await client.close()
    await other.close()


async def test_who_talks_to_a_bot_that_stalls_is_told_in_time(place: tuple[Server, Study]) -> None:
    """R13: the bot would think for 90 s; its process is ended and it answers others again."""
    client, other = await enter(place, 3), await enter(place, 4)
    started = time.monotonic()
    status = await told(client, "Please stall.")
    assert time.monotonic() - started < SECONDS + 20
    assert status["may_retry"]
    await other.send_message("Hello.")
    assert (await other.reply(seconds=60))["text"] == "I see. Tell me more."
    await client.close()
    await other.close()


async def test_a_gpu_out_of_memory_ends_in_the_same_notice(place: tuple[Server, Study]) -> None:
    """R14: it is not the bot's failure, but nobody waits for longer because of that."""
    client = await enter(place, 5)
    await told(client, "Use a lot of memory.")
    shown = json.dumps(client.frames)
    assert "CUDA" not in shown
    await client.close()
