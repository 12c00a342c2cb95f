"""Re-ordering by events: the formula, unknown pairs, and pairs that are nearly known."""

from __future__ import annotations

import math

import pytest

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.zoo.event_causality import EventCausality

SAID: Turn = ((), (Utterance("partner", "Last week I broke my leg."),))
LIKELY = ReplyCandidate("I like tea.", ("i", "like", "tea"), (-1.0, -1.0, -1.0, -1.0))
CAUSED = ReplyCandidate("Oh, you went to the hospital!", ("you", "went"), (-3.0, -2.0, -3.0))


def test_an_unknown_pair_leaves_the_score_as_it_was() -> None:
    bot = EventCausality(rank_by="sum_logp")
    assert bot.lift(SAID, LIKELY.text) == 2
    assert bot.score(SAID, LIKELY) == pytest.approx(-4 / math.log(2))


def test_a_known_pair_comes_nearer_to_0() -> None:
    bot = EventCausality(rank_by="sum_logp")
    assert bot.lift(SAID, CAUSED.text) == 9
    assert bot.score(SAID, CAUSED) == pytest.approx(-8 / math.log(2) / math.log2(9))
    assert bot.score(SAID, CAUSED) > bot.score(SAID, LIKELY)
    assert EventCausality(rank_by="sum_logp", power=0.0).score(SAID, CAUSED) == pytest.approx(
        -8 / math.log(2)
    )


def test_the_direction_counts_but_for_the_embedding_variant() -> None:
    turned: Turn = ((), (Utterance("partner", "I went to the hospital."),))
    assert EventCausality().lift(turned, "I broke my leg.") == 2
    assert EventCausality(matching="embedding").lift(turned, "I broke my leg.") == 9


def test_nearly_the_same_events_lift_nearly_as_much() -> None:
    said: Turn = ((), (Utterance("partner", "I broke my legs."),))
    near = EventCausality(matching="embedding").lift(said, "Then we go hospitals.")
    assert 7 < near <= 9


def test_candidates_come_back_in_the_new_order() -> None:
    bot = EventCausality(number=6)
    found = bot.propose([SAID])[0]
    scores = [bot.score(SAID, each) for each in found]
    assert scores == sorted(scores, reverse=True)


def test_where_no_pair_is_known_the_order_stays() -> None:
    said: Turn = ((), (Utterance("partner", "Hello."),))
    bot = EventCausality(number=6)
    plain = bot.inner.propose([said], Decoding("beam", 6))
    assert bot.propose([said]) == plain
