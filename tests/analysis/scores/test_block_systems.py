"""Systems with diagonal blocks: the solution and the volume of a dense method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from analysis.scores import block_systems
from analysis.stats.intervals import Floats


def system(items: int, raters: int, systems: int) -> tuple[sparse.csc_matrix, list[int]]:
    """Return the information of answers by raters about items, with a prior, and sizes of blocks.

    Every block is diagonal, as an answer has one system, one rater and one item.
    """
    chance = np.random.default_rng(0)
    answers = 6 * items
    sizes = [items, raters, systems]
    starts = np.cumsum([0, *sizes])
    columns = [chance.integers(size, size=answers) for size in np.diff(starts)]
    design = np.zeros((answers, starts[-1]))
    for start, column in zip(starts, columns, strict=False):
        design[np.arange(answers), start + column] = 1
    weight = chance.random(answers)[:, None]
    return sparse.csc_matrix(design.T @ (weight * design) + np.eye(starts[-1])), sizes


# Dense up to 600 equations, else with items eliminated; the last is left to gradients.
@pytest.mark.parametrize("of", [(40, 20, 3), (577, 20, 3), (578, 20, 3), (900, 620, 601)])
def test_the_solution_is_that_of_a_dense_method(of: tuple[int, int, int]) -> None:
    matrix, order = system(*of)
    right = np.random.default_rng(1).normal(size=(matrix.shape[0], 2))
    expected = np.linalg.solve(matrix.toarray(), right)
    assert block_systems.solve(matrix, right, order) == pytest.approx(expected, abs=1e-7)
    assert block_systems.solve(matrix, right[:, 0], order) == pytest.approx(
        expected[:, 0], abs=1e-7
    )
    assert block_systems.Factored(matrix, order).solve(right) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("of", [(200, 20, 3), (700, 20, 3), (900, 620, 3)])
def test_the_volume_is_that_of_a_dense_method(of: tuple[int, int, int]) -> None:
    matrix, sizes = system(*of)
    found = block_systems.Factored(matrix, sizes).log_det
    assert found == pytest.approx(np.linalg.slogdet(matrix.toarray())[1], rel=1e-12)


def within(groups: int, per_group: int, raters: int) -> tuple[sparse.csc_matrix, list[int]]:
    """Return the information of answers about items that are within groups, as of conversations."""
    chance = np.random.default_rng(2)
    item = np.repeat(np.arange(groups * per_group), 3)
    columns = [item, item // per_group, chance.integers(raters, size=len(item))]
    sizes = [groups * per_group, groups, raters]
    design = np.concatenate(
        [np.eye(size)[column] for size, column in zip(sizes, columns, strict=True)], axis=1
    )
    weight = chance.random(len(item))[:, None]
    return sparse.csc_matrix(design.T @ (weight * design) + np.eye(sum(sizes))), sizes


@pytest.mark.parametrize(
    "of", [system(40, 20, 3), system(700, 20, 3), within(60, 4, 30), within(120, 3, 5)]
)
def test_numbers_of_the_inverse_are_those_of_a_dense_method(
    of: tuple[sparse.csc_matrix, list[int]],
) -> None:
    factor = block_systems.Factored(*of)
    expected = np.linalg.inv(of[0].toarray())
    every = np.arange(len(expected))
    rows, columns = (each.ravel() for each in np.meshgrid(every, every))
    assert factor.entries(rows, columns) == pytest.approx(expected[rows, columns], abs=1e-12)
    assert factor.variances == pytest.approx(np.diag(expected), abs=1e-12)
    left = factor.eliminated
    assert factor.reach == pytest.approx(expected[:, left:], abs=1e-12)


@pytest.mark.parametrize("of", [(40, 3, 20), (900, 3, 620)])
def test_a_last_block_is_solved_for_by_gradients(of: tuple[int, int, int]) -> None:
    matrix, sizes = system(*of)
    right = np.random.default_rng(1).normal(size=(matrix.shape[0], 2))
    expected = np.linalg.solve(matrix.toarray(), right)
    known = block_systems.AllButLast(lambda: matrix, sizes)
    assert known.solve(right) == pytest.approx(expected, abs=1e-7)
    assert known.solve(right[:, 0]) == pytest.approx(expected[:, 0], abs=1e-7)


def test_a_last_block_that_gradients_do_not_reach_is_eliminated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matrix, sizes = system(200, 3, 100)
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    monkeypatch.setattr(block_systems, "STEPS", 2)
    expected = np.linalg.solve(matrix.toarray(), right)
    known = block_systems.AllButLast(lambda: matrix, sizes)
    assert known.solve(right) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_a_part_of_the_inverse_is_found_a_few_columns_at_a_time(count: int) -> None:
    matrix, sizes = system(40, 3, 20)
    positions = np.random.default_rng(1).permutation(matrix.shape[0])[:count]
    widths: list[int] = []

    def solve(right: Floats) -> Floats:
        widths.append(right.shape[1])
        return block_systems.solve(matrix, right, sizes)

    found = block_systems.inverse_at(solve, matrix.shape[0], positions)
    expected = np.linalg.inv(matrix.toarray())[np.ix_(positions, positions)]
    assert found == pytest.approx(expected, abs=1e-10)
    assert max(widths) <= block_systems.TOGETHER
    assert sum(widths) == count


def test_the_largest_block_comes_first_and_one_may_be_last() -> None:
    sizes = np.array([2, 1, 4])
    assert block_systems.largest_first(sizes) == [2, 0, 1]
    assert block_systems.largest_first(sizes, 2) == [0, 1, 2]


def test_a_pattern_mirrors_each_number_and_adds_a_diagonal() -> None:
    rows, columns = np.array([0, 1, 2, 1, 2]), np.array([0, 0, 2, 1, 1])
    pattern = block_systems.SymmetricPattern(rows, columns, 3)
    for start in (1.0, 5.0):
        a, b, c, d, e = numbers = start + np.arange(5.0)
        expected = [[a + 10, b, 0], [b, d + 20, e], [0, e, c + 30]]
        assert (
            pattern.matrix([numbers[:2], numbers[2:]], np.array([10.0, 20, 30])).toarray().tolist()
            == expected
        )


def test_what_gradients_do_not_reach_is_eliminated(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, sizes = system(900, 620, 601)
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    monkeypatch.setattr(block_systems, "STEPS", 2)
    expected = np.linalg.solve(matrix.toarray(), right)
    assert block_systems.solve(matrix, right, sizes) == pytest.approx(expected, abs=1e-9)


def test_a_block_whose_groups_meet_is_not_taken_for_a_diagonal() -> None:
    matrix, sizes = system(700, 20, 3)
    meeting = matrix.tolil()
    meeting[0, 1] = meeting[1, 0] = 0.1
    right = np.random.default_rng(1).normal(size=matrix.shape[0])
    expected = np.linalg.solve(meeting.toarray(), right)
    assert block_systems.solve(meeting.tocsc(), right, sizes) == pytest.approx(expected, abs=1e-9)
