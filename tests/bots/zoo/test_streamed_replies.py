"""Replies that come piece by piece from a real server: as without a stream, and told as they grow.

Whatever the pieces are, the record of the call is that of an answer that came whole.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bots import Reply, StreamingBot, Utterance, make_bot
from bots.bot import BatchBot
from bots.guards.own_model import rules_of_the_whole
from bots.options import InvalidOption
from tests.bots.chat_completions import END, Fake, delta, event, running

TALK = (Utterance("partner", "Any pets?"),)
PLAIN: dict[str, Any] = {"reasoning_begins": "", "reasoning_ends": ""}
ODD = "Jag är glad\u2028 i dag 👋🏽\r\n\n\tx = [1]  <think>not a mark</think> data: [DONE]\n\n"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        yield fake


def options(fake: Fake, **more: object) -> dict[str, Any]:
    return {"url": fake.url, "model": "streams", "stream": True, "tries": 1, **PLAIN, **more}


def answered(fake: Fake, **more: object) -> tuple[Reply, list[str]]:
    """Return the reply, and what it was told to have grown to."""
    bot, told = make_bot("chat_server", **options(fake, **more)), list[str]()
    assert isinstance(bot, StreamingBot)
    return asyncio.run(bot.respond_growing((), TALK, told.append)), told


def whole(fake: Fake, message: dict[str, Any], finish: str = "stop") -> Reply:
    """Return the reply to the same answer, sent whole to who asked for no stream."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    fake.script = [{"model": "fake-1", "choices": [choice], "usage": usage}]
    bot = make_bot("chat_server", **options(fake, model="scripted", stream=False))
    assert isinstance(bot, BatchBot)
    (reply,) = bot.respond_many([((), (Utterance("partner", "0"),))])
    return reply


