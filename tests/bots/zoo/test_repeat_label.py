"""The upper bound of rankers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Dialogue, Utterance, examples, make_bot
from bots.text.tokens import display
from bots.zoo.repeat_label import RepeatLabel
from tests.bots.examples import HELLO, demo, hits_on_demo


def knowing(tmp_path: Path) -> RepeatLabel:
    bot = RepeatLabel()
    bot.train([*demo("valid"), *demo("test")], seed=1)
    bot.save(tmp_path)
    again = make_bot("repeat_label", weights=str(tmp_path))
    assert isinstance(again, RepeatLabel)
    return again


def test_it_hits_every_time_where_it_knows_the_data(tmp_path: Path) -> None:
    assert hits_on_demo(knowing(tmp_path), "self") == 1


def test_in_a_chat_it_says_what_was_said(tmp_path: Path) -> None:
    asked = next(iter(examples(demo("test"))))
    assert knowing(tmp_path).respond((), asked.history).text == display(asked.reply)


def test_one_history_may_have_two_answers() -> None:
    texts = ["Sure.", "Never!"]
    one, other = (Dialogue(text, (*HELLO, Utterance("self", text))) for text in texts)
    bot = RepeatLabel()
    bot.train([one, other], seed=1)
    first, second, wrong = bot.rank((), HELLO, [*texts, "Yes."])
    assert min(first, second) >= 1 > wrong


def test_it_knows_nothing_of_a_history_that_it_did_not_see(tmp_path: Path) -> None:
    bot = knowing(tmp_path)
    scores = bot.rank((), (Utterance("partner", "qwertz"),), ["Yes.", "No."])
    assert max(scores) < 1
    assert bot.respond((), (Utterance("partner", "qwertz"),)).details["fallback"]
    with pytest.raises(ValueError, match="nothing to save"):
        RepeatLabel().save(tmp_path)
