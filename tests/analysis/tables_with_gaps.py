"""Random tables of ratings with gaps, on which independent packages are asked for the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

TABLES = 200


def gappy(tables: int = TABLES, *, raters: tuple[int, int] = (2, 6)) -> Iterator[np.ndarray]:
    """Yield tables of whole numbers, a row per rater: raters who agree more or less, with gaps."""
    rng = np.random.default_rng(2011)
    while tables:
        rows, columns = int(rng.integers(*raters)), int(rng.integers(6, 40))
        size = int(rng.integers(2, 6))
        truth = rng.integers(1, size + 1, size=columns)
        guesses = rng.integers(1, size + 1, size=(rows, columns))
        agree = rng.random((rows, columns)) < rng.random()
        table = np.where(agree, truth, guesses).astype(float)
        table[rng.random(table.shape) < rng.random() * 0.4] = np.nan
        given = ~np.isnan(table)
        # Packages differ in what they do of raters, and tables, without any rating.
        if given.any(axis=1).all() and len(np.unique(table[given])) > 1 and _shared(table):
            tables -= 1
            yield table


def _shared(table: np.ndarray) -> bool:
    """Whether two items with two ratings or more have different answers among them."""
    kept = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    return kept.shape[1] > 2 and len(np.unique(kept[~np.isnan(kept)])) > 1


def complete(table: np.ndarray) -> np.ndarray:
    """Return the items that all raters judged."""
    return table[:, ~np.isnan(table).any(axis=0)]
