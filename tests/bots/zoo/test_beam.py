"""Beam search, greedy and nucleus decoding around a bot that writes."""

from __future__ import annotations

import pytest

from bots import Decoding, ReplyCandidate, get_bot, make_bot
from bots.zoo.beam import Beam
from bots.zoo.markov import Markov
from tests.bots.examples import HELLO, PERSONA

TURNS = [(PERSONA, HELLO), ((), ())]


def worn(**options: object) -> Beam:
    made = make_bot("beam", **options)
    assert isinstance(made, Beam)
    return made


def distinct(found: list[ReplyCandidate]) -> float:
    """Return the share of different pairs of tokens in a list of replies."""
    pairs = [pair for each in found for pair in zip(each.tokens, each.tokens[1:], strict=False)]
    return len(set(pairs)) / len(pairs)


def test_a_beam_of_a_prompt_is_nearly_identical_and_a_sample_is_not() -> None:
    beam = worn().propose(TURNS)[0]
    drawn = worn(method="nucleus", top_p=1.0).propose(TURNS)[0]
    assert len(beam) == len(drawn) == 10
    assert distinct(beam) < 0.8 * distinct(drawn)


def test_a_beam_of_one_is_greedy() -> None:
    one, greedy = worn(number=1).propose(TURNS), worn(method="greedy").propose(TURNS)
    assert one == greedy
    assert len(greedy[0]) == 1


def test_a_wider_beam_finds_a_likelier_reply() -> None:
    sums = [
        max(each.score("sum_logp") for each in worn(number=width).propose(TURNS)[0])
        for width in (1, 10)
    ]
    assert sums[1] >= sums[0]


def test_the_nucleus_is_the_bots_own() -> None:
    inner = get_bot("markov")
    assert isinstance(inner, Markov)
    told = Decoding("sample", 3, 0.7, top_p=0.5, seed=2, rank_by="mean_logp", alpha=0.6)
    options = {"number": 3, "temperature": 0.7, "top_p": 0.5, "seed": 2}
    assert worn(method="nucleus", **options).propose(TURNS) == inner.propose(TURNS, told)


def test_a_length_penalty_favors_longer_replies() -> None:
    lengths = [
        len(worn(rank_by="gnmt", alpha=alpha).propose(TURNS)[0][0].tokens) for alpha in (0.0, 2.0)
    ]
    assert lengths[1] >= lengths[0]
    with pytest.raises(ValueError, match="alpha is -1"):
        worn(alpha=-1.0)
