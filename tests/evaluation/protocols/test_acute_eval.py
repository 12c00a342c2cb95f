"""ACUTE-Eval: a forced choice between the marked speakers of two whole conversations."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Rate, Shown
from evaluation.kinds.preference import LOST, WON
from evaluation.registry import get_protocol

ACUTE = get_protocol("acute_eval")
SHOWN = Shown(("r1n1", "r1n2"), together="i1")


def rate() -> Rate:
    assert ACUTE.after is not None
    return ACUTE.after


def test_one_speaker_is_preferred_and_there_is_no_tie() -> None:
    field = rate().question("preferred").form_field(SHOWN)
    assert [(option.value, option.word, option.key) for option in field.options] == [
        ("r1n1", "I would prefer to talk to Speaker 1", "1"),
        ("r1n2", "I would prefer to talk to Speaker 2", "2"),
    ]


def test_a_reason_is_needed_and_both_are_stored() -> None:
    answers = {"i1.preferred": "r1n2", "i1.reason": "Warmer."}
    found = rate().parse(answers, SHOWN)
    assert (found["r1n1", "preferred"], found["r1n2", "preferred"]) == (LOST, WON)
    assert found["r1n1", "reason"] == "Warmer."
    with pytest.raises(InvalidAnswers) as refused:
        rate().parse({"i1.preferred": "neither"}, SHOWN)
    assert set(refused.value.problems) == {"i1.preferred", "i1.reason"}


def test_conversations_stand_in_pairs_at_most() -> None:
    assert (rate().over, rate().show, rate().batch) == ("speakers", "pairs", 5)
    assert rate().is_shared
    assert not rate().by_third_parties
    with pytest.raises(ValueError, match="conversations in pairs"):
        Rate(each=(), together=rate().together, over="speakers", show="all")
