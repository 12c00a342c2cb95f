"""Rater design: who judged which systems and items, and what can be known from that.

Agreement needs items that several raters judged. A rater's severity is told apart from the systems'
quality only where raters link the systems: the graph of raters and systems is connected (Searle,
Speed & Milliken 1980, The American Statistician 34, 216-221, on estimable differences).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from analysis.report import many
from analysis.scores.question_ratings import QuestionRatings

AGREEMENT_BY = (
    "two people per conversation or reply, or third parties who judge the messages of finished "
    "conversations (five each in meena_third_party), would tell"
)
SEVERITY_BY = (
    "several conversations per person, each with another system (the setting of rounds), would tell"
)


@dataclass(frozen=True)
class RaterDesign:
    """Counts of one question's ratings.

    `groups` are the parts of the graph of raters and systems between which nobody judged both.
    """

    ratings: int
    raters: int
    systems: int
    items: int
    overlapping: int  # items that two raters or more judged
    per_rater: tuple[int, int]  # ratings: fewest and most
    systems_per_rater: tuple[int, int]
    groups: int

    @property
    def no_agreement(self) -> str | None:
        """Why agreement is not defined and which design defines it; None where it is."""
        if self.overlapping or self.raters < 2:
            return None
        return (
            "no item was rated by two people, so how far raters agree is unknown; "
            f"{AGREEMENT_BY} it."
        )

    @property
    def no_severity(self) -> str | None:
        """Why severity is not told apart from quality, and what would; None where it is."""
        if self.raters < 2 or self.systems < 2 or self.groups == 1:
            return None
        who = "no rater judged two systems"
        if self.systems_per_rater[1] > 1:
            who = f"systems fall into {self.groups} groups and no rater judged two of them"
        return (
            f"{who}, so severe raters cannot be told from poor systems, and calibrating cannot "
            f"correct for them; {SEVERITY_BY} them apart."
        )


def design_of(question: QuestionRatings) -> RaterDesign:
    """Count who judged what for one question."""
    return question.once("rater design", lambda: _design(question))


def _design(question: QuestionRatings) -> RaterDesign:
    rows = question.rows
    rater, raters = pd.factorize(rows["rater"])
    system, systems = pd.factorize(rows["system"])
    item, items = pd.factorize(rows["item"])
    judged = pd.DataFrame({"item": item, "rater": rater}).drop_duplicates()
    per_rater = np.bincount(rater)
    pairs = pd.DataFrame({"rater": rater, "system": system}).drop_duplicates()
    variety = np.bincount(pairs["rater"])
    return RaterDesign(
        ratings=len(rows),
        raters=len(raters),
        systems=len(systems),
        items=len(items),
        overlapping=int((np.bincount(judged["item"]) > 1).sum()),
        per_rater=(int(per_rater.min()), int(per_rater.max())),
        systems_per_rater=(int(variety.min()), int(variety.max())),
        groups=_groups(pairs, len(raters), len(systems)),
    )


def _groups(pairs: pd.DataFrame, raters: int, systems: int) -> int:
    """Return the number of connected parts of the graph of raters and systems."""
    size = raters + systems
    ends = (pairs["rater"].to_numpy(), raters + pairs["system"].to_numpy())
    graph = coo_array((np.ones(len(pairs)), ends), shape=(size, size))
    return int(connected_components(graph, directed=False, return_labels=False))


def order_imbalance(question: QuestionRatings) -> int | None:
    """Return by how many ratings a system's most and least common place in raters' orders differ.

    That is the largest of all systems; None where places are not known, or more than a system has
    ratings.
    """
    rows = question.rows
    if "place" not in rows.columns or rows["place"].isna().any():
        return None
    counts = pd.crosstab(rows["system"], rows["place"])
    if counts.shape[1] > counts.sum(axis=1).min():
        return None
    return int((counts.max(axis=1) - counts.min(axis=1)).max())


def described(design: RaterDesign) -> str:
    """Return the design in one sentence."""
    return (
        f"{many(design.raters, 'rater')} gave {many(design.ratings, 'rating')} of "
        f"{many(design.systems, 'system')} ({_between(design.per_rater)} each, about "
        f"{_between(design.systems_per_rater)} systems); {design.overlapping:,} of "
        f"{many(design.items, 'item')} were judged by two raters or more."
    )


def _between(ends: tuple[int, int]) -> str:
    low, high = ends
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
