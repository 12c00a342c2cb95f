"""The tf-idf baseline."""

from __future__ import annotations

import math

import pytest

from bots import Dialogue, Utterance
from bots.zoo.tfidf import BOT, Tfidf
from tests.bots.examples import hits_on_demo, trained


def of(*texts: str) -> Tfidf:
    turns = tuple(
        Utterance("self" if place % 2 else "partner", text) for place, text in enumerate(texts)
    )
    bot = BOT()
    bot.train([Dialogue("d", turns)], seed=0)
    return bot


def test_it_answers_with_what_followed_the_most_similar_message() -> None:
    bot = of("Do you have a dog?", "Only a cat.", "Where do you live?", "In a small town.")
    asked = (Utterance("partner", "so where do you live then?"),)
    reply = bot.respond((), asked)
    assert reply.text == "In a small town."
    assert reply.score == pytest.approx(bot.rank((), asked, ["Where do you live?"])[0])


def test_it_does_not_say_the_same_twice() -> None:
    bot = of("Do you have a dog?", "Only a cat.", "Where do you live?", "In a small town.")
    history = (Utterance("self", "In a small town."), Utterance("partner", "where do you live?"))
    assert bot.respond((), history).text != "In a small town."


def test_cosine_of_weighted_bags_by_hand() -> None:
    bot = of("red green", "red blue")
    rare, common = math.log(3 / 1.5), math.log(3 / 2.5)
    expected = common**2 / (common**2 + rare**2)
    (score,) = bot.rank((), (Utterance("partner", "red green"),), ["red blue"])
    assert score == pytest.approx(expected)


def test_released_similarity_by_hand() -> None:
    bot = of("red green", "red blue")
    bot.mode = "released"
    (score,) = bot.rank((), (Utterance("partner", "red green"),), ["red blue"])
    expected = 1 / (1 + math.log(1 + 2)) / math.sqrt(math.sqrt(2) * math.sqrt(2))
    assert score == pytest.approx(expected)


@pytest.mark.parametrize("mode", ["cosine", "released"])
def test_searching_the_index_gives_the_scores_of_ranking(mode: str) -> None:
    texts = ["Do you sing?", "It is so.", "The cat sat.", "That is that."]
    bot = of(*texts)
    bot.mode = "released" if mode == "released" else "cosine"
    for message in ("Do you have pets?", "My cat eats my cactus.", "zzz"):
        history = (Utterance("partner", message),)
        found = bot._ready().search([*bot._query((), history)], bot.mode)
        assert sorted(found) == pytest.approx(sorted(bot.rank((), history, texts[:3])))


def test_the_persona_helps_and_both_modes_beat_chance() -> None:
    for mode in ("cosine", "released"):
        bot = trained("tfidf", mode=mode)
        assert hits_on_demo(bot, "self") > hits_on_demo(bot, "none") > 0.05


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given weights"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
