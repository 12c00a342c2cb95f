"""Exact top-k search in a cached matrix of candidates: one product, and as much sorting as needed.

Source: Swanson et al. 2019 (ASAPP), section 4: encodings of candidates are computed once, an answer
is the arg max of one matrix-vector product. How the largest are found is our own: the rows that can
be among them are in the blocks with the largest maxima, so nothing else is sorted.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROWS = 1 << 18  # scored at a time for a few queries, so that scores of a million rows need no room
BLOCK = 256


def best(matrix: Tensor, queries: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Return scores and rows of the `most` largest products for each query, best first.

    Of rows with equal scores the earlier comes first. With fewer rows than `most`, all.

    Raises ValueError if queries and rows differ in width.
    """
    if queries.ndim != 2 or matrix.ndim != 2 or queries.shape[1] != matrix.shape[1]:
        raise ValueError(
            f"queries are {tuple(queries.shape)} and candidates {tuple(matrix.shape)}: "
            "both must be matrices of rows of the same length"
        )
    most = min(most, len(matrix))
    step = max(BLOCK, ROWS // max(1, len(queries)))
    if len(matrix) <= step:
        return largest(_scores(matrix, queries), most)
    parts = []
    for start in range(0, len(matrix), step):
        scores, rows = largest(_scores(matrix[start : start + step], queries), most)
        parts.append((scores, rows + start))
    scores, rows = (torch.cat(each, dim=1) for each in zip(*parts, strict=True))
    scores, indices = largest(scores, most)
    return scores, rows.gather(1, indices)


def _scores(matrix: Tensor, queries: Tensor) -> Tensor:
    if len(queries) == 1:  # twice as quick as a product of two matrices
        return torch.mv(matrix, queries[0]).unsqueeze(0)
    return queries @ matrix.T


def largest(scores: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Return the largest of each row, in order; the earlier of equal ones first."""
    if most == 1:
        highest, first = scores.max(dim=1, keepdim=True)
        return highest, first
    found = [_largest_of(row, most) for row in scores]
    if not found:
        return scores[:, :most], torch.empty(0, most, dtype=torch.int64, device=scores.device)
    values, indices = zip(*found, strict=True)
    return torch.stack(values), torch.stack(indices)


def _largest_of(scores: Tensor, most: int) -> tuple[Tensor, Tensor]:
    if most == 0:
        return scores[:0], torch.empty(0, dtype=torch.int64, device=scores.device)
    indices = (scores >= bound(scores, most)).nonzero().squeeze(1)
    values, order = scores[indices].sort(descending=True, stable=True)
    return values[:most], indices[order[:most]]


def bound(scores: Tensor, most: int) -> Tensor:
    """Return the score of the last that is among the largest."""
    whole = len(scores) // BLOCK * BLOCK
    if whole < 8 * most * BLOCK:
        return scores.topk(most).values[-1]
    blocks = scores[:whole].view(-1, BLOCK)
    held = blocks[blocks.amax(dim=1).topk(most).indices].flatten()
    return torch.cat((held, scores[whole:])).topk(most).values[-1]
