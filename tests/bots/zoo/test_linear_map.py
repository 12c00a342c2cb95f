"""The learned map over frozen vectors."""

from __future__ import annotations

import pytest
import torch

from bots.encoders.sentences import encoder
from bots.zoo.linear_map import BOT, LinearMap, Map
from bots.zoo.sim import Sim
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained

OFFERED = ["Two cats, yes.", "No, I am allergic.", "What pets?"]


def answering() -> LinearMap:
    bot = trained("linear_map")
    assert isinstance(bot, LinearMap)
    return bot


def test_it_ranks_higher_than_sim_on_held_out_dialogues() -> None:
    """B-MAP's acceptance: both see the same vectors."""
    bot = answering()
    assert hits_on_demo(bot, "self") > hits_on_demo(Sim(), "self")
    assert hits_on_demo(bot, "self") > 2 * hits_on_demo(bot, "none") > 0.1


def test_the_score_is_x_times_w_plus_alpha_i_times_y() -> None:
    bot = answering()
    encode, learned = encoder("hashed"), bot._ready()[0]
    square = learned.weight + learned.alpha * torch.eye(len(learned.weight))
    with torch.inference_mode():
        expected = encode([HELLO[0].text])[0] @ square @ encode(OFFERED).T
    assert bot.rank((), HELLO, OFFERED) == pytest.approx(expected.tolist(), abs=1e-5)
    assert bot.rank(PERSONA, HELLO, OFFERED) != pytest.approx(expected.tolist(), abs=1e-3)


def test_the_released_start_is_orthogonal_and_the_sweep_is_recorded() -> None:
    with torch.random.fork_rng():
        start = Map(16, "orthogonal").weight.detach()
    torch.testing.assert_close(start @ start.T, torch.eye(16))
    bot = BOT(start="orthogonal", rates="0.001 0.01", penalties="0", epochs=1, learned=64)
    bot.train(demo("valid"), seed=0)
    assert bot._about is not None
    assert bot._about.history[0]["rate"] in (0.001, 0.01)
    assert bot._about.history[0]["l2"] == 0


@pytest.mark.parametrize("rates", ["", "fast", "0.1 -1"])
def test_rates_that_are_no_numbers_are_refused(rates: str) -> None:
    with pytest.raises(ValueError, match=r"rates is .* must be numbers of 0 or more"):
        BOT(rates=rates)


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given weights"):
        BOT().rank((), (), ["a"])
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
