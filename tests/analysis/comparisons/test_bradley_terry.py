"""Bradley-Terry against Agresti's book, evalica and choix, and against what was planted."""

from __future__ import annotations

import json

import choix
import numpy as np
import pandas as pd
import pytest

from analysis.comparisons.bradley_terry import PairCounts, cycles, fit, undefined
from analysis.comparisons.preferences import Compared
from tests.analysis.examples import SHARED
from tests.analysis.matrices import against

GOLDEN = SHARED / "pairwise_golden" / "golden.json"
VOTES = SHARED / "llmfao_pairwise"


def counts(won: np.ndarray, lost: np.ndarray, tied: np.ndarray | None = None) -> PairCounts:
    return PairCounts(won, np.zeros_like(won) if tied is None else tied, lost)


@pytest.mark.skipif(not GOLDEN.is_file(), reason="shared/data/pairwise_golden is not here")
@pytest.mark.parametrize(("order", "key"), [(False, "no_home"), (True, "with_home")])
def test_baseball_of_1987_with_and_without_home_advantage(order: bool, key: str) -> None:
    example = json.loads(GOLDEN.read_text())[0]
    names = sorted({game[0] for game in example["games"]})
    won, lost = np.zeros((7, 7)), np.zeros((7, 7))
    for home, away, wins, losses in example["games"]:
        won[names.index(home), names.index(away)] += wins
        lost[names.index(home), names.index(away)] += losses
    found = fit(counts(won, lost), order=order)
    mean, se = against(found, names.index("Baltimore"))
    for k, name in enumerate(names):
        assert (mean[k], se[k]) == pytest.approx(example["computed"][key][name], abs=1e-4)
    if order:
        assert found.first == pytest.approx(example["published"]["home_advantage"], abs=5e-4)
        assert found.first_se == pytest.approx(0.1309, abs=1e-4)


@pytest.mark.skipif(not GOLDEN.is_file(), reason="shared/data/pairwise_golden is not here")
def test_citations_of_statistics_journals() -> None:
    example = json.loads(GOLDEN.read_text())[1]
    matrix = np.array(example["matrix"], dtype=float)
    np.fill_diagonal(matrix, 0)
    mean, se = against(fit(counts(matrix, np.zeros_like(matrix))), 0)
    for k, name in enumerate(example["journals"]):
        assert (mean[k], se[k]) == pytest.approx(example["computed"][name], abs=1e-4)


@pytest.mark.skipif(not VOTES.is_dir(), reason="shared/data/llmfao_pairwise is not here")
def test_votes_on_59_models_get_the_scores_evalica_prints() -> None:
    votes = pd.read_csv(VOTES / "crowd-comparisons.csv")
    expected = pd.read_csv(VOTES / "expected_scores.csv")
    scores = expected[expected["algorithm"] == "bradley_terry"].set_index("item")["score"]
    names = sorted(set(votes["left"]) | set(votes["right"]))
    place = {name: k for k, name in enumerate(names)}
    outcomes = []
    for winner in ("left", "tie", "right"):
        rows = votes[votes["winner"] == winner]
        table = np.zeros((len(names), len(names)))
        np.add.at(table, (rows["left"].map(place), rows["right"].map(place)), 1)
        outcomes.append(table)
    found = fit(PairCounts(*outcomes).halved())
    for name in names:
        assert found.shares[place[name]] == pytest.approx(scores[name], abs=1e-9)
    assert names[int(found.shares.argmax())] == "GPT 4"


def test_random_tables_agree_with_choix() -> None:
    chance = np.random.default_rng(3)
    for _ in range(50):
        size = int(chance.integers(3, 8))
        won = chance.integers(0, 6, (size, size)).astype(float)
        np.fill_diagonal(won, 0)
        given = counts(won, np.zeros_like(won))
        if undefined(given) is None:
            data = [(i, j) for i in range(size) for j in range(size) for _ in range(int(won[i, j]))]
            other = choix.ilsr_pairwise(size, data, tol=1e-12)
            assert fit(given).mean == pytest.approx(other - other.mean(), abs=1e-8)


def test_wikipedias_example() -> None:
    """en.wikipedia.org/wiki/Bradley-Terry_model: wins of the row over the column, A to D."""
    won = np.array([[0, 2, 0, 1], [3, 0, 5, 0], [0, 3, 0, 1], [4, 0, 3, 0]], dtype=float)
    found = np.exp(fit(counts(won, np.zeros((4, 4)))).mean)
    assert found == pytest.approx([0.640, 1.043, 0.660, 2.270], abs=5e-4)


def test_a_vote_is_counted_once_wherever_it_stands() -> None:
    """More votes than one piece holds."""
    chance = np.random.default_rng(9)
    first, second, outcome = (chance.integers(size, size=100_000) for size in (3, 3, 3))
    found = Compared(
        tuple("abc"), first, second, outcome.astype(np.int8), *np.zeros((2, 100_000), dtype=int)
    )
    for code, table in zip((2, 1, 0), found.counts(), strict=True):
        expected = np.zeros((3, 3))
        np.add.at(expected, (first[outcome == code], second[outcome == code]), 1)
        assert table.tolist() == expected.tolist()


def test_ties_and_the_first_place_come_back() -> None:
    """Davidson's model with 60,000 comparisons: abilities, nu and the advantage are found."""
    chance = np.random.default_rng(4)
    truth = np.array([-0.6, -0.1, 0.2, 0.5])
    nu, first = 0.8, 0.3
    outcomes = [np.zeros((4, 4)) for _ in range(3)]
    for a, b in [(a, b) for a in range(4) for b in range(4) if a != b]:
        raised = np.exp(
            [truth[a] + first, np.log(nu) + (truth[a] + truth[b] + first) / 2, truth[b]]
        )
        for table, count in zip(
            outcomes, chance.multinomial(5000, raised / raised.sum()), strict=True
        ):
            table[a, b] = count
    found = fit(PairCounts(*outcomes), order=True)
    assert found.mean == pytest.approx(truth - truth.mean(), abs=0.05)
    assert found.tie == pytest.approx(nu, abs=0.05)
    assert found.first == pytest.approx(first, abs=0.05)


def test_no_finite_abilities_have_a_reason() -> None:
    never = np.array([[0, 5, 5], [0, 0, 2], [0, 2, 0]], dtype=float)
    assert "won, or lost, every comparison" in str(undefined(counts(never, np.zeros((3, 3)))))
    apart = np.zeros((4, 4))
    apart[0, 1] = apart[1, 0] = apart[2, 3] = apart[3, 2] = 1
    assert "2 groups" in str(undefined(counts(apart, np.zeros((4, 4)))))


def test_a_circle_is_shown_once() -> None:
    wins = np.array([[0, 3, 1], [1, 0, 3], [3, 1, 0]], dtype=float)
    assert cycles(wins) == [(0, 1, 2)]
    assert cycles(np.triu(np.ones((4, 4)), 1)) == []
