"""Explanations: learned from because-pairs, by an LSTM or a Transformer; why-questions turned."""

from __future__ import annotations

import pytest

from bots import Utterance, get_dataset
from bots.zoo.explanation import Explanation


@pytest.mark.parametrize("network", ["lstm", "transformer"])
def test_it_learns_pairs_by_heart(network: str) -> None:
    pairs = get_dataset("because").read("")
    bot = Explanation(
        network=network,  # type: ignore[arg-type]
        epochs=25 if network == "lstm" else 40,
        patience=40,
        held_out=0.0,
        least_count=1,
        batch=4,
        dropout=0.0,
        rate=0.01 if network == "lstm" else 0.003,
        method="greedy",
    )
    bot.train(pairs, seed=1)
    right = 0
    for pair in pairs:
        said = bot.propose([((), pair.turns[:-1])])[0][0].text
        right += said == " ".join(
            bot.model.codec.tokens(bot.model.codec.encode(pair.turns[-1].text))
        )
    assert right >= 0.8 * len(pairs)


def test_a_why_question_is_answered_as_its_statement() -> None:
    bot = Explanation(epochs=1, held_out=0.0, least_count=1)
    bot.train(get_dataset("because").read(""), seed=1)
    asked = ((), (Utterance("partner", "Why did the shop close?"),))
    stated = ((), (Utterance("partner", "The shop closed."),))
    assert bot.propose([asked]) == bot.propose([stated])
    assert bot.respond(*asked).text.strip()


def test_noams_schedule_rises_and_falls() -> None:
    bot = Explanation(warm_up=100, hidden=64)
    shares = [bot._noam(step) for step in (1, 50, 100, 200, 400)]
    assert shares[0] < shares[1] < shares[2] > shares[3] > shares[4]
    assert shares[2] == pytest.approx(64**-0.5 * 100**-0.5)
