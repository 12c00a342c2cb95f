"""Block systems: symmetric positive equations of a model with effects of many groups.

Groups of one effect meet each other in no answer, so an effect's block is diagonal. Eliminating the
largest blocks first leaves few equations, which are solved as they are (Golub & Van Loan 2013,
Matrix Computations, 4th ed., sections 3.2 and 4.2). Where many are left and only a solution is
needed, conjugate gradients scaled by the diagonal need no elimination (section 11.3), and a dozen
steps do where all but one block are eliminated. Apart because it is linear algebra that knows no
ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from analysis.stats.intervals import Floats

Positions = NDArray[np.intp]
# So few equations are not worth eliminating a block.
FEW = 100
# So many equations at most are solved without a thought of their zeros.
DENSE = 600
# And so many where their inverse is asked for.
MOST_DENSE = 1500
# Columns that are solved together: more need not be held at once.
TOGETHER = 4
CLOSE = 1e-9
# Of an inverse: its diagonal is off by the square of this only, as what is left of a solution is
# orthogonal to it.
CLOSE_INVERSE = 1e-6
STEPS = 10_000
TINY = np.finfo(float).tiny


def largest_first(sizes: NDArray[np.intp], last: int | None = None) -> list[int]:
    """Return the blocks of these sizes, the largest first; one may be left for last."""
    order = np.argsort(-sizes, kind="stable").tolist()
    return order if last is None else [*(k for k in order if k != last), last]


@dataclass(frozen=True, eq=False)
class _Eliminated:
    """A diagonal block that was eliminated: what it is divided by, and what the rest has of it."""

    across: sparse.csc_matrix
    diagonal: Floats
    shares: sparse.csc_matrix
    """`across` over the diagonal, column by column."""

    def forward(self, right: Any) -> tuple[Any, Any]:
        """Return what is the block's of columns, dense or sparse, and what is left of the rest."""
        own = right[: len(self.diagonal)]
        return own, right[len(self.diagonal) :] - self.shares @ own

    def backward(self, own: Floats, rest: Floats) -> Floats:
        below = self.diagonal.reshape(-1, *[1] * (own.ndim - 1))
        return np.concatenate([own / below - self.shares.T @ rest, rest])

    def spread(self, columns: Positions) -> tuple[Positions, Positions, Floats]:
        """Return what the rest has of columns: whose of them, where, and how much."""
        ends = self.shares.indptr.astype(np.intp)
        count = ends[columns + 1] - ends[columns]
        owner = np.repeat(np.arange(len(columns)), count)
        entry = np.arange(len(owner)) + (ends[columns] - np.cumsum(count) + count)[owner]
        return owner, self.shares.indices[entry], self.shares.data[entry]


