"""A-REPT: bots that talk with themselves, as they are and with the rule."""

from __future__ import annotations

from bots import make_bot
from bots.benchmarks.cross_turn_repetition import converse
from bots.bot import Generator
from bots.text.repetition import RepetitionRule
from tests.bots.examples import demo

CHOSEN = demo("test")[:6]
DRAWN = {"bot": "markov", "number": 4, "temperature": 0.3, "max_tokens": 10}


def drawing(**around: object) -> Generator:
    made = make_bot(**around) if around else make_bot("sample_and_rank", **DRAWN)  # type: ignore[arg-type]
    assert isinstance(made, Generator)
    return made


def repeats(said: list[list[str]]) -> int:
    return sum(flag for each in said for flag in RepetitionRule().flagged(each))


def test_the_rule_takes_most_repetitions_out_of_what_a_bot_tells_itself() -> None:
    base = drawing()
    ruled = drawing(name="no_repeat", bot="sample_and_rank", options=DRAWN)
    said = converse(base, base, CHOSEN, 7)
    assert [len(each) for each in said] == [7] * len(CHOSEN)
    assert repeats(said) > 2 * repeats(converse(ruled, base, CHOSEN, 7))


def test_talks_side_by_side_are_those_that_are_alone() -> None:
    base = drawing()
    together = converse(base, base, CHOSEN[:3], 3)
    assert [converse(base, base, [each], 3)[0] for each in CHOSEN[:3]] == together
