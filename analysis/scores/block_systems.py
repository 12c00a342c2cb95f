"""Block systems: symmetric positive equations of a model with effects of many groups.

Groups of one effect meet each other in no answer, so an effect's block is diagonal. Eliminating the
largest blocks first leaves the others sparse, and where only a solution is needed, conjugate
gradients scaled by the diagonal need no elimination (Golub & Van Loan 2013, Matrix Computations,
4th ed., section 11.3). Apart because it is linear algebra that knows no ratings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from analysis.stats.intervals import Floats

# Up to so many columns elimination is quicker.
FEW = 300
CLOSE = 1e-9
STEPS = 10_000
TINY = np.finfo(float).tiny


def largest_first(starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns block by block, the largest block first; blocks begin at `starts`."""
    order = np.argsort(-np.diff(starts), kind="stable")
    return np.concatenate([np.arange(starts[k], starts[k + 1]) for k in order])


class Factored:
    """A factor of a matrix whose columns are eliminated in the order given."""

    def __init__(self, matrix: sparse.csc_matrix, order: NDArray[np.intp]) -> None:
        self.order = order
        self.factor = splu(
            matrix[order][:, order].tocsc(),
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    @property
    def log_det(self) -> float:
        """Return the logarithm of the determinant."""
        return float(np.log(np.abs(self.factor.U.diagonal())).sum())

    def solve(self, right: Floats) -> Floats:
        """Return what the matrix times gives `right`, a vector or columns."""
        found = np.empty_like(right)
        found[self.order] = self.factor.solve(right[self.order])
        return found


def solve(matrix: sparse.csc_matrix, right: Floats, order: NDArray[np.intp]) -> Floats:
    """Return what the matrix times gives `right`, a vector or columns."""
    if matrix.shape[0] <= FEW:
        return Factored(matrix, order).solve(right)
    found = _by_gradients(matrix, right)
    return Factored(matrix, order).solve(right) if found is None else found


def _by_gradients(matrix: sparse.csc_matrix, right: Floats) -> Floats | None:
    """Return the solution, of all columns at once; None where some column does not come close."""
    rows = matrix.T  # the same matrix, as it is symmetric, and rows multiply faster than columns
    scale = (1 / matrix.diagonal()).reshape(-1, *[1] * (right.ndim - 1))
    found, left = np.zeros_like(right), right.copy()
    along = scale * left
    was, limit = _products(left, along), CLOSE**2 * _products(right, right)
    for _ in range(STEPS):
        if (_products(left, left) <= limit).all():
            return found
        ahead = rows @ along
        step = was / np.maximum(_products(along, ahead), TINY)
        found += step * along
        left -= step * ahead
        scaled = scale * left
        now = _products(left, scaled)
        along = scaled + now / np.maximum(was, TINY) * along
        was = now
    return None


def _products(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("i...,i...->...", one, other))


class SymmetricPattern:
    """Places of a symmetric matrix whose numbers change; each is named once, and mirrored.

    Those of the diagonal must all be among them.
    """

    def __init__(self, rows: NDArray[np.intp], columns: NDArray[np.intp], size: int) -> None:
        mirrored = np.flatnonzero(rows != columns)
        down = np.concatenate([rows, columns[mirrored]])
        across = np.concatenate([columns, rows[mirrored]])
        order = np.lexsort((down, across))
        self.taken = np.concatenate([np.arange(len(rows)), mirrored])[order].astype(np.int32)
        self.down = down[order].astype(np.int32)
        counts = np.bincount(across, minlength=size)
        self.ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.diagonal = np.flatnonzero(down[order] == across[order])

    def matrix(self, numbers: Floats, diagonal: Floats) -> sparse.csc_matrix:
        """Return the matrix of these numbers, with the others added to its diagonal."""
        found = numbers[self.taken]
        found[self.diagonal] += diagonal
        size = len(self.ends) - 1
        return sparse.csc_matrix((found, self.down, self.ends), shape=(size, size))
