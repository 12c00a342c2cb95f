"""A function of one's own as a bot: named by whoever runs this, and nothing else can be called."""

from __future__ import annotations

import pytest

from bots import BatchBot, Reply, Utterance, make_bot, way_of
from bots.bot import Bot
from bots.options import InvalidOption
from tests.bots.examples import HELLO, PERSONA

HERE = "tests.bots.functions"


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_CALLABLES", f"lab.bots.reply, {HERE}.*")


def bot(function: str) -> Bot:
    found = make_bot("callable", function=function)
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


def test_a_batch_function_must_answer_each() -> None:
    few = make_bot("callable", function=f"{HERE}.too_few", batch=True)
    assert isinstance(few, BatchBot)
    with pytest.raises(TypeError, match="must return a list of 2 replies"):
        few.respond_many([(PERSONA, HELLO)] * 2)
