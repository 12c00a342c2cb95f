"""Exact search among very many rows: those that cannot be the best are left out by rounded rows.

A product with all rows takes as long as it takes to read them, and rounded to bytes they are a
quarter. The product of rounded vectors is off by no more than |x - x'| |q| + |x'| |q - q'|
(Cauchy-Schwarz), so whatever can be among the best is kept, and multiplied as it is. Our own.

Apart because it is a shorter way only, and `bots.encoders.topk` must stay right without it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bots.encoders import topk

MANY = 1 << 17  # rows, of which a product takes some milliseconds
FEW = 2  # queries: more are multiplied together faster than one after the other
ROW_LEVELS = 127
# Of the query half as many: where a processor adds two products in 16 bits, these hold them.
QUERY_LEVELS = 63
# Share of both lengths by which products of float32 can be off, of a thousand numbers and more.
ROUNDING = 1e-4
TINY = torch.finfo(torch.float32).tiny


class RowSearch:
    """The rows to search, with rounded ones beside them where they are many and on the CPU."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        is_plain = matrix.device.type == "cpu" and matrix.dtype == torch.float32
        self.rounded = RoundedRows(matrix) if is_plain and len(matrix) >= MANY else None

    def best(self, queries: Tensor, most: int) -> tuple[Tensor, Tensor]:
        """Return scores and rows of the `most` largest products for each query, best first.

        As `topk.best` has it; products may differ in the last digit by how many are made at once.
        """
        is_few = 0 < len(queries) <= FEW and queries.shape[1:] == self.matrix.shape[1:]
        if self.rounded is None or not is_few or not 0 < most < len(self.matrix):
            return topk.best(self.matrix, queries, most)
        found = [self._best_of(self.rounded.kept(query, most), query, most) for query in queries]
        scores, rows = zip(*found, strict=True)
        return torch.cat(scores), torch.cat(rows)

    def _best_of(self, rows: Tensor, query: Tensor, most: int) -> tuple[Tensor, Tensor]:
        scores, indices = topk.best(self.matrix[rows], query.unsqueeze(0), most)
        return scores, rows[indices]


class RoundedRows:
    """Rows as whole numbers from -127 to 127 times a step of each row's own."""

    def __init__(self, matrix: Tensor) -> None:
        starts = range(0, len(matrix), topk.ROWS)
        parts = [_rounded(matrix[start : start + topk.ROWS], ROW_LEVELS) for start in starts]
        self.codes, self.steps, self.errors, self.lengths = (
            torch.cat(each) for each in zip(*parts, strict=True)
        )

    def kept(self, query: Tensor, most: int) -> Tensor:
        """Return the rows, in order, that can have one of the `most` largest products."""
        codes, steps, error, length = _rounded(query.unsqueeze(0), QUERY_LEVELS)
        products: Tensor = torch._int_mm(self.codes, codes.T.contiguous()).squeeze(1)
        near = products * (self.steps * steps)
        off = self.errors * query.norm() + self.lengths * (error + ROUNDING * (length + error))
        least = topk.bound(near - off, most)
        is_kept: Tensor = near + off >= least
        return is_kept.nonzero().squeeze(1)


def _rounded(rows: Tensor, levels: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return whole numbers, the step of each row, how far it is off, and its rounded length."""
    steps = rows.abs().amax(dim=1).clamp_min(TINY * levels) / levels
    codes = (rows / steps.unsqueeze(1)).round_().clamp_(-levels, levels)
    rounded = codes * steps.unsqueeze(1)
    return codes.to(torch.int8), steps, (rows - rounded).norm(dim=1), rounded.norm(dim=1)
