"""The LSTM dual encoder of DSTC7."""

from __future__ import annotations

import pytest
import torch

from bots.rankers.dual import DualEncoder
from bots.zoo.dstc7 import BOT
from tests.bots.examples import HELLO, PERSONA, trained
from tests.bots.topics import about_topics, auc


def test_it_learns_which_replies_go_with_what() -> None:
    bot = BOT(hidden=12, dimension=16, batch=32, rate=0.03, epochs=8, patience=8)
    bot.train(about_topics(400, seed=0), seed=0)
    assert auc(bot, about_topics(64, seed=1)) > 0.9


def test_the_score_is_the_bilinear_product_of_last_states() -> None:
    bot = trained("dstc7")
    assert isinstance(bot, BOT)
    served = bot._ready()
    network = served.network
    assert isinstance(network, DualEncoder)
    assert network.bilinear is not None
    candidates = ["I have two cats.", "No."]
    with torch.inference_mode():
        context = network.contexts([network.table.dialogue(PERSONA, HELLO, 40)])[0]
        replies = network.replies([network.table.text(each, 30) for each in candidates])
        expected = [float(context @ network.bilinear.weight.T @ reply) for reply in replies]
    assert bot.rank(PERSONA, HELLO, candidates) == pytest.approx(expected, abs=1e-4)
