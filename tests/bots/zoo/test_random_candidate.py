"""The lower bound of rankers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Utterance
from bots.text.tokens import display
from bots.zoo.random_candidate import RandomCandidate
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained


def answering(**options: object) -> RandomCandidate:
    bot = trained("random_candidate", **options)
    assert isinstance(bot, RandomCandidate)
    return bot


def test_it_hits_one_in_twenty() -> None:
    bots = [answering(seed=seed) for seed in range(3)]
    assert sum(hits_on_demo(bot, "self") for bot in bots) / 3 == pytest.approx(0.05, abs=0.02)


def test_lots_depend_on_the_seed_the_question_and_the_text() -> None:
    bot, texts = answering(), ["a", "b", "c", "d"]
    lots = bot.rank(PERSONA, HELLO, texts)
    assert all(0 <= lot < 1 for lot in lots)
    assert bot.rank(PERSONA, HELLO, texts[::-1]) == lots[::-1]
    for others in (bot.rank((), HELLO, texts), answering(seed=1).rank(PERSONA, HELLO, texts)):
        assert not set(others) & set(lots)


def test_in_a_chat_it_says_what_others_said_and_nothing_twice() -> None:
    bot, history = answering(), [*HELLO]
    said = {display(turn.text) for each in demo("train") for turn in each.turns}
    for _ in range(5):
        history += [Utterance("self", bot.respond(PERSONA, history).text), *HELLO]
    own = [turn.text for turn in history if turn.speaker == "self"]
    assert len(set(own)) == 5
    assert set(own) <= said


def test_untrained_it_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to save"):
        RandomCandidate().save(tmp_path)
