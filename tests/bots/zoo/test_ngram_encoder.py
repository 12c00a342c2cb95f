"""The n-gram dual encoder."""

from __future__ import annotations

import pytest
import torch

from bots.zoo.ngram_encoder import BOT, Ngrams
from bots.zoo.ngram_encoder.ngrams import Grams
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained

OFFERED = ["Two cats, yes.", "No, I am allergic.", "What pets?"]
SMALL = {"unigrams": 16, "bigrams": 8, "output": 16, "learned": 64, "epochs": 2}


def answering() -> Ngrams:
    bot = trained("ngram_encoder")
    assert isinstance(bot, Ngrams)
    return bot


def test_a_persona_helps_and_it_learned() -> None:
    bot = answering()
    assert hits_on_demo(bot, "self") > 2 * hits_on_demo(bot, "none")
    assert hits_on_demo(bot, "self") > 0.4
    assert bot._about is not None
    losses = [epoch["loss"] for epoch in bot._about.history]
    assert losses[-1] < losses[0]


def test_unigrams_and_bigrams_have_tables_of_their_own() -> None:
    terms = Grams(["cats", "two"], 50).terms("Two zebras")
    assert terms.unigrams[0] == 2
    assert terms.unigrams[1] > 2  # not listed: in a bucket
    assert len(terms.bigrams) == 3  # with the beginning and the end
    assert Grams([], 50).terms("").unigrams == (0,)
    network = answering()._ready()[0]
    assert {len(network.unigrams), len(network.bigrams)} == {1}


def test_what_a_text_is_batched_with_changes_nothing() -> None:
    network = answering()._ready()[0]
    texts = [network.grams.terms(text) for text in ("Yes.", "", "word " * 60)]
    with torch.inference_mode():
        together = network.replies(texts)
        alone = torch.cat([network.replies([text]) for text in texts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "options", [{"persona": "joined", "shared": False}, {"persona": "ignored", "layers": 2}]
)
def test_every_recipe_learns_and_is_read_back(options: dict[str, object]) -> None:
    bot = BOT(**{**SMALL, **options})  # type: ignore[arg-type]
    bot.train(demo("train"), seed=0)
    assert bot._about is not None
    assert bot._about.history[-1]["loss"] < bot._about.history[0]["loss"]
    told = bot.rank(PERSONA, HELLO, OFFERED) == bot.rank((), HELLO, OFFERED)
    assert told is (options["persona"] == "ignored")


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given weights"):
        BOT().rank((), (), ["a"])
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
