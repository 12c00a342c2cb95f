"""The TF-IDF and BM25 response rankers."""

from __future__ import annotations

import math

import pytest

from bots import Dialogue, Utterance
from bots.commands.predictions import Task, hits, predict
from bots.zoo.bm25 import BOT, Bm25
from tests.bots.examples import HELLO, PERSONA, demo, trained


def of(*texts: str) -> Bm25:
    turns = tuple(
        Utterance("self" if place % 2 else "partner", text) for place, text in enumerate(texts)
    )
    bot = BOT()
    bot.train([Dialogue("d", turns)], seed=0)
    return bot


def test_bm25_by_hand() -> None:
    bot = of("red green", "blue sky", "a cat", "a green dog")
    asked = (Utterance("partner", "Green, green!"),)
    score, nothing = bot.rank((), asked, ["a green dog", "a cat"])
    idf = math.log((4 - 2 + 0.5) / (2 + 0.5))
    room = 2.0 * (1 - 0.75 + 0.75 * 3 / (9 / 4))
    assert score == pytest.approx(2 * idf * 3 / (1 + room))
    assert nothing == 0


def test_it_looks_at_the_last_message_alone() -> None:
    bot = of("Do you have a dog?", "Only a cat.", "Where do you live?", "In a small town.")
    offered = ["Only a cat.", "In a small town.", "A dog?"]
    last = (Utterance("partner", "a small dog"),)
    assert bot.rank(PERSONA, (*HELLO, *last), offered) == bot.rank((), last, offered)
    assert bot.rank((), (), offered) == [0.0, 0.0, 0.0]


def test_it_answers_with_the_reply_that_shares_the_most_and_not_twice() -> None:
    bot = of("Hi.", "I have a cat.", "Oh?", "We live in a small town.", "So?", "It rains today.")
    asked = Utterance("partner", "which small town?")
    reply = bot.respond((), (asked,))
    assert reply.text == "We live in a small town."
    assert bot.respond((), (Utterance("self", reply.text), asked)).text != reply.text


@pytest.mark.parametrize("method", ["bm25", "tfidf"])
def test_one_of_100_far_above_chance(method: str) -> None:
    bot = trained("bm25", method=method)
    assert isinstance(bot, Bm25)
    task = Task("demo", candidates=100, persona="none", sides="both")
    assert hits(list(predict(bot, "bm25", demo("all"), task))) > 0.05


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given weights"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
