"""Generative Profile Memory."""

from __future__ import annotations

import pytest
import torch

from bots import Utterance, examples
from bots.generation.teacher_forcing import forced
from bots.zoo.generative_profile_memory import GenerativeProfileMemory
from bots.zoo.generative_profile_memory.salience import alphas
from bots.zoo.seq2seq import Seq2Seq
from tests.bots.examples import HELLO, PERSONA, demo, trained
from tests.bots.writer_examples import falls, likes, perplexity, taught


def answering() -> GenerativeProfileMemory:
    bot = trained("generative_profile_memory")
    assert isinstance(bot, GenerativeProfileMemory)
    return bot


def test_without_a_persona_it_is_seq2seq() -> None:
    """The same weights in a Seq2Seq without attention say exactly the same."""
    bot = answering()
    same = Seq2Seq(attention="none", hidden=bot.hidden, dimension=bot.dimension)
    network = same.build(bot.model.codec)  # type: ignore[arg-type]
    learned = bot.model.network.state_dict()
    network.load_state_dict({name: learned[name] for name in network.state_dict()})
    same._network = network.eval()
    turns = [((), each.history) for each in list(examples(demo("test")))[:20]]
    replies = [bot.model.codec.encode("I have two cats, and you?")] * 20
    expected = forced(same.model, turns, replies)
    for row, known in zip(forced(bot.model, turns, replies), expected, strict=True):
        assert row == pytest.approx(known, abs=1e-5)
    with_persona = forced(bot.model, [(PERSONA, HELLO)], replies[:1])
    assert with_persona != forced(same.model, [(PERSONA, HELLO)], replies[:1])


def test_in_one_batch_some_may_have_no_persona() -> None:
    bot = answering()
    turns = [((), HELLO), (PERSONA, HELLO), (PERSONA[:1], HELLO)]
    replies = [bot.model.codec.encode("I have two cats.")] * 3
    together = forced(bot.model, turns, replies)
    for turn, row in zip(turns, together, strict=True):
        assert forced(bot.model, [turn], replies[:1])[0] == pytest.approx(row, abs=1e-5)


@pytest.mark.parametrize("tied", [False, True])
def test_a_persona_lowers_perplexity(tied: bool) -> None:
    bot = taught(
        "generative_profile_memory",
        likes(150, 1),
        epochs=12,
        patience=12,
        tied=tied,
        learn_alpha=tied,
    )
    asked = list(examples(likes(30, 2), "self"))
    assert perplexity(bot, asked) < 1.1 < perplexity(bot, asked, persona=False)
    question = (Utterance("partner", "what do you like ?"),)
    assert bot.propose([(("i love tea .",), question)])[0][0].text == "i like tea ."


def test_memories_are_words_weighted_by_how_rare_they_are() -> None:
    network = answering().model.network
    state = network.read([network.reading.encoded((("I have two cats.",), HELLO))])
    words = ["i", "have", "two", "cats", "."]
    table, ids = (
        network.state_dict()["asked.weight"],
        network.reading.codec.encode("I have two cats."),
    )
    expected = sum(a * table[i] for a, i in zip(alphas(words), ids, strict=True))
    torch.testing.assert_close(state["memory"][0, 0], expected)


def test_perplexity_falls() -> None:
    assert falls(answering())
