"""StarSpace."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bots import Ranker, Trainable, Utterance, make_bot
from bots.commands.predictions import Task, hits, predict
from bots.rankers.profile import ProfileQuery
from bots.rankers.profile_serving import make_network
from bots.text.tokens import key
from bots.zoo.starspace import BOT, PRESETS, StarSpace
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained, weights
from tests.bots.topics import about_topics

SMALL = {"dimension": 32, "epochs": 3, "hashed": 64}
CANDIDATES = ["Two cats, yes.", "No, I am allergic.", "What pets?", "I drive a bus."]


def test_it_ranks_better_than_tfidf_where_replies_have_words_of_their_own() -> None:
    """models.md section 7, ordering 2; the demo text is too small to show it without personas."""
    found = {}
    for name in ("starspace", "tfidf"):
        bot = make_bot(name)
        assert isinstance(bot, Trainable)
        assert isinstance(bot, Ranker)
        bot.train(about_topics(400, seed=0), seed=0)
        test = Task("topics", persona="none")
        found[name] = hits(list(predict(bot, name, about_topics(80, seed=1), test)))
    assert found["starspace"] > 2 * found["tfidf"]


def test_a_persona_helps() -> None:
    bot = trained("starspace")
    assert hits_on_demo(bot, "self") > 1.5 * hits_on_demo(bot, "none")


def test_without_a_persona_profile_memory_is_this_bot() -> None:
    """With the same weights: B-PROFMEM equals StarSpace when the persona is empty."""
    same = weights("profile_memory")
    star, memory = make_bot("starspace", weights=same), make_bot("profile_memory", weights=same)
    assert isinstance(star, Ranker)
    assert isinstance(memory, Ranker)
    for history in (HELLO, (), (*HELLO, Utterance("self", "Two cats."), *HELLO)):
        assert star.rank((), history, CANDIDATES) == memory.rank((), history, CANDIDATES)
    assert star.rank(PERSONA, HELLO, CANDIDATES) != memory.rank(PERSONA, HELLO, CANDIDATES)


def test_the_persona_is_more_of_the_query() -> None:
    bot = trained("starspace")
    assert isinstance(bot, StarSpace)
    encoder, bag = bot._ready().network.encoder, bot._ready().network.vocabulary.bag
    joined = " ".join((HELLO[0].text, *PERSONA))
    with torch.inference_mode():
        vectors = encoder([bag(text) for text in (joined, *CANDIDATES)])
    expected = torch.cosine_similarity(vectors[1:], vectors[:1]).tolist()
    assert bot.rank(PERSONA, HELLO, CANDIDATES) == pytest.approx(expected, abs=1e-5)
    alone = encoder([bag("cats")]) + encoder([bag("bus")])
    torch.testing.assert_close(encoder([bag("cats bus")]), alone)


@pytest.mark.parametrize("loss", ["softmax", "margin", "embedding"])
def test_every_loss_falls(loss: str) -> None:
    bot = BOT(**SMALL, loss=loss)  # type: ignore[arg-type]
    bot.train(demo("train"), seed=0)
    assert bot._about is not None
    losses = [epoch["loss"] for epoch in bot._about.history]
    assert losses[-1] < losses[0]


def test_losses_by_hand() -> None:
    """Query (1, 0), right reply (0, 1), wrong one (1, 0): cosines 0 and 1."""
    for loss, value in (("margin", 1.1 * 2), ("embedding", (1 + 0.9 * 2) / 3)):
        bot = BOT(negatives=2, loss=loss)  # type: ignore[arg-type]
        sizes = {"hashed": 0, "dimension": 2, "max_norm": 0.0, "pooling": "sum"}
        network = make_network(["right", "wrong"], sizes)
        vectors = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        network.encoder.table.weight.data.copy_(vectors)
        query, right = (2,), (1,)
        found = bot.cost(network, [(ProfileQuery(query, ()), right)], [query])
        assert found.item() == pytest.approx(value)


def test_the_released_recipe_learns() -> None:
    bot = BOT(**{**PRESETS["released"], "epochs": 2})
    bot.train(demo("valid"), seed=0)
    assert bot._about is not None
    losses = [epoch["loss"] for epoch in bot._about.history]
    assert losses[-1] < losses[0]
    lengths = bot._ready().network.encoder.table.weight.norm(dim=1)
    assert lengths.max() <= 10.001


def test_it_takes_another_reply_where_the_best_was_said() -> None:
    bot = trained("starspace")
    assert isinstance(bot, StarSpace)
    best = bot.respond(PERSONA, HELLO)
    again = bot.respond(PERSONA, (Utterance("self", best.text.upper()), *HELLO))
    assert key(again.text) != key(best.text)


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="nothing to save"):
        BOT().save(Path("nowhere"))
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
    with pytest.raises(ValueError, match="weights of tfidf, not of starspace or profile_memory"):
        BOT(weights=weights("tfidf"))