def same(streamed: Reply, plain: Reply) -> bool:
    """Compare all that is recorded of a reply but the request."""
    return replace(streamed, prompt=None) == replace(plain, prompt=None)


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_it_is_the_reply_that_comes_whole_and_grows_towards_it(fake: Fake, step: int) -> None:
    cut = [ODD[start : start + step] for start in range(0, len(ODD), step)]
    fake.pieces = [{"role": "assistant", "content": ""}, *cut, *END]
    reply, told = answered(fake)
    assert reply.raw == reply.text == ODD
    assert same(reply, whole(fake, {"content": ODD}))
    assert told[-1] == ODD
    assert all(ODD.startswith(text) for text in told)
    asked = fake.asked[0]
    assert (asked["stream"], asked["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize("size", [1, 7])
def test_where_the_net_cuts_the_bytes_makes_no_difference(fake: Fake, size: int) -> None:
    sent = b": hello\r\nevent: x\r\n" + b"".join(
        [event(delta("Grüß ")).replace(b"\n", b"\r\n"), event(delta("dich 👋")), *END]
    )
    fake.pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    reply, told = answered(fake)
    assert same(reply, whole(fake, {"content": "Grüß dich 👋"}))
    assert told == ["Grüß ", "Grüß dich 👋"]


def test_halves_of_a_character_in_two_chunks_are_one(fake: Fake) -> None:
    chunks = [json.dumps(delta("?")).replace("?", half) for half in ("\\ud83d", "\\udc4b!")]
    fake.pieces = [*(f"data: {chunk}\n\n".encode() for chunk in chunks), *END]
    assert answered(fake)[0].raw == "👋!"


def test_reasoning_that_the_server_sets_apart_is_never_told(fake: Fake) -> None:
    fake.pieces = [{"reasoning_content": "Secret, "}, {"reasoning": "so."}, "Hel", "lo.", *END]
    reply, told = answered(fake)
    assert told == ["Hel", "Hello."]
    assert same(reply, whole(fake, {"content": "Hello.", "reasoning_content": "Secret, so."}))
    assert reply.events == ("reasoned",)


def test_a_mark_of_reasoning_in_two_pieces_shows_nothing_where_marks_are_known(fake: Fake) -> None:
    """What stands before a closing mark is reasoning, too: nothing can be shown before the end."""
    fake.pieces = ["<thi", "nk>Secret.</th", "ink>Hello.", *END]
    told: list[str] = []
    bot = make_bot(
        "chat_server", **options(fake, reasoning_begins="<think>", reasoning_ends="</think>")
    )
    assert isinstance(bot, StreamingBot)
    with pytest.raises(InvalidOption, match="stream is on, but reasoning_ends is “</think>”"):
        asyncio.run(bot.respond_growing((), TALK, told.append))
    assert (told, fake.asked) == ([], [])


@pytest.mark.parametrize(
    ("option", "value"),
    [("safety", "stop"), ("display", "tidied"), ("on_cut", "trim"), ("on_cut", "again")],
)
def test_a_rule_about_the_whole_reply_and_a_stream_exclude_each_other(
    fake: Fake, option: str, value: str
) -> None:
    with pytest.raises(InvalidOption, match=f"stream is on, but {option} is “{value}”"):
        answered(fake, **{option: value})
    chosen = {"safety": "off", "display": "verbatim", "on_cut": "show", **PLAIN, option: value}
    assert list(rules_of_the_whole(chosen)) == [option]


def test_a_reply_at_its_limit_is_cut_as_without_a_stream(fake: Fake) -> None:
    fake.pieces = ["This is as", " far", event(delta({}, "length")), *END[1:]]
    reply, _told = answered(fake)
    assert same(reply, whole(fake, {"content": "This is as far"}, "length"))
    assert reply.events == ("cut",)


@pytest.mark.parametrize("content", ["", None])
def test_one_without_words_is_as_without_a_stream(fake: Fake, content: str | None) -> None:
    fake.pieces = [{"role": "assistant", "content": content}, *END]
    reply, told = answered(fake)
    assert same(reply, whole(fake, {"content": content}))
    assert reply.details["error"]
    assert told == []


def test_a_server_that_dies_is_asked_again_and_what_was_told_is_taken_back(fake: Fake) -> None:
    fake.pieces, fake.dies_before = ["Hel", "lo.", *END], [1]
    reply, told = answered(fake, tries=2)
    assert (reply.text, reply.details["attempts"]) == ("Hello.", 2)
    assert told[:2] == ["Hel", ""]
    assert told[-1] == "Hello."


def test_one_that_always_dies_has_no_half_reply(fake: Fake) -> None:
    fake.pieces, fake.dies_before = ["Hel", "lo.", *END], [2, 2]
    reply, told = answered(fake, tries=2)
    assert (reply.text, reply.raw) == ("", None)
    assert "cannot be reached" in str(reply.details["error"])
    assert told[-1] == ""


def test_an_answer_that_ends_without_its_end_is_no_reply(fake: Fake) -> None:
    fake.pieces = ["Hello"]
    reply, _told = answered(fake)
    assert "ended its answer before it was whole" in str(reply.details["error"])
    assert reply.text == ""


@pytest.mark.parametrize(
    ("piece", "told"),
    [
        (event({"error": {"message": "out of memory, key sk-abcdefgh"}}), "memory, key [*]{3}$"),
        (b"data: {never}\n\n", "no chunk of an answer"),
        (b"data: [1]\n\n", "no chunk of an answer"),
        (event({"choices": [1]}), "no chunk of an answer"),
        (event(delta("x" * 300_000)), "more than 256 KiB"),
        (b"x" * 300_000, "more than 256 KiB"),
        (event(delta({})) * 150_000, "more than 256 KiB"),
    ],
)
def test_what_is_no_answer_says_so(fake: Fake, piece: bytes, told: str) -> None:
    fake.pieces = ["Hel", piece, *END]
    reply, _ = answered(fake)
    assert reply.text == ""
    assert re.search(told, str(reply.details["error"]))


def test_a_server_that_does_not_stream_is_understood(fake: Fake) -> None:
    reply, told = answered(fake, model="good", told="Be brief.")
    assert (reply.text, told) == ("You said: Any pets? (0)", [])


def test_a_batch_may_be_streamed_too(fake: Fake) -> None:
    fake.pieces = ["Hel", "lo.", *END]
    bot = make_bot("chat_server", **options(fake))
    assert isinstance(bot, BatchBot)
    assert [reply.text for reply in bot.respond_many([((), TALK)] * 3)] == ["Hello."] * 3


def test_a_server_that_counts_no_tokens_can_be_left_unasked(fake: Fake) -> None:
    fake.pieces = ["Hello.", END[0], END[2]]
    reply, _told = answered(fake, without="stream_options")
    assert (reply.text, reply.details["usage"]) == ("Hello.", {})
    assert "stream_options" not in fake.asked[0]


def test_without_the_option_a_request_is_as_before(fake: Fake) -> None:
    whole(fake, {"content": "Hello."})
    assert not {"stream", "stream_options"} & set(fake.asked[0])
