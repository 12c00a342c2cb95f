"""VHRED: the divergence is torch's, the loss is a bound that falls, and answers do not vary."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Independent, Normal, kl_divergence

from bots.zoo.vhred import Variational, VariationalHred, divergence
from tests.bots.examples import HELLO, PERSONA, demo, trained


def test_the_divergence_is_that_of_normal_distributions() -> None:
    torch.manual_seed(1)
    one, spread, two, other = (torch.randn(4, 3) for _ in range(4))
    first = Independent(Normal(one, spread.mul(0.5).exp()), 1)
    second = Independent(Normal(two, other.mul(0.5).exp()), 1)
    found = divergence(one, spread, two, other)
    assert found.tolist() == pytest.approx(kl_divergence(first, second).tolist(), rel=1e-5)
    assert divergence(one, spread, one, spread).tolist() == pytest.approx([0] * 4, abs=1e-6)


def test_the_latent_variable_reaches_the_decoder_and_answers_do_not_vary() -> None:
    bot = trained("vhred")
    assert isinstance(bot, VariationalHred)
    network = bot.model.network
    assert isinstance(network, Variational)
    asked = [network.reading.encoded((PERSONA, HELLO))]
    replies = torch.tensor([[5, 6, 7]])
    torch.manual_seed(2)
    one, two = (network.informed(asked, replies)[0]["h"] for _ in range(2))
    assert not torch.equal(one, two)
    assert torch.equal(network.read(asked)["h"], network.read(asked)["h"])


def test_the_bound_falls() -> None:
    bot = VariationalHred(epochs=3, patience=3, examples=120)
    bot.train(demo("train"), seed=1)
    assert bot._about is not None
    losses = [entry["loss"] for entry in bot._about.history]
    assert losses[-1] < losses[0]
