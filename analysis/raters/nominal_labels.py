"""Labels of a nominal question, and what a model of raters makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.scores.integer_codes import Ints, coded, units
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import Floats

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


def labels(question: QuestionRatings) -> tuple[Labels, list[str]]:
    """Return the labels of a question in order of what was said, and the names of its raters."""
    code, values = coded(question, question.rows, "nominal")
    rater, names = pd.factorize(question.rows["rater"])
    found = Labels(units(question.rows), rater.astype(np.int64), code, len(values))
    return found, [str(name) for name in names]


def why_not(labels: Labels) -> str | None:
    """Return why no model of raters can be fitted to labels, if none can."""
    if labels.raters < 3:
        return f"{labels.raters} raters are too few to estimate errors; three are needed"
    if labels.categories < 2:
        return "only one category was given"
    if labels.categories > MOST_CATEGORIES:
        return f"{labels.categories} categories are too many; {MOST_CATEGORIES} are the most"
    if len(labels.item) < 2 * labels.items:
        return "items have fewer than two labels on average, so raters cannot be compared"
    return None
