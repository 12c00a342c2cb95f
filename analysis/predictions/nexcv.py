"""NEXCV (M-NEXCV): cross-validation of a question classifier with plausible negatives.

Source: the nex-cv paper of NLP4CONVAI 2019 (metrics.md, section 11). Small labels, by the setting
those seen fewer than K times, or from the rarest up while they hold a smaller share of examples
than P, are split as labels: one part trains as it is, the other is tested as negative, where the
right answer is none. Every other label is split by its examples, so that it is in both parts. A
guess below the threshold is no answer; carefulness is the share of the no-answer cases in which
the guess would have been wrong. Its text says that about t of the data is in training; it must mean
testing. Left open, and ours: F1 is the mean over labels, none among them; the automation rate is
the share of test questions that get an answer.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.arguments import nexcv as parser

Labels = Sequence[str]
Classify = Callable[[Sequence[int], Sequence[int]], tuple[Labels, Sequence[float]]]
NONE = ""  # the right answer to a negative, and what a guess below the threshold says


@dataclass(frozen=True)
class SmallLabels:
    """The definition of small labels: seen fewer than `k` times, or the rarest, of share `p`."""

    k: int = 0
    p: float = 0.0

    def __post_init__(self) -> None:
        if self.k < 0 or not 0 <= self.p < 1:
            raise ValueError(f"K is {self.k} and P {self.p}, but must be K >= 0 and 0 <= P < 1")
        if self.k and self.p:
            raise ValueError(f"K is {self.k} and P {self.p}, but one of them must be 0")


SETTINGS = (SmallLabels(), SmallLabels(p=0.15), SmallLabels(k=5))


@dataclass(frozen=True)
class TrainTestSplit:
    """Places of examples to train on and to test on; of the latter those whose answer is none."""

    train: tuple[int, ...]
    test: tuple[int, ...]
    negative: frozenset[int]


@dataclass(frozen=True)
class Guess:
    """One test question: the right answer, the classifier's guess, and how sure it was of it."""

    right: str
    guess: str
    confidence: float
    repeat: int


def small(labels: Labels, setting: SmallLabels) -> set[str]:
    """Return the labels that are small; equally rare ones are taken by name."""
    counted = Counter(labels)
    if setting.k:
        return {label for label, times in counted.items() if times < setting.k}
    found: set[str] = set()
    held = 0
    for label in sorted(counted, key=lambda label: (counted[label], label)):
        if held >= setting.p * len(labels):
            break
        found.add(label)
        held += counted[label]
    return found


def split(
    labels: Labels, setting: SmallLabels, share: float, chance: np.random.Generator
) -> TrainTestSplit:
    """Split once; `share` of every part is tested, at least one example of a label with two."""
    rare = sorted(small(labels, setting))
    drawn = chance.permutation(rare).tolist()
    negative = set(drawn[: round(share * len(rare))])
    train: list[int] = []
    test: list[int] = []
    for label in sorted(set(labels)):
        indices = [index for index, each in enumerate(labels) if each == label]
        if label in negative:
            test += indices
        elif label in rare:
            train += indices
        else:
            number = max(1, round(share * len(indices))) if len(indices) > 1 else 0
            mixed = chance.permutation(indices).tolist()
            test += mixed[:number]
            train += mixed[number:]
    wrong = frozenset(index for index in test if labels[index] in negative)
    return TrainTestSplit(tuple(sorted(train)), tuple(sorted(test)), wrong)


def splits(
    labels: Labels, setting: SmallLabels, seed: int, repeats: int = 5, share: float = 0.2
) -> Iterator[TrainTestSplit]:
    """Yield splits that may overlap; the paper takes 5, and 10 for daily monitoring."""
    chance = np.random.default_rng(seed)
    for _ in range(repeats):
        yield split(labels, setting, share, chance)


def guesses(labels: Labels, classify: Classify, parts: Sequence[TrainTestSplit]) -> list[Guess]:
    """Train and test on every part; `classify` gets places to train on and places to test on.

    Of few examples a part may have none to test, which then says nothing.
    """
    found: list[Guess] = []
    for repeat, part in enumerate(parts):
        if not part.test:
            continue
        named, sure = classify(part.train, part.test)
        for index, guess, confidence in zip(part.test, named, sure, strict=True):
            right = NONE if index in part.negative else labels[index]
            found.append(Guess(right, str(guess), float(confidence), repeat))
    return found


def answer(guess: Guess, threshold: float) -> str:
    """Return what is answered: the guess, or none below the threshold."""
    return guess.guess if guess.confidence >= threshold else NONE


def summary(found: Sequence[Guess], threshold: float = 0.5) -> dict[str, float]:
    """Return accuracy, F1, carefulness and automation rate; what nothing says of is NaN."""
    answers = [answer(each, threshold) for each in found]
    silent = [each for each, answered in zip(found, answers, strict=True) if answered == NONE]
    right = [answered == each.right for each, answered in zip(found, answers, strict=True)]
    stopped = [each.guess != each.right for each in silent]
    return {
        "accuracy": _mean(right),
        "f1": _f1([each.right for each in found], answers),
        "carefulness": _mean(stopped),
        "automation": _mean([answered != NONE for answered in answers]),
        "n": float(len(found)),
    }


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _f1(right: Labels, answers: Labels) -> float:
    """Return the mean over labels of 2 TP / (2 TP + FP + FN)."""
    hit = Counter(one for one, other in zip(right, answers, strict=True) if one == other)
    total = Counter(right) + Counter(answers)
    return float(np.mean([2 * hit[label] / total[label] for label in total])) if total else np.nan


