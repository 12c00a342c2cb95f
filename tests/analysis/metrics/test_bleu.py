"""BLEU, with sacrebleu as the oracle."""

from __future__ import annotations

from random import Random

import pytest
from sacrebleu.metrics.bleu import BLEU

from analysis.metrics.bleu import bleu
from analysis.text import bleu as counting
from tests.analysis.prediction_tables import estimate, only, random_texts, said

TEXT = "I have two cats, and a very old dog."


def test_identical_text_has_100_and_no_common_trigram_0() -> None:
    assert estimate(bleu(said((TEXT, TEXT))), "bleu_4") == pytest.approx(100)
    assert estimate(bleu(said((TEXT, TEXT))), "bleu_mean") == pytest.approx(100)
    found = bleu(said(("I have cats, two of them.", TEXT)))
    assert estimate(found, "bleu_3") == 0
    assert estimate(found, "bleu_1") > 0
    assert estimate(found, "bleu_sentence") > 0, "smoothing over-estimates"


def test_agrees_with_sacrebleu_on_random_texts() -> None:
    chance, words = Random(0), ["a", "b", "c", "d", "e", "f", "g"]
    for _ in range(50):
        pairs = [
            (random_texts(chance, words, 4, 12), [random_texts(chance, words, 4, 12) for _ in "12"])
            for _ in range(5)
        ]
        found = counting.counts(pairs)
        hypotheses = [" ".join(text) for text, _ in pairs]
        references = [[" ".join(golds[k]) for _, golds in pairs] for k in range(2)]
        for n in range(1, 5):
            oracle = BLEU(tokenize="none", max_ngram_order=n, smooth_method="none")
            expected = oracle.corpus_score(hypotheses, references).score
            assert found.score(n) == pytest.approx(expected, abs=1e-9)
        smoothed = BLEU(tokenize="none", smooth_method="floor", effective_order=True)
        for k, hypothesis in enumerate(hypotheses):
            expected = smoothed.sentence_score(hypothesis, [each[k] for each in references]).score
            assert found.sentences()[k] == pytest.approx(expected, abs=1e-9)


def test_empty_and_short_responses_are_no_trouble() -> None:
    found = bleu(said(("", TEXT), ("Hi", "Hi"), ("Hi", TEXT)))
    assert found["estimate"].notna().all()
    assert estimate(found, "bleu_1") < 1, "brevity"
    assert counting.sentence_bleu(["x"], [["y"]]) == 0


def test_results_tell_the_variant_and_what_it_is_worth() -> None:
    found = bleu(said((TEXT, TEXT), ("No.", TEXT)))
    assert found["note"].str.contains("agrees only weakly with what people say").all()
    assert only(found, "bleu_4")["variant"] == "split tokens, lower case, no smoothing"
    row = only(found, "bleu_2")
    assert row["low"] <= row["estimate"] <= row["high"] == pytest.approx(100)


def test_single_sentence_of_order_three_as_max_bleu_needs_it() -> None:
    tokens = TEXT.split()
    assert counting.sentence_bleu(tokens, [tokens], n=3) == pytest.approx(100)


def test_few_common_n_grams_have_no_interval() -> None:
    other = "You have two cats, and we are old."
    found = bleu(said((TEXT, other), (other, TEXT), ("a b", "c d")))
    rows = {str(row["metric"]): row for row in found.to_dict("records")}
    assert rows["bleu_1"]["low"] < rows["bleu_1"]["estimate"] < rows["bleu_1"]["high"]
    assert rows["bleu_4"]["estimate"] > 0
    assert rows["bleu_4"]["low"] != rows["bleu_4"]["low"], "not a number"
    assert "10 are needed for an interval" in str(rows["bleu_4"]["reason"])
