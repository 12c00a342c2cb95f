"""Sentiment on demand: disjoint words, a gate between them, and a switch that changes words."""

from __future__ import annotations

import pytest
import torch

from bots import Dialogue, Utterance
from bots.zoo.sentimental import Sentimental
from bots.zoo.sentimental.sentiment import SENTIMENTS, domain, sentiment
from bots.zoo.sentimental.sentimental import SentimentalNetwork
from tests.bots.examples import HELLO, PERSONA, trained

FOOD = (
    ("How is the soup?", "the soup is lovely and good", "the soup is awful and cold"),
    ("How is the bread?", "the bread is great and fresh", "the bread is bad and broken"),
    ("How is the cake?", "the cake is delicious and nice", "the cake is terrible and wrong"),
)


def taught() -> list[Dialogue]:
    """Return talks in which the same question gets a glad or a sad answer."""
    return [
        Dialogue(f"{place}-{k}-{again}", (Utterance("partner", asked), Utterance("self", said)))
        for again in range(6)
        for place, (asked, *replies) in enumerate(FOOD)
        for k, said in enumerate(replies)
    ]


def network_of(bot: Sentimental) -> SentimentalNetwork:
    network = bot.model.network
    assert isinstance(network, SentimentalNetwork)
    return network


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("What a lovely, good day", "positive"),
        ("That is terrible.", "negative"),
        ("I love it but I am tired.", "neutral"),
        ("It is Monday.", "neutral"),
    ],
)
def test_the_lexicon_decides_by_majority(text: str, label: str) -> None:
    assert sentiment(text) == label


def test_the_domain_is_that_of_most_keywords() -> None:
    assert domain(["I bake bread and cook soup", "my dog eats it"]) == "food"
    assert domain(["Hello there"]) == "other"


def test_the_switch_changes_the_class_of_words() -> None:
    bot = Sentimental(
        epochs=20, patience=20, held_out=0.0, least_count=1, batch=6, dropout=0.0, method="greedy"
    )
    bot.train(taught(), seed=1)
    turns = [((), (Utterance("partner", asked),)) for asked, *_ in FOOD]
    network = network_of(bot)
    said = {}
    for wanted in (SENTIMENTS[0], SENTIMENTS[1]):
        network.wanted = wanted
        said[wanted] = [found[0].text for found in bot.propose(turns)]
    assert [sentiment(text) for text in said["positive"]] == ["positive"] * 3
    assert [sentiment(text) for text in said["negative"]] == ["negative"] * 3


def test_both_softmaxes_and_the_gate_make_one_distribution() -> None:
    bot = trained("sentimental")
    assert isinstance(bot, Sentimental)
    network = network_of(bot)
    asked = [network.reading.encoded((PERSONA, HELLO))]
    with torch.inference_mode():
        log_probs, gate, _ = network.divided(
            network.read(asked), torch.ones(1, 1, dtype=torch.int64)
        )
    chances = log_probs.exp()[0, 0]
    assert chances.sum().item() == pytest.approx(1)
    opened = chances[network.sentimental].sum().item()
    assert opened == pytest.approx(gate.sigmoid().item(), abs=1e-5)


def test_the_option_is_kept_out_of_the_weights() -> None:
    for wanted in ("positive", "negative", "neutral"):
        bot = trained("sentimental", sentiment=wanted)
        assert isinstance(bot, Sentimental)
        assert network_of(bot).wanted == wanted
