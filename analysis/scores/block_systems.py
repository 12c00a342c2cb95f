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
from scipy.sparse.linalg import cg, splu

from analysis.stats.intervals import Floats

# Up to so many columns elimination is quicker.
FEW = 300
CLOSE = 1e-9


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
    rows, scale = matrix.tocsr(), sparse.diags(1 / matrix.diagonal())
    columns = right.reshape(len(right), -1).T
    found = [cg(rows, column, rtol=CLOSE, M=scale) for column in columns]
    if any(failed for _, failed in found):
        return Factored(matrix, order).solve(right)
    return np.stack([column for column, _ in found], axis=1).reshape(right.shape)