class Factored:
    """A factor of a matrix whose blocks have these sizes, the largest first."""

    def __init__(
        self, matrix: sparse.csc_matrix, sizes: Sequence[int], *, dense: int = DENSE
    ) -> None:
        self.blocks: list[_Eliminated] = []
        for size in sizes:
            if matrix.shape[0] <= FEW or not _is_diagonal(matrix, size):
                break
            block = _first(matrix, size)
            self.blocks.append(block)
            matrix = matrix[size:, size:] - block.shares @ block.across.T
        self.is_dense = matrix.shape[0] <= dense
        if self.is_dense:
            self.root = linalg.cholesky(matrix.toarray(), lower=True, check_finite=False)
        else:
            self.factor = splu(
                matrix.tocsc(),
                permc_spec="NATURAL",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )

    @property
    def log_det(self) -> float:
        """Return the logarithm of the determinant."""
        known = sum(float(np.log(block.diagonal).sum()) for block in self.blocks)
        if self.is_dense:
            return known + 2 * float(np.log(np.diag(self.root)).sum())
        return known + float(np.log(np.abs(self.factor.U.diagonal())).sum())

    def entries(self, rows: Positions, columns: Positions) -> Floats:
        """Return the inverse's numbers at these places; of dense rests only.

        Places that the matrix has are found fast, as what they rest on is what was eliminated with
        them (Takahashi, Fagan & Chen 1973; Erisman & Tinney 1975, Communications of the ACM 18,
        177-179).
        """
        return self._entries(0, 0, np.minimum(rows, columns), np.maximum(rows, columns))

    def _entries(self, depth: int, first: int, low: Positions, high: Positions) -> Floats:
        """Return the same, both counted from the first equation of a block; `low` is not above."""
        if depth == len(self.blocks) or not len(low):
            return np.asarray(self.inverse[low, high])
        size, core = len(self.blocks[depth].diagonal), self.eliminated - first
        found = np.empty(len(low))
        is_of_rest, is_of_core = low >= size, high >= core
        is_own = (low == high) & ~is_of_rest
        other = ~(is_of_rest | is_of_core | is_own)
        found[is_of_core] = self.reach[low[is_of_core] + first, high[is_of_core] - core]
        if is_own.any():
            found[is_own] = self._variances(depth, first)[low[is_own]]
        beyond = is_of_rest & ~is_of_core
        found[beyond] = self._entries(
            depth + 1, first + size, low[beyond] - size, high[beyond] - size
        )
        found[other] = -self._across(depth, first, low[other], high[other])
        return found

    def _across(self, depth: int, first: int, low: Positions, high: Positions) -> Floats:
        """Return the sum of what the rest has of `low`, each times the inverse there."""
        block = self.blocks[depth]
        size = len(block.diagonal)
        owner, rest, shares = block.spread(low)
        if not len(rest):
            return np.zeros(len(low))
        at, to = rest + size, high[owner]
        values = self._entries(depth, first, np.minimum(at, to), np.maximum(at, to))
        return np.asarray(np.bincount(owner, values * shares, len(low)), dtype=float)

    def _variances(self, depth: int, first: int) -> Floats:
        """Return the diagonal of the inverse where a block is."""
        if depth not in self._own:
            block = self.blocks[depth]
            every = np.arange(len(block.diagonal))
            owner, rest, shares = block.spread(every)
            met = self._entries(depth, first, owner, rest + len(every))
            self._own[depth] = 1 / block.diagonal - np.bincount(owner, met * shares, len(every))
        return self._own[depth]

    @cached_property
    def _own(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def variances(self) -> Floats:
        """The diagonal of the inverse, of dense rests only."""
        every = np.arange(self.eliminated + len(self.root))
        return self.entries(every, every)

    @cached_property
    def reach(self) -> Floats:
        """The inverse's columns of the equations that are left, of dense rests only."""
        at = self.eliminated
        found = np.empty((at + len(self.root), len(self.root)))
        found[at:] = self.inverse
        for block in reversed(self.blocks):
            first = at - len(block.diagonal)
            np.negative(block.shares.T @ found[at:], out=found[first:at])
            at = first
        return found

    @property
    def eliminated(self) -> int:
        """Return the equations that were eliminated before the rest."""
        return sum(len(block.diagonal) for block in self.blocks)

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of what is left, of dense rests only."""
        unit = np.eye(len(self.root))
        return np.asarray(linalg.cho_solve((self.root, True), unit, check_finite=False))

    def solve(self, right: Floats) -> Floats:
        """Return what the matrix times gives `right`, a vector or columns."""
        owns = []
        for block in self.blocks:
            own, right = block.forward(right)
            owns.append(own)
        found: Floats = (
            linalg.cho_solve((self.root, True), right, check_finite=False)
            if self.is_dense
            else self.factor.solve(right)
        )
        for block, own in zip(reversed(self.blocks), reversed(owns), strict=True):
            found = block.backward(own, found)
        return found


def _is_diagonal(matrix: sparse.csc_matrix, size: int) -> bool:
    """Tell whether the first columns meet each other on the diagonal only."""
    within = matrix.indices[: matrix.indptr[size]] < size
    return int(within.sum()) == size


def _first(matrix: sparse.csc_matrix, size: int) -> _Eliminated:
    """Return the first block of a matrix, apart from what is left below it."""
    end = matrix.indptr[size]
    rows, numbers = matrix.indices[:end], matrix.data[:end]
    below = rows >= size
    column = np.repeat(np.arange(size, dtype=rows.dtype), np.diff(matrix.indptr[: size + 1]))
    diagonal = np.empty(size)
    diagonal[column[~below]] = numbers[~below]
    ends = np.concatenate([[0], np.cumsum(np.bincount(column[below], minlength=size))])
    shape, positions = (matrix.shape[0] - size, size), (rows[below] - size, ends.astype(rows.dtype))
    across = sparse.csc_matrix((numbers[below], *positions), shape=shape)
    shares = sparse.csc_matrix((numbers[below] / diagonal[column[below]], *positions), shape=shape)
    return _Eliminated(across, diagonal, shares)


def solve(matrix: sparse.csc_matrix, right: Floats, sizes: Sequence[int]) -> Floats:
    """Return what the matrix times gives `right`, a vector or columns."""
    if sum(sizes[2:]) <= DENSE:
        return Factored(matrix, sizes).solve(right)
    rows = matrix.T  # the same matrix, as it is symmetric, and rows multiply faster than columns
    found = _by_gradients(lambda along: rows @ along, matrix.diagonal(), right)
    return Factored(matrix, sizes).solve(right) if found is None else found


class AllButLast:
    """A matrix whose blocks but the last are eliminated; what is left is solved by gradients.

    For a last block that every other meets at random, as raters meet items: what they share is then
    little beside what each has of its own, and the steps are few. `make` gives the matrix, which is
    not held: it is larger than all that is made of it.
    """

    def __init__(self, make: Callable[[], sparse.csc_matrix], sizes: Sequence[int]) -> None:
        self.make, self.sizes = make, sizes
        matrix = make()
        self.inner = inner = matrix.shape[0] - sizes[-1]
        self.own, self.across = matrix[inner:, inner:], matrix[:inner, inner:].T
        others = matrix[:inner, :inner]
        del matrix
        self.rest = Factored(others, sizes[:-1])

    def solve(self, right: Floats, close: float = CLOSE) -> Floats:
        """Return what the matrix times gives `right`, a vector or columns, to this share of it."""
        inner, rest, across = self.inner, self.rest, self.across

        def times(along: Floats) -> Floats:
            return np.asarray(self.own @ along - across @ rest.solve(across.T @ along))

        left = right[inner:] - across @ rest.solve(right[:inner])
        found = _by_gradients(times, self.own.diagonal(), left, close)
        if found is None:
            return Factored(self.make(), self.sizes).solve(right)
        return np.concatenate([rest.solve(right[:inner] - across.T @ found), found])


def inverse_at(solve: Callable[[Floats], Floats], size: int, positions: Positions) -> Floats:
    """Return rows and columns of the inverse that `solve` applies, a few columns at a time."""
    found = np.empty((len(positions), len(positions)))
    for at in range(0, len(positions), TOGETHER):
        some = positions[at : at + TOGETHER]
        unit = np.zeros((size, len(some)))
        unit[some, np.arange(len(some))] = 1
        found[:, at : at + TOGETHER] = solve(unit)[positions]
    return found


def _by_gradients(
    times: Callable[[Floats], Floats], diagonal: Floats, right: Floats, close: float = CLOSE
) -> Floats | None:
    """Return the solution, of all columns at once; None where some column does not come close."""
    scale = (1 / diagonal).reshape(-1, *[1] * (right.ndim - 1))
    found, left = np.zeros_like(right), right.copy()
    along = scale * left
    was, limit = _products(left, along), close**2 * _products(right, right)
    for _ in range(STEPS):
        if (_products(left, left) <= limit).all():
            return found
        ahead = times(along)
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

    def __init__(self, rows: NDArray[np.integer], columns: NDArray[np.integer], size: int) -> None:
        self.count = len(rows)
        numbered = np.arange(1, self.count + 1, dtype=np.int32)
        once = sparse.coo_array((numbered, (rows, columns)), shape=(size, size)).tocsr()
        both = once + once.T
        self.down, self.ends = both.indices, both.indptr
        column = np.repeat(np.arange(size, dtype=np.int32), np.diff(self.ends))
        self.diagonal = np.flatnonzero(self.down == column)
        both.data[self.diagonal] //= 2  # its own mirror
        self.taken = both.data - 1

    def matrix(self, parts: Iterable[Floats], diagonal: Floats) -> sparse.csc_matrix:
        """Return the matrix of numbers in parts, with the others added to its diagonal."""
        numbers, at = np.empty(self.count), 0
        for part in parts:
            numbers[at : at + len(part)] = part
            at += len(part)
        found = numbers[self.taken]
        found[self.diagonal] += diagonal
        size = len(self.ends) - 1
        return sparse.csc_matrix((found, self.down, self.ends), shape=(size, size))
