"""Ratings standardized per rater, from raters who see that a degraded system is worse.

The method of Ji et al. 2022 (ACL, arXiv:2203.05899): a rater's ratings over all questions become z
scores by that rater's mean and SD (n - 1); a rater passes if a one-sided Mann-Whitney test finds
the ratings of the degraded control lower than those of the others at p < .05; a system's score is
the mean z of the raters who pass. Without a control every rater is kept. Raters without any spread
fail; raters of one system only say nothing about its place among others, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from analysis.groups import declared_ends, identified
from analysis.intervals import t_interval
from analysis.options import BadOption
from analysis.tables import RatingTable
from analysis.tidy import ALL, tidy

SIGNIFICANT = 0.05
NOBODY = "no rater was found to rate the control lower than the others"


def standardized_score(
    ratings: RatingTable, *, control: str | None = None, control_questions: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a row per system and question, and per system over all questions.

    `control` names the degraded system; `control_questions` the questions that the test of raters
    reads (all, where empty).
    """
    rows = identified(ratings)
    rows = rows[rows["level"].isin(["ordinal", "interval"])]
    _check_options(rows, control, control_questions)
    found = (
        row
        for protocol, asked in rows.groupby("protocol", sort=True)
        for row in _rows(str(protocol), asked, control, control_questions)
    )
    return tidy("standardized_score", found)


def _check_options(rows: pd.DataFrame, control: str | None, questions: Sequence[str]) -> None:
    systems, names = sorted(set(rows["system"])), sorted(set(rows["question"]))
    if control is not None and control not in systems and len(rows):
        raise BadOption("control", control, f"one of the systems: {', '.join(systems)}")
    unknown = sorted(set(questions) - set(names)) if len(rows) else []
    if unknown:
        right = f"some of the questions: {', '.join(names)}"
        raise BadOption("control_questions", ", ".join(unknown), right)


def _rows(
    protocol: str, rows: pd.DataFrame, control: str | None, questions: Sequence[str]
) -> Iterator[dict[str, object]]:
    scored = _standardized(rows)
    raters = scored["rater"].nunique()
    if control is not None and control in set(rows["system"]):
        scored = scored[scored["rater"].isin(_passing(scored, control, questions))]
    kept = {"raters": raters, "raters_kept": scored["rater"].nunique(), "control": control}
    if raters and scored.empty:
        for system in sorted(set(rows["system"])):
            found = {"protocol": protocol, "question": ALL, "system": str(system)}
            yield {**found, "n": 0, "reason": NOBODY, **kept}
    for system, of_system in scored.groupby("system", sort=True):
        parts = [(ALL, of_system), *of_system.groupby("question", sort=True)]
        for question, part in parts:
            yield {
                "protocol": protocol,
                "question": str(question),
                "system": str(system),
                **_summary(part),
                **kept,
            }


def _standardized(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with their z, of raters who judged two systems or more."""
    several = rows.groupby("rater")["system"].transform("nunique") > 1
    scored = rows[several].assign(raw=rows["value"].astype(float))
    scored = scored.assign(score=_on_one_scale(scored))
    by_rater = scored.groupby("rater")["score"]
    spread = by_rater.transform("std")
    scored = scored.assign(
        z=(scored["score"] - by_rater.transform("mean")) / spread.where(spread > 0)
    )
    # A rater without spread has no z, and cannot pass.
    return scored


def _on_one_scale(scored: pd.DataFrame) -> pd.Series:
    """Return ratings as shares of their scale where questions declare different ones."""
    ends = {name: declared_ends(rows) for name, rows in scored.groupby("question")}
    if len(set(ends.values())) < 2 or None in ends.values():
        return scored["raw"]
    low = scored["question"].map({name: pair[0] for name, pair in ends.items() if pair})
    high = scored["question"].map({name: pair[1] for name, pair in ends.items() if pair})
    return (scored["raw"] - low) / (high - low)


def _passing(scored: pd.DataFrame, control: str, questions: Sequence[str]) -> list[str]:
    tested = scored[scored["question"].isin(questions)] if questions else scored
    return [
        str(rater)
        for rater, rows in tested.dropna(subset=["z"]).groupby("rater")
        if _sees_control(rows["score"].to_numpy(), (rows["system"] == control).to_numpy())
    ]


def _sees_control(scores: np.ndarray, is_control: np.ndarray) -> bool:
    control, others = scores[is_control], scores[~is_control]
    if len(control) == 0 or len(others) == 0:
        return False
    return bool(stats.mannwhitneyu(control, others, alternative="less").pvalue < SIGNIFICANT)


def _summary(part: pd.DataFrame) -> dict[str, object]:
    known = part.dropna(subset=["z"])
    dialogues = known.groupby("item")["z"].mean()
    n = len(dialogues)
    mean = float(dialogues.mean()) if n else float("nan")
    sd = float(dialogues.std()) if n > 1 else float("nan")
    low, high = t_interval(mean, sd / np.sqrt(max(n, 1)), n - 1)
    reason = None if n > 1 else "fewer than two dialogues: no interval"
    raw = float(known["raw"].mean()) if n else float("nan")
    return {
        "estimate": mean,
        "low": low,
        "high": high,
        "n": n,
        "sd": sd,
        "raw": raw,
        "reason": reason,
    }
