"""Standardized answers on each rater's own scale, and tests against a degraded system.

The method of Ji et al. 2022 (ACL, arXiv:2203.05899): z scores by the mean and SD (n - 1) of all
that a rater said, and a one-sided Mann-Whitney test of the control against the others at p < .05.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from analysis.scores.question_ratings import declared_ends
from analysis.tables.columns import SCALE_COLUMNS
from analysis.tables.options import BadOption

SIMULATED_AS = ("control_p",)

SIGNIFICANT = 0.05


def check_control(rows: pd.DataFrame, control: str | None, questions: Sequence[str]) -> None:
    """Raise `BadOption` where the control or the questions to test by are not in the table."""
    systems, names = sorted(rows["system"].unique()), sorted(rows["question"].unique())
    if control is not None and control not in systems and len(rows):
        raise BadOption("control", control, f"one of the systems: {', '.join(systems)}")
    unknown = sorted(set(questions) - set(names)) if len(rows) else []
    if unknown:
        right = f"some of the questions: {', '.join(names)}"
        raise BadOption("control_questions", ", ".join(unknown), right)


def standardized(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with their z, of raters who judged two systems or more."""
    several = rows.groupby("rater")["system"].transform("nunique") > 1
    scored = rows if several.all() else rows[several]
    # A copy, which does not hold on to the columns that are dropped.
    raw = scored["value"].astype(float).copy()
    score = _on_one_scale(scored, raw)
    by_rater = score.groupby(scored["rater"])
    spread = by_rater.transform("std")
    # A rater without spread has no z, and cannot pass.
    z = (score - by_rater.transform("mean")) / spread.where(spread > 0)
    kept = [name for name in scored if name not in ("value", *SCALE_COLUMNS)]
    return scored[kept].assign(raw=raw, score=score, z=z)


def _on_one_scale(scored: pd.DataFrame, raw: pd.Series) -> pd.Series:
    """Return ratings as shares of their scale where questions declare different ones."""
    if not {*SCALE_COLUMNS} <= {*scored}:
        return raw
    rows_of = {name: scored["question"] == name for name in scored["question"].unique()}
    ends = {
        name: declared_ends(scored.loc[rows, [*SCALE_COLUMNS]]) for name, rows in rows_of.items()
    }
    if len(set(ends.values())) < 2 or None in ends.values():
        return raw
    low, high = (  # of names that are categories a map is one of categories
        scored["question"]
        .map({name: pair[end] for name, pair in ends.items() if pair})
        .astype(float)
        for end in (0, 1)
    )
    return (raw - low) / (high - low)


def passing(scored: pd.DataFrame, control: str, questions: Sequence[str]) -> list[str]:
    """Return the raters found to rate the control lower than the others."""
    found = control_tests(scored, control, questions)
    return [str(rater) for rater in found.index[found < SIGNIFICANT]]


def control_tests(
    scored: pd.DataFrame, control: str, questions: Sequence[str], *, by_item: bool = False
) -> pd.Series:
    """Return p of each rater's test; NaN for one who did not judge both, or without any spread.

    Answers to several questions about one item go together, so that the authors' test finds a
    control that is like the others in more than 5 % (`docs/simulation.md`); `by_item` tests the
    mean of an item's answers instead, and holds.
    """
    tested = scored[scored["question"].isin(questions)] if questions else scored
    tested = pd.DataFrame(tested.dropna(subset=["z"]))
    if by_item:
        means = tested.groupby(["rater", "system", "item"])["score"].mean()
        tested = means.reset_index()
    found = {
        str(rater): _p(rows["score"].to_numpy(), (rows["system"] == control).to_numpy())
        for rater, rows in tested.groupby("rater")
    }
    return pd.Series(found, dtype=float)


def _p(scores: np.ndarray, is_control: np.ndarray) -> float:
    control, others = scores[is_control], scores[~is_control]
    if len(control) == 0 or len(others) == 0:
        return float("nan")
    return float(scipy.stats.mannwhitneyu(control, others, alternative="less").pvalue)
