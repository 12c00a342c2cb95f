"""THRED."""

from __future__ import annotations

import pytest
import torch

from bots import Utterance, bot_presets, examples
from bots.generation.teacher_forcing import forced
from bots.zoo.thred import Thred, ThredNetwork
from tests.bots.examples import HELLO, PERSONA, demo, trained
from tests.bots.writer_examples import falls, perplexity

TURNS = [((), HELLO), (PERSONA, (*HELLO, *HELLO)), ((), ())]


def answering() -> Thred:
    bot = trained("thred")
    assert isinstance(bot, Thred)
    return bot


def network() -> ThredNetwork:
    found = answering().model.network
    assert isinstance(found, ThredNetwork)
    return found


def test_perplexity_falls() -> None:
    bot = answering()
    assert falls(bot)
    assert perplexity(bot, list(examples(demo("test")))[:60]) < bot.model.codec.size / 4


def test_both_shares_sum_to_1() -> None:
    made = network()
    said = made.reading.codec.decode(made.topics.best[2].tolist())
    turns = [*TURNS[:2], ((), (Utterance("partner", said),))]
    state = made.read([made.reading.encoded(turn) for turn in turns])
    assert state["topical"].any()
    assert not state["topical"].all()
    with torch.inference_mode():
        log_probs, _ = made.write(state, torch.tensor([[1, 4, 5]] * 3))
    torch.testing.assert_close(log_probs.exp().sum(2), torch.ones(3, 3))


def test_a_batch_gives_what_one_gets_alone() -> None:
    bot = answering()
    replies = [bot.model.codec.encode("I have two cats.")] * 3
    together = forced(bot.model, TURNS, replies)
    for turn, row in zip(TURNS, together, strict=True):
        assert forced(bot.model, [turn], replies[:1])[0] == pytest.approx(row, abs=1e-5)


def test_utterances_are_read_anew_for_each_word() -> None:
    """Attention over words depends on the decoder's state and on the context before."""
    made = network()
    said = list(examples(demo("test")))[5]
    state = made.read([made.reading.encoded(((), said.history))])
    before = torch.zeros(1, answering().hidden)
    with torch.inference_mode():
        one, other = made.contexts(before, state), made.contexts(before + 1, state)
        assert not torch.allclose(one, other, atol=1e-5)
        query = torch.cat((before, one[:, 0]), dim=1)[:, None]
        words, weights = made.by_word(query, state["words"][:, 1], state["is_word"][:, 1])
        expected, _ = made.hierarchy.context.cells(words, one[None, :, 0])
        torch.testing.assert_close(one[:, 1], expected[:, 0])
        torch.testing.assert_close(weights.sum(2), torch.ones(1, 1))
        first = torch.cat((before, torch.zeros_like(before)), dim=1)[:, None]
        assert not torch.allclose(
            weights, made.by_word(first, state["words"][:, 1], state["is_word"][:, 1])[1], atol=1e-6
        )


def test_the_preset_is_the_papers() -> None:
    paper = bot_presets("thred")["paper"]
    named = ("hidden", "topics", "gamma", "frequent", "rate", "dropout", "number", "alpha")
    default = {"gamma": answering().gamma}
    found = [{**default, **paper}[name] for name in named]
    assert found == [800, 150, 0.01, 1000, 0.0002, 0.2, 5, 1.0]
    assert answering().decoding().rank_by == paper["rank_by"] == "gnmt"