def confusion(found: Sequence[Guess], threshold: float = 0.5) -> pd.DataFrame:
    """Return how often each right answer (row) got each answer (column), over all repeats."""
    rows = [each.right or "(none)" for each in found]
    columns = [answer(each, threshold) or "(none)" for each in found]
    return pd.crosstab(pd.Series(rows, name="right"), pd.Series(columns, name="answer"))


def confused(found: Sequence[Guess], most: int = 3, threshold: float = 0.5) -> pd.DataFrame:
    """Return the pairs of labels most often taken for each other, either way."""
    counted = Counter((each.right, answer(each, threshold)) for each in found)
    names = sorted({name for pair in counted for name in pair} - {NONE})
    pairs = [(a, b, counted[a, b] + counted[b, a]) for a, b in combinations(names, 2)]
    top = sorted((each for each in pairs if each[2]), key=lambda each: -each[2])[:most]
    return pd.DataFrame(top, columns=["one", "other", "times"])


def table(
    labels: Labels, classify: Classify, seed: int, repeats: int = 5, threshold: float = 0.5
) -> pd.DataFrame:
    """Return a row for each of the paper's settings."""
    rows = []
    for setting in SETTINGS:
        begun = time.perf_counter()
        found = guesses(labels, classify, list(splits(labels, setting, seed, repeats)))
        seconds = time.perf_counter() - begun
        rows.append({"K": setting.k, "P": setting.p, **summary(found, threshold), "s": seconds})
    return pd.DataFrame(rows)


def compared(
    labels: Labels,
    one: Classify,
    other: Classify,
    seed: int,
    repeats: int = 5,
    threshold: float = 0.5,
) -> pd.DataFrame:
    """Return a row for each setting: two classifiers' accuracy on the same splits.

    one_wins, other_wins: of the splits, those on which it is ahead. Splits overlap, so that no
    test of the difference is given.
    """
    rows = []
    for setting in SETTINGS:
        parts = list(splits(labels, setting, seed, repeats))
        ones, others = (_accuracies(labels, each, parts, threshold) for each in (one, other))
        gaps = ones - others
        rows.append(
            {
                "K": setting.k,
                "P": setting.p,
                "one": ones.mean(),
                "other": others.mean(),
                "difference": gaps.mean(),
                "one_wins": int((gaps > 0).sum()),
                "other_wins": int((gaps < 0).sum()),
                "splits": len(gaps),
            }
        )
    return pd.DataFrame(rows)


def _accuracies(
    labels: Labels, classify: Classify, parts: Sequence[TrainTestSplit], threshold: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the accuracy on each split."""
    found = guesses(labels, classify, parts)
    of_each = [[each for each in found if each.repeat == repeat] for repeat in range(len(parts))]
    return np.array([summary(one, threshold)["accuracy"] for one in of_each])


def word_classifier(texts: Sequence[str], labels: Labels) -> Classify:
    """Return the paper's kind of classifier over words: L2 logistic regression on tf-idf."""
    return _regression(texts, labels, analyzer="word")


def character_classifier(texts: Sequence[str], labels: Labels) -> Classify:
    """Return the same over runs of 2 to 4 characters within words, which spelling harms less."""
    return _regression(texts, labels, analyzer="char_wb", ngram_range=(2, 4))


CLASSIFIERS: dict[str, Callable[[Sequence[str], Labels], Classify]] = {
    "words": word_classifier,
    "characters": character_classifier,
}


def _regression(texts: Sequence[str], labels: Labels, **counted: Any) -> Classify:
    """Return L2 logistic regression on tf-idf of what a vectorizer of scikit-learn counts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    def classify(train: Sequence[int], test: Sequence[int]) -> tuple[Labels, Sequence[float]]:
        weights = LogisticRegression(C=100, max_iter=1000)
        fitted = make_pipeline(TfidfVectorizer(**counted), weights)
        fitted.fit([texts[index] for index in train], [labels[index] for index in train])
        sure = fitted.predict_proba([texts[index] for index in test])
        return fitted.classes_[sure.argmax(axis=1)].tolist(), sure.max(axis=1).tolist()

    return classify


def main(arguments: Sequence[str]) -> int:
    """Print the table of a file's questions, and the labels most confused at (0, .15).

    With a second classifier also how the two do on the same splits.
    """
    options = parser().parse_args(arguments)
    try:
        texts, labels = read_labeled(options.file)
    except (OSError, ValueError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2
    classify = CLASSIFIERS[options.classifier](texts, labels)
    print(table(labels, classify, options.seed, options.repeats).round(3).to_string(index=False))
    parts = list(splits(labels, SETTINGS[1], options.seed, options.repeats))
    print("\nmost frequent confusions at (0, 0.15):")
    mistaken = confused(guesses(labels, classify, parts))
    print(mistaken.to_string(index=False) if len(mistaken) else "none")
    if options.beside:
        other = CLASSIFIERS[options.beside](texts, labels)
        found = compared(labels, classify, other, options.seed, options.repeats)
        print(
            f"\naccuracy of {options.classifier} (one) and {options.beside} (other), same splits:"
        )
        print(found.round(3).to_string(index=False))
    return 0


def read_labeled(path: Path) -> tuple[list[str], list[str]]:
    """Return texts and labels, or raise ValueError with every bad line."""
    found, problems = [], []
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            text, label = record["text"], record["label"]
            if not (isinstance(text, str) and isinstance(label, str) and text and label):
                raise ValueError
            found.append((text, label))
        except (ValueError, KeyError, TypeError, RecursionError):
            problems.append(f"line {number} must be an object with text and label, both texts")
    if len({label for _, label in found}) < 2:
        problems.append("there must be at least two labels")
    elif len({label for _, label in found}) == len(found):
        problems.append("there must be a label with two examples, of which one is tested")
    if problems:
        raise ValueError("\n".join(problems))
    return [text for text, _ in found], [label for _, label in found]
