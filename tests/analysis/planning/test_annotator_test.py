"""Alternative annotator test: the authors' figures, and its edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.planning.annotator_test import annotator_test, rejected

HUMANS = {
    f"r{r}": {
        f"i{i}": float(
            1 + (i * (3 + (r == 4)) + (i * i * (r + 2)) % (4 + r)) % 5
            if (i * 7 + r * 3) % 11 < 2 + r
            else 1 + (i * 3) % 5
        )
        for i in range(60)
        if (i + r) % 4
    }
    for r in range(5)
} | {"r9": {f"i{i}": 2.0 for i in range(12)}}
JUDGE = {f"i{i}": float(1 + (i * 3 + (i % 7 == 0) + 2 * (i % 5 == 1)) % 5) for i in range(58)}


@pytest.mark.parametrize(
    ("nominal", "epsilon", "winning_rate", "advantage", "p"),
    [
        (True, 0.1, 0.0, 0.7831923890063426,
         (0.8966628052341918, 0.5664026708707584, 0.14145278909384626, 0.17370751693443917,
          0.016200515487548722)),
        (True, 0.2, 0.2, 0.7831923890063426,
         (0.5432004368205745, 0.14631415903981548, 0.017593670568056333, 0.03212110256198364,
          0.0015595682455580614)),
        (False, 0.2, 0.0, 0.7325581395348837,
         (0.241349625205353, 0.11835461662774963, 0.19321799508278706, 0.22829197373934826,
          0.032262685951907934)),
    ],
)  # fmt: skip
def test_the_authors_procedure_gives_the_same(
    nominal: bool, epsilon: float, winning_rate: float, advantage: float, p: tuple[float, ...]
) -> None:
    """Figures of alt_test in alt_test_example.ipynb of github nitaytech/AltTest, scipy 1.17.1."""
    found = annotator_test(HUMANS, JUDGE, epsilon=epsilon, nominal=nominal)
    assert found.winning_rate == winning_rate
    assert found.advantage == pytest.approx(advantage, abs=1e-12)
    assert tuple(found.p.values()) == pytest.approx(p, abs=1e-12)
    assert found.skipped == ("r9",)
    assert not found.passes


def test_a_judge_who_says_what_all_say_passes_and_a_contrary_one_does_not() -> None:
    chance = np.random.default_rng(0)
    truth = {f"i{i}": float(i % 5) for i in range(40)}
    people = {
        f"r{r}": {item: value + float(chance.integers(-1, 2)) for item, value in truth.items()}
        for r in range(3)
    }
    assert annotator_test(people, truth).passes
    contrary = {item: 4 - value for item, value in truth.items()}
    assert annotator_test(people, contrary).winning_rate == 0


@pytest.mark.parametrize(("items", "defined"), [(29, False), (30, True), (31, True)])
def test_a_rater_needs_thirty_items_that_somebody_else_rated(items: int, defined: bool) -> None:
    judge = {f"i{i}": float(i % 3) for i in range(40)}
    people = {name: {f"i{i}": float(i % 2) for i in range(items)} for name in "ab"}
    found = annotator_test(people, judge)
    assert (not math.isnan(found.winning_rate)) is defined
    assert (found.skipped == ()) is defined


def test_false_discoveries_are_held_however_tests_depend() -> None:
    """Thresholds for 3 tests at 5 %: k/3 · .05 / (1 + 1/2 + 1/3)."""
    least = 0.05 / 3 / (1 + 1 / 2 + 1 / 3)
    assert rejected(np.array([least * 1.01, 1, 1]), 0.05) == 0
    assert rejected(np.array([least * 0.99, 1, 1]), 0.05) == 1
    assert rejected(np.array([2.9 * least] * 3), 0.05) == 3
    assert rejected(np.array([]), 0.05) == 0
