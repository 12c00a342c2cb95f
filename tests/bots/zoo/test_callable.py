"""A function of one's own as a bot: named by whoever runs this, and nothing else can be called."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bots import BatchBot, Reply, Utterance, make_bot, way_of
from bots.bot import Bot, StreamingBot
from bots.options import InvalidOption
from tests.bots.examples import HELLO, PERSONA

HERE = "tests.bots.functions"


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_CALLABLES", f"lab.bots.reply, {HERE}.*")


def bot(function: str, **options: Any) -> Bot:
    found = make_bot("callable", function=function, **options)
    assert isinstance(found, Bot)
    return found


def test_says_what_the_function_returns() -> None:
    assert bot(f"{HERE}.count").respond(PERSONA, HELLO).text == (
        "I have 3 lines and saw 1 messages."
    )
    reply = bot(f"{HERE}.considered").respond(PERSONA, HELLO)
    assert reply == Reply("Well, yes.", 0.5, {"why": "asked"}, raw="Well, yes.")


@pytest.mark.parametrize("function", ["os.system", f"{HERE}", f"{HERE}.count.x"])
def test_what_is_not_named_is_not_called(function: str) -> None:
    with pytest.raises(InvalidOption, match="must be one that BOT_CALLABLES names"):
        bot(function).respond(PERSONA, HELLO)


@pytest.mark.parametrize("function", ["", "count", "a b.count", ".count"])
def test_what_is_no_path_of_a_function_is_refused(function: str) -> None:
    with pytest.raises(InvalidOption, match=r"must be (one that BOT_CALLABLES|like package)"):
        bot(function).respond(PERSONA, HELLO)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("lab.bots.reply", "cannot be found"),
        (f"{HERE}.absent", "cannot be found"),
        (f"{HERE}.NOT_A_FUNCTION", "is int, but must be a function"),
    ],
)
def test_what_is_not_there_says_so(function: str, told: str) -> None:
    with pytest.raises(InvalidOption, match=told):
        bot(function).respond(PERSONA, HELLO)


def test_what_is_no_reply_is_an_error() -> None:
    with pytest.raises(TypeError, match="returned int, but must return text or a Reply"):
        bot(f"{HERE}.wrong").respond(PERSONA, HELLO)


def test_a_function_may_take_a_batch_or_be_awaited() -> None:
    turns = [(PERSONA, HELLO)] * 3
    batch = make_bot("callable", function=f"{HERE}.together", batch=True)
    assert isinstance(batch, BatchBot)
    assert way_of(batch) == "batch"
    assert [reply.text for reply in batch.respond_many(turns)] == ["1 of 3", "2 of 3", "3 of 3"]
    awaited = make_bot("callable", function=f"{HERE}.waits")
    assert isinstance(awaited, BatchBot)
    assert way_of(awaited) == "async"
    named = [((), (Utterance("partner", name),)) for name in ("first", "second")]
    texts = [reply.text for reply in awaited.respond_many(named)]
    assert texts == ["Hello first.", "Hello second."]
    assert way_of(bot(f"{HERE}.count")) == "one"


def streamed(function: str, **options: Any) -> tuple[list[str], Reply]:
    """Return what a reply in pieces was said to have grown to, and the reply."""
    options = {"stream": True, "reasoning_ends": "", **options}
    found = make_bot("callable", function=f"{HERE}.{function}", **options)
    assert isinstance(found, StreamingBot)
    told: list[str] = []
    return told, asyncio.run(found.respond_growing(PERSONA, HELLO, told.append))


def test_pieces_grow_to_the_reply_which_one_at_the_end_completes() -> None:
    assert way_of(bot(f"{HERE}.reasoned")) == "async"
    told, reply = streamed("reasoned")
    assert told == ["Toast, ", "Toast, as "]
    assert (reply.text, reply.raw, reply.score) == ("Toast, as ever.", "Toast, as ever.", 0.5)
    assert (reply.reasoning, reply.events) == ("It is morning.", ("reasoned",))
    assert reply.details == {"finish_reason": "stop"}
    assert bot(f"{HERE}.reasoned").respond(PERSONA, HELLO) == reply  # where nobody looks on


def test_nothing_grows_unless_the_option_says_so() -> None:
    told, reply = streamed("reasoned", stream=False)
    assert (told, reply.text) == ([], "Toast, as ever.")


@pytest.mark.parametrize(
    ("function", "problem", "told"),
    [
        ("breaks_off", ValueError, "no more"),
        ("numbers", TypeError, "yielded int, but must yield text, or a Reply at its end"),
        ("waits", InvalidOption, r"stream is on, but .*\.waits is no async def that yields"),
        ("count", InvalidOption, r"stream is on, but .*\.count is no async def that yields"),
    ],
)
def test_what_cannot_grow_to_a_reply_is_an_error(
    function: str, problem: type[Exception], told: str
) -> None:
    with pytest.raises(problem, match=told):
        streamed(function)


@pytest.mark.parametrize("function", ["count", "together"])
def test_a_function_that_returns_is_not_said_to_stream(function: str) -> None:
    found = bot(f"{HERE}.{function}", stream=True, reasoning_ends="", batch=function == "together")
    with pytest.raises(InvalidOption, match="stream is on, but"):
        found.respond(PERSONA, HELLO)


def test_a_rule_of_the_whole_reply_lets_nothing_grow() -> None:
    with pytest.raises(InvalidOption, match=r"stream is on, but reasoning_ends is “</think>”"):
        streamed("reasoned", reasoning_ends="</think>")


def test_a_batch_function_must_answer_each() -> None:
    few = make_bot("callable", function=f"{HERE}.too_few", batch=True)
    assert isinstance(few, BatchBot)
    with pytest.raises(TypeError, match="must return a list of 2 replies"):
        few.respond_many([(PERSONA, HELLO)] * 2)
