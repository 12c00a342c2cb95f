"""The generative Transformer with beam search."""

from __future__ import annotations

import pytest
import torch

from bots import bot_presets, make_bot
from bots.learning import training
from bots.writers.causal import CausalNetwork, negative_of
from bots.zoo.lost_in_conversation import LostInConversation
from tests.bots.examples import HELLO, PERSONA, demo, trained


def answering() -> LostInConversation:
    bot = trained("lost_in_conversation")
    assert isinstance(bot, LostInConversation)
    return bot


def test_it_searches_with_a_beam_of_three_and_a_length_penalty() -> None:
    decoding = answering().decoding()
    assert (decoding.method, decoding.number) == ("beam", 3)
    assert (decoding.rank_by, decoding.alpha) == ("gnmt", 0.6)
    (found,) = answering().propose([(PERSONA, HELLO)])
    scores = [each.score("gnmt", 0.6) for each in found]
    assert len(found) == 3
    assert scores == sorted(scores, reverse=True)


def test_it_learns_to_read_and_to_write() -> None:
    bot = answering()
    learned = bot.model.network
    assert isinstance(learned, CausalNetwork)
    with training.seeded(0):
        untrained = bot.build(learned.reading.codec).eval()
    items = bot.items(learned, demo("valid"), 0)[:60]
    with torch.inference_mode():
        before, after = bot.loss(untrained, items), bot.loss(learned, items)
    assert after.item() < before.item() - 1.5


def test_the_rate_rises_and_then_falls() -> None:
    bot = answering()
    shares = [bot.share_of_rate(step) for step in (1, 5, 10, 40)]
    assert shares == pytest.approx([0.1, 0.5, 1.0, 0.5])
    schedule = bot.plan(0, "stage").schedule
    assert schedule is not None
    assert schedule(5) == 0.5


def test_smoothing_gives_every_token_a_share() -> None:
    log_probs = torch.tensor([[[0.7, 0.2, 0.1]]]).log()
    wanted = torch.tensor([[1]])
    plain, smooth = (negative_of(log_probs, wanted, share).item() for share in (0.0, 0.3))
    assert plain == pytest.approx(-torch.tensor(0.2).log().item())
    mean = -log_probs.mean().item()
    assert smooth == pytest.approx(0.7 * plain + 0.3 * mean)


def test_the_preset_is_the_teams() -> None:
    told = bot_presets("lost_in_conversation")["paper"]
    assert (told["batch"], told["rate"], told["warmup"]) == (256, 6.25e-5, 16000)
    bot = make_bot("lost_in_conversation", **told)
    assert isinstance(bot, LostInConversation)
    assert (bot.smoothing, bot.lm_weight, bot.number, bot.alpha) == (0.1, 0.5, 3, 0.6)
    assert 2 * bot.tokens == 256
