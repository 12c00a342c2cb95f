"""Labels of a nominal question, and what a model of raters makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.coding import Ints, coded, units
from analysis.groups import Asked
from analysis.intervals import Floats

# With more categories than this, tables of errors have more cells than a campaign has labels.
MOST_CATEGORIES = 20


@dataclass(frozen=True, eq=False)
class Labels:
    """A row per label: its item, its rater, its category, all counted from 0."""

    item: Ints
    rater: Ints
    label: Ints
    categories: int

    @property
    def items(self) -> int:
        return int(self.item.max(initial=-1)) + 1

    @property
    def raters(self) -> int:
        return int(self.rater.max(initial=-1)) + 1

    @cached_property
    def _of_items(self) -> sparse.csr_array:
        rows = np.arange(len(self.item))
        return sparse.csr_array((np.ones(len(rows)), (self.item, rows)))

    def by_item(self, values: Floats) -> Floats:
        """Return the sums over each item's labels of a row per label."""
        return np.asarray(self._of_items @ values)

    @cached_property
    def shares(self) -> Floats:
        """Each item's shares of votes."""
        votes = np.zeros((self.items, self.categories))
        np.add.at(votes, (self.item, self.label), 1)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def labels(asked: Asked) -> tuple[Labels, list[str]]:
    """Return the labels of a question in order of what was said, and the names of its raters."""
    code, values = coded(asked, asked.rows, "nominal")
    rater, names = pd.factorize(asked.rows["rater"])
    found = Labels(units(asked.rows), rater.astype(np.int64), code, len(values))
    return found, [str(name) for name in names]


def why_not(given: Labels) -> str | None:
    """Return why no model of raters can be fitted to labels, if none can."""
    if given.raters < 3:
        return f"{given.raters} raters are too few to tell who errs; three are needed"
    if given.categories < 2:
        return "one category only was ever given"
    if given.categories > MOST_CATEGORIES:
        return f"{given.categories} categories are too many; {MOST_CATEGORIES} are the most"
    if len(given.item) < 2 * given.items:
        return "items have fewer than two labels on average, so raters cannot be compared"
    return None
