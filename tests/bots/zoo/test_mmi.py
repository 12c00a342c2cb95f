"""Re-ranking by mutual information."""

from __future__ import annotations

import pytest

from bots import InvalidOption, ReplyCandidate, Utterance, examples, get_bot, get_dataset, make_bot
from bots.zoo.markov import Markov
from bots.zoo.mmi import MaximumMutualInformation
from tests.bots.examples import HELLO, PERSONA, demo

TURNS = [(PERSONA, HELLO), ((), (Utterance("partner", "I like tea."),)), ((), ())]


def worn(**options: object) -> MaximumMutualInformation:
    made = make_bot("mmi", **options)
    assert isinstance(made, MaximumMutualInformation)
    return made


def told(message: str, reply: str) -> float:
    """Return log P(message | reply) of the n-gram bot, end mark included."""
    markov = get_bot("markov")
    assert isinstance(markov, Markov)
    mean = markov.rank((), (Utterance("partner", reply),), [message])[0]
    return mean * (len(markov.model.codec.encode(message)) + 1)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_order_is_that_of_the_formula(share: float) -> None:
    for (_, history), found in zip(TURNS[:2], worn(share=share).propose(TURNS), strict=False):
        scores = [
            (1 - share) * each.score("sum_logp") + share * told(history[-1].text, each.text)
            for each in found
        ]
        assert len(found) == 10
        assert scores == sorted(scores, reverse=True)


def test_it_reorders_what_the_bot_inside_found() -> None:
    plain, other = worn(share=0.0).propose(TURNS), worn(share=0.9).propose(TURNS)
    assert plain != other
    assert [sorted(map(texts_of, each)) for each in plain] == [
        sorted(map(texts_of, each)) for each in other
    ]
    assert plain[2] == other[2]  # nobody said anything that could be told from a reply


def texts_of(candidate: ReplyCandidate) -> str:
    return candidate.text


def test_the_backward_bot_must_have_a_likelihood() -> None:
    with pytest.raises(InvalidOption, match="must be one that writes"):
        worn(backward="generic").propose(TURNS)


def test_backward_bots_learn_messages_from_replies() -> None:
    backwards = get_dataset("reversed").read("demo:train")
    first, there = demo("train")[0], backwards[0]
    assert there.turns == first.turns[::-1]
    assert there.persona == first.persona
    asked = next(examples([there]))
    assert asked.history[-1].text == first.turns[-1].text or len(asked.history) > 1
    last = list(examples([first], "both"))[-1]
    pairs = {(each.history[-1].text, each.reply) for each in examples([there], "both")}
    assert (last.reply, last.history[-1].text) in pairs
