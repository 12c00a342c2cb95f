"""ROUGE and METEOR."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from nltk.stem import PorterStemmer
from nltk.translate.meteor_score import meteor_score
from wordfreq import top_n_list

from analysis.metrics.rouge import rouge
from analysis.text.overlap import longest_common, meteor, rouge_l
from analysis.text.stemming import stem
from tests.analysis.prediction_tables import estimate, random_texts, said

KNOWN = (
    *("cat", "cats", "runs", "running", "run", "ponies", "pony", "relational", "fly", "flies"),
    *("owl", "hope", "hoped", "hopeful"),
)


class NoSynonyms:
    """In the place of WordNet."""

    def synsets(self, word: str) -> Sequence[object]:
        return []


def test_by_hand() -> None:
    found = rouge(said(("the cat sat", "the cat sat down")))
    assert estimate(found, "rouge_2") == pytest.approx(2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3))
    assert estimate(found, "rouge_l") == pytest.approx(2 * 1 * 0.75 / 1.75)
    fmean = 10 * 1 * 0.75 / (0.75 + 9 * 1)
    assert estimate(found, "meteor") == pytest.approx(fmean * (1 - 0.5 * (1 / 3) ** 3))
    assert found["note"].str.contains("agrees only weakly").all()


def test_identical_text_disjoint_text_and_the_best_reference() -> None:
    same = rouge(said(("we ran home", ["no", "we ran home"])))
    assert estimate(same, "rouge_2") == 1
    assert estimate(same, "rouge_l") == 1
    assert set(rouge(said(("yes", "no")))["estimate"]) == {0}


def test_the_longest_common_subsequence_keeps_the_order() -> None:
    assert longest_common(["a", "b", "c", "d"], ["b", "a", "d", "c"]) == 2
    assert (
        rouge_l(["police", "killed", "the", "gunman"], ["police", "kill", "the", "gunman"]) == 0.75
    )


def test_stems_agree() -> None:
    assert meteor(["cats", "running"], ["the", "cat", "runs"]) > 0


def test_meteor_agrees_with_nltk_without_synonyms() -> None:
    chance, stemmer = Random(0), PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
    known = list(KNOWN)
    for _ in range(200):
        words = chance.sample(known, 8)
        one, other = (list(dict.fromkeys(random_texts(chance, words, 1, 9))) for _ in "12")
        if len({stem(w) for w in one}) < len(one) or len({stem(w) for w in other}) < len(other):
            continue  # which of two like words is aligned is not laid down
        expected = meteor_score([other], one, stemmer=stemmer, wordnet=NoSynonyms())
        assert meteor(one, other) == pytest.approx(expected, abs=1e-12)


def test_stems_are_porters() -> None:
    stemmer = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
    words = [w for w in top_n_list("en", 5000) if w.isascii() and w.isalpha() and len(w) > 2]
    assert len(words) > 4000
    assert not [word for word in words if stem(word) != stemmer.stem(word)]
