"""NIST, with nltk as the oracle."""

from __future__ import annotations

from random import Random

import pytest
from nltk.translate.nist_score import corpus_nist

from analysis.metrics.nist import by_order, nist
from tests.analysis.prediction_tables import estimate, only, random_texts, said


def test_identical_text_is_maximal() -> None:
    texts = ["I like my old cat.", "I like tea.", "My dog is old."]
    same = nist(said(*[(text, text) for text in texts]))
    other = nist(said(*zip(texts[1:] + texts[:1], texts, strict=True)))
    for metric in ("nist", "nist_mean"):
        assert estimate(same, metric) == only(same, metric)["identical"]
        assert estimate(other, metric) < estimate(same, metric)
    assert same["note"].str.contains("agrees only weakly").all()


def test_rare_words_weigh_more() -> None:
    golds = ["the cat", "the dog", "the owl", "the cat"]
    common = nist(said(*[("the", gold) for gold in golds]))
    rare = nist(said(*[(gold.split()[1], gold) for gold in golds]))
    assert estimate(rare, "nist") > estimate(common, "nist")


def test_agrees_with_nltk_on_random_texts() -> None:
    chance, words = Random(0), ["a", "b", "c", "d", "e", "f", "g"]
    for _ in range(100):
        pairs = [
            (random_texts(chance, words, 6, 14), [random_texts(chance, words, 6, 14)])
            for _ in range(5)
        ]
        for n in (1, 3, 5):
            expected = corpus_nist([golds for _, golds in pairs], [text for text, _ in pairs], n)
            assert by_order(pairs, n)[-1] == pytest.approx(expected, abs=1e-9)


def test_two_thirds_of_the_length_halves_the_score() -> None:
    gold = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
    whole = by_order([(gold[:6], [gold[:6]])], 1)[-1]
    weights = by_order([(gold, [gold])], 1)[-1]
    assert by_order([(gold[:6], [gold])], 1)[-1] == pytest.approx(weights / 2)
    assert whole > 0
