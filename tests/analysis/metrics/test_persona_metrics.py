"""Persona metrics: the specification's vectors, hand examples, and who is who in a made-up cast."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from analysis import BadOption
from analysis.conversations.descriptions import (
    alpha,
    persona_cover,
    persona_f1,
    ranks_of,
)
from analysis.conversations.language_model import END, START, UNKNOWN, NgramModel, voices
from analysis.conversations.nearest_line import lines
from analysis.conversations.salience import salience
from analysis.conversations.speakers import speakers
from tests.analysis.cast import HABITS, line

RNG = np.random.default_rng(0)
CAST = {name: [line(name, RNG) for _ in range(60)] for name in HABITS}
FRESH = {name: [line(name, RNG) for _ in range(20)] for name in HABITS}


# --- P-F1 and P-Cover -------------------------------------------------------------------------


def test_p_f1_takes_recall_and_precision_from_different_sentences() -> None:
    # W_Y = cats dogs chess tea. Sentence 1: cats (recall 1 of 1, precision 1 of 4). Sentence 2:
    # dogs chess run swim paint (recall 2 of 5, precision 2 of 4). R = 1, P = .5.
    sentences = ["the cats", "dogs, chess; run, swim, paint"]
    assert persona_f1("cats and dogs, chess, tea", sentences) == pytest.approx(2 * 0.5 / 1.5)


@pytest.mark.parametrize(
    ("utterance", "sentences"),
    [("", ["cats"]), ("the and of", ["cats"]), ("dogs", ["cats"]), ("x", [])],
)
def test_without_overlap_both_are_zero(utterance: str, sentences: list[str]) -> None:
    assert persona_f1(utterance, sentences) == 0
    assert persona_cover(utterance, sentences, ranks={}) == 0


@pytest.mark.parametrize(("rank", "expected"), [(1, 0.06750), (100, 0.10113), (1000, 0.13467)])
def test_alphas(rank: int, expected: float) -> None:
    assert alpha(rank) == pytest.approx(expected, abs=5e-6)


def test_p_cover_by_hand() -> None:
    ranks = {"cats": 1, "dogs": 100}
    # Sentence 1 shares both, mean of two alphas; sentence 2 shares an unknown word, rank 3.
    found = persona_cover("cats dogs yaks", ["cats, dogs", "yaks"], ranks=ranks)
    assert found == pytest.approx((alpha(1) + alpha(100)) / 2)
    assert persona_cover("yaks", ["yaks"], ranks=ranks) == pytest.approx(alpha(3))


def test_ranks_are_wordfreq_s() -> None:
    ranks = ranks_of("en")
    assert (ranks["the"], ranks["to"]) == (1, 2)
    assert persona_cover("cats", ["cats"]) == pytest.approx(alpha(ranks["cats"]))


# --- PTSal ------------------------------------------------------------------------------------


def test_ptsal_s_vector() -> None:
    table = salience({"A": ["i am here", "i am ok"], "B": ["you are here"]})
    assert table.score("i am here", "A") == pytest.approx(0.51986, abs=5e-6)
    assert table.score("i am here", "B") == 0
    assert table.score("here", "A") == 0
    assert table.score("never heard of", "A") == 0


def test_what_everybody_says_is_not_salient() -> None:
    table = salience({"A": ["good day", "good day"], "B": ["good day to you"]})
    assert table.score("good day", "A") == 0


# --- uPPL -------------------------------------------------------------------------------------


def test_an_untrained_model_gives_the_size_of_its_vocabulary() -> None:
    model = NgramModel(frozenset("abcdef"))
    assert model.perplexity([list("ab"), ["zebra"]]) == pytest.approx(8)  # with end and unknown


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_sum_to_one(order: int) -> None:
    heard = voices(CAST, order=order)
    for model in heard.models.values():
        words = [*model.vocabulary, UNKNOWN, END]
        for history in ((), ("the",), (START, START), ("arr", ","), ("never", "heard")):
            total = sum(model.probability(word, history[-(order - 1) :] if order > 1 else ())
                        for word in words)  # fmt: skip
            assert total == pytest.approx(1.0, abs=1e-9)


def test_witten_bell_by_hand() -> None:
    # Vocabulary a, b; with end and unknown 4 words. Seen: a b </s>, a </s>.
    model = NgramModel(frozenset("ab"), order=2).learn([["a", "b"], ["a"]])
    # Unigrams: a 2, b 1, </s> 2; 5 in all, 3 kinds.
    b = (1 + 3 / 4) / (5 + 3)
    assert model.probability("b", ()) == pytest.approx(b)
    # After a: b 1, </s> 1; 2 in all, 2 kinds.
    assert model.probability("b", ("a",)) == pytest.approx((1 + 2 * b) / (2 + 2))


def test_own_lines_surprise_less_than_others() -> None:
    heard = voices(CAST)
    for own in HABITS:
        surprises = {who: heard.of_lines(own, FRESH[who]) for who in HABITS}
        assert min(surprises, key=surprises.__getitem__) == own
        assert math.isfinite(heard.perplexity(own, "xyzzy plugh"))


# --- MaxBLEU ----------------------------------------------------------------------------------


def test_a_line_of_the_corpus_has_100_and_no_common_trigram_0() -> None:
    known = lines(["we sail at dawn", "the sea is wide and cold"])
    assert known.closest("The sea is wide and cold") == pytest.approx(100)
    assert known.closest("the sea at dawn") == 0
    assert known.closest("the sea") == 0


def test_is_the_highest_of_sacrebleu_over_all_lines() -> None:
    said = [line(name, RNG) for name in HABITS for _ in range(5)]
    for name in HABITS:
        known = lines(CAST[name])
        for text in said:
            slow = max(_bleu3(text, other) for other in CAST[name])
            assert known.closest(text) == pytest.approx(slow)


def _bleu3(text: str, other: str) -> float:
    bleu = BLEU(max_ngram_order=3, smooth_method="none", effective_order=False, tokenize="none")
    return float(bleu.corpus_score([text], [[other]]).score)


# --- PSProb -----------------------------------------------------------------------------------


def test_probabilities_are_of_the_personas_and_sum_to_one() -> None:
    who = speakers(CAST, seed=1)
    found = who.probabilities(["arr , give me rum", "nothing known"])
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert who.probability("arr , matey", "pirate") > 0.8
    assert who.personas == ("baker", "doctor", "pirate")


def test_the_classifier_s_report() -> None:
    uneven = {**CAST, "pirate": CAST["pirate"] + ["arr , i love rum"] * 40}
    who = speakers(uneven, seed=2)
    report = {each.persona: each for each in who.report()}
    # As many lines of each as of the one with fewest: 60; 162 to train, 18 held out.
    assert sum(each.train for each in report.values()) == 162
    assert {each.train + each.evaluated for each in report.values()} == {60}
    assert sum(each.chance for each in report.values()) == pytest.approx(1)
    for each in report.values():
        assert each.recall > 0.8
        expected = stats.binomtest(
            round(each.recall * each.evaluated), each.evaluated, each.chance
        ).pvalue
        assert each.recall_p == pytest.approx(expected)


def test_lines_without_a_habit_are_told_by_chance() -> None:
    rng = np.random.default_rng(5)
    words = [f"w{k}" for k in range(30)]
    same = {name: [" ".join(rng.choice(words, 6)) for _ in range(120)] for name in "abcd"}
    report = speakers(same, seed=3).report()
    assert all(each.recall_p > 0.01 for each in report)


def test_sets_of_utterances_are_told_better_than_one() -> None:
    who = speakers(CAST, seed=1)
    found = who.accuracy(
        [(name, FRESH[name][k : k + 5]) for name in HABITS for k in range(0, 20, 5)]
    )
    assert (found.estimate, found.n) == (1.0, 12)
    assert found.interval.low > 0.7


def test_whether_a_persona_is_expressed() -> None:
    who = speakers(CAST, seed=1)
    judged = [(text, True) for text in FRESH["pirate"]] + [(t, False) for t in FRESH["baker"]]
    assert who.persona_accuracy("pirate", judged).estimate > 0.9
    assert who.persona_accuracy("pirate", judged, above=1.0).estimate == 0.5


def test_too_few_lines_are_refused() -> None:
    with pytest.raises(BadOption, match="two personas or more, each with 10 lines"):
        speakers({"a": ["x"] * 50, "b": ["y"] * 3})
