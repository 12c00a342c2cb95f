"""Seq2Seq, and what all bots on its blocks have in common."""

from __future__ import annotations

from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from bots import Decoding, InvalidWeights, Utterance, examples, make_bot
from bots.generation.teacher_forcing import forced
from bots.text import glove
from bots.writers.writer import Writer
from bots.zoo.seq2seq import PRESETS, Seq2Seq
from tests.bots.examples import HELLO, PERSONA, demo, trained
from tests.bots.writer_examples import falls, likes, perplexity, taught


def answering() -> Seq2Seq:
    bot = trained("seq2seq")
    assert isinstance(bot, Seq2Seq)
    return bot


def test_perplexity_falls_and_beats_chance() -> None:
    bot = answering()
    assert falls(bot)
    known = perplexity(bot, list(examples(demo("test"))))
    assert known < 300 < bot.model.codec.size / 2


@pytest.mark.parametrize("attention", ["none", "general"])
def test_the_persona_is_read_with_and_without_attention(attention: str) -> None:
    bot = taught("seq2seq", likes(150, 1), attention=attention, epochs=30, patience=30)
    asked = list(examples(likes(30, 2), "self"))
    assert perplexity(bot, asked) < 1.1 < perplexity(bot, asked, persona=False)
    assert bot.propose([(("i love jazz .",), asked[0].history)])[0][0].text == "i like jazz ."


def test_ranks_are_mean_log_probabilities_per_token() -> None:
    bot, texts = answering(), ["Two cats.", "No", "I have had cats for years, and you?"]
    ids = [bot.model.codec.encode(text) for text in texts]
    rows = forced(bot.model, [(PERSONA, HELLO)] * 3, ids)
    assert bot.rank(PERSONA, HELLO, texts) == pytest.approx([sum(row) / len(row) for row in rows])


def test_next_words_are_a_distribution_with_the_marks() -> None:
    chances = answering().next_word(PERSONA, HELLO, ["i", "have"])
    assert tuple(chances) == answering().model.codec.words
    assert 0.5 < sum(chances.values()) <= 1 + 1e-6


def test_it_searches_as_its_options_or_the_caller_say() -> None:
    bot = answering()
    assert bot.decoding() == Decoding("beam", 5, max_tokens=24)
    assert len(bot.propose([(PERSONA, HELLO)])[0]) == 5
    drawn = bot.propose([(PERSONA, HELLO)], Decoding("sample", 3, seed=2))[0]
    assert len({each.text for each in drawn}) > 1


def test_weights_that_are_read_again_say_the_same(tmp_path: Path) -> None:
    bot = taught("seq2seq", likes(40, 1), epochs=1, layers=2, shared=False)
    bot.save(tmp_path)
    again = make_bot("seq2seq", weights=str(tmp_path))
    plain = Seq2Seq()
    plain.load(tmp_path)
    assert isinstance(again, Seq2Seq)
    turns = [(("i love tea .",), (Utterance("partner", "what do you like ?"),))]
    assert again.propose(turns) == bot.propose(turns) == plain.propose(turns)
    assert (plain.layers, plain.hidden, plain.shared) == (2, 32, False)


def test_weights_of_another_bot_are_refused(tmp_path: Path) -> None:
    taught("hred", likes(20, 1), epochs=1).save(tmp_path)
    with pytest.raises(InvalidWeights, match="of hred, not of seq2seq"):
        Seq2Seq().load(tmp_path)


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    taught("seq2seq", likes(20, 1), epochs=0).save(tmp_path)
    about = tmp_path / "bot.json"
    about.write_text(about.read_text().replace('"hidden": 32', '"hidden": 33'))
    with pytest.raises(InvalidWeights, match="does not fit seq2seq"):
        Seq2Seq().load(tmp_path)


def test_untrained_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seq2seq must be trained"):
        Seq2Seq().respond((), ())
    with pytest.raises(ValueError, match="nothing to save"):
        Seq2Seq().save(tmp_path)
    with pytest.raises(ValueError, match="hold no reply"):
        Seq2Seq().train([], seed=1)


@pytest.mark.skipif(find_spec(glove.PACKAGE) is None, reason="GloVe vectors are not installed")
def test_words_can_start_from_glove() -> None:
    bot = taught("seq2seq", likes(20, 1), vectors="glove", dimension=52, epochs=0)
    assert bot._network is not None
    table = bot._network.state_dict()["written.weight"]
    places = bot.model.codec.encode("cats tea jazz")
    known = torch.stack([torch.from_numpy(v) for _, v in glove.find(["cats", "tea", "jazz"])])
    torch.testing.assert_close(
        torch.cosine_similarity(table[places, : glove.SIZE], known), torch.ones(3)
    )
    assert table[places, glove.SIZE :].any()
    with pytest.raises(ValueError, match="dimension is 10"):
        taught("seq2seq", likes(20, 1), vectors="glove", dimension=10, epochs=0)


@pytest.mark.parametrize("preset", ["convai2", "paper"])
def test_presets_build_the_papers_network(preset: str) -> None:
    small = {**PRESETS[preset], "vectors": "random", "hidden": 32, "epochs": 1, "batch": 8}
    bot = make_bot("seq2seq", **small)
    assert isinstance(bot, Writer)
    bot.train(likes(20, 1), seed=1)
    assert {each.name for each in fields(bot) if each.init} >= PRESETS[preset].keys()
    made = bot._network
    assert made is not None
    parameters = made.state_dict()
    assert ("decoder.attention.weigh.weight" in parameters) == (preset == "convai2")
    assert ("encoder.cells.weight_ih_l1" in parameters) == (preset == "convai2")
    assert parameters["written.weight"].shape[1] == PRESETS[preset]["dimension"]
