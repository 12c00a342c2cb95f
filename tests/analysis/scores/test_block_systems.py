"""Systems with diagonal blocks: the solution and the volume of a dense method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from analysis.scores import block_systems


def system(systems: int, raters: int, items: int) -> tuple[sparse.csc_matrix, np.ndarray]:
    """Return the information of answers by raters about items, with a prior, and where blocks are.

    Every block is diagonal, as an answer has one system, one rater and one item.
    """
    chance = np.random.default_rng(0)
    answers = 6 * items
    starts = np.cumsum([0, systems, raters, items])
    columns = [chance.integers(size, size=answers) for size in np.diff(starts)]
    design = np.zeros((answers, starts[-1]))
    for start, column in zip(starts, columns, strict=False):
        design[np.arange(answers), start + column] = 1
    weight = chance.random(answers)[:, None]
    return sparse.csc_matrix(design.T @ (weight * design) + np.eye(starts[-1])), starts


@pytest.mark.parametrize("items", [40, 500])
def test_the_solution_is_that_of_a_dense_method(items: int) -> None:
    matrix, starts = system(3, 20, items)
    right = np.random.default_rng(1).normal(size=(matrix.shape[0], 2))
    order = block_systems.largest_first(starts)
    expected = np.linalg.solve(matrix.toarray(), right)
    assert block_systems.solve(matrix, right, order) == pytest.approx(expected, abs=1e-7)
    assert block_systems.solve(matrix, right[:, 0], order) == pytest.approx(
        expected[:, 0], abs=1e-7
    )
    assert block_systems.Factored(matrix, order).solve(right) == pytest.approx(expected, abs=1e-9)


def test_the_volume_is_that_of_a_dense_method() -> None:
    matrix, starts = system(3, 20, 200)
    found = block_systems.Factored(matrix, block_systems.largest_first(starts)).log_det
    assert found == pytest.approx(np.linalg.slogdet(matrix.toarray())[1], rel=1e-12)


def test_the_largest_block_comes_first() -> None:
    assert block_systems.largest_first(np.array([0, 2, 3, 7])).tolist() == [3, 4, 5, 6, 0, 1, 2]


def test_a_pattern_mirrors_each_number_and_adds_a_diagonal() -> None:
    rows, columns = np.array([0, 1, 2, 1, 2]), np.array([0, 0, 2, 1, 1])
    pattern = block_systems.SymmetricPattern(rows, columns, 3)
    for start in (1.0, 5.0):
        a, b, c, d, e = numbers = start + np.arange(5.0)
        expected = [[a + 10, b, 0], [b, d + 20, e], [0, e, c + 30]]
        assert pattern.matrix(numbers, np.array([10.0, 20, 30])).toarray().tolist() == expected


def test_what_gradients_do_not_reach_is_eliminated(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, starts = system(3, 20, 500)
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    order = block_systems.largest_first(starts)
    monkeypatch.setattr(block_systems, "STEPS", 2)
    expected = np.linalg.solve(matrix.toarray(), right)
    assert block_systems.solve(matrix, right, order) == pytest.approx(expected, abs=1e-9)
