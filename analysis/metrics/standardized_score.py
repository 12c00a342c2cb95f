"""Standardized scores per rater, from raters who see that a degraded system is worse.

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

from analysis.scores.question_ratings import identified
from analysis.scores.standardizing import check_control, passing, standardized
from analysis.stats.intervals import t_interval
from analysis.tables.columns import SCALE_COLUMNS
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL, tidy

READ = ("protocol", "question", "item", "system", "rater", "value", *SCALE_COLUMNS)
NOBODY = "no rater was found to rate the control lower than the others"


def standardized_score(
    ratings: RatingTable, *, control: str | None = None, control_questions: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a row per system and question, and per system over all questions.

    `control` names the degraded system; `control_questions` the questions that the test of raters
    reads (all, where empty).
    """
    rows = identified(ratings)
    columns = [name for name in READ if name in rows]
    is_scale = rows["level"].isin(["ordinal", "interval"])
    check_control(rows.loc[is_scale, ["system", "question"]], control, control_questions)
    found = (
        row
        for protocol in sorted(rows.loc[is_scale, "protocol"].unique())
        for row in _protocol_rows(
            str(protocol),
            rows.loc[is_scale & (rows["protocol"] == protocol), columns],
            control,
            control_questions,
        )
    )
    return tidy("standardized_score", found)


def _protocol_rows(
    protocol: str, rows: pd.DataFrame, control: str | None, questions: Sequence[str]
) -> Iterator[dict[str, object]]:
    systems = sorted(map(str, rows["system"].unique()))
    scored = standardized(rows)
    del rows
    raters = scored["rater"].nunique()
    if control is not None and control in systems:
        scored = scored[scored["rater"].isin(passing(scored, control, questions))]
    kept = {"raters": raters, "raters_kept": scored["rater"].nunique(), "control": control}
    if raters and scored.empty:
        for system in systems:
            found = {"protocol": protocol, "question": ALL, "system": system}
            yield {**found, "n": 0, "reason": NOBODY, **kept}
    for system in sorted(scored["system"].unique()):
        # One after the other, as groups are parts of a copy of all.
        of_system = scored[scored["system"] == system]
        parts = [(ALL, of_system), *of_system.groupby("question", sort=True)]
        for question, part in parts:
            yield {
                "protocol": protocol,
                "question": str(question),
                "system": str(system),
                **_summary(part),
                **kept,
            }


def _summary(part: pd.DataFrame) -> dict[str, object]:
    z, raw = (part[name].to_numpy(dtype=float) for name in ("z", "raw"))
    known = ~np.isnan(z)
    item = pd.factorize(part["item"], sort=True)[0][known]
    counts = np.bincount(item)
    dialogues = np.bincount(item, z[known])[counts > 0] / counts[counts > 0]
    n = len(dialogues)
    mean = float(dialogues.mean()) if n else float("nan")
    sd = float(dialogues.std(ddof=1)) if n > 1 else float("nan")
    low, high = t_interval(mean, sd / np.sqrt(max(n, 1)), n - 1)
    reason = None if n > 1 else "fewer than two dialogues: no interval"
    return {
        "estimate": mean,
        "low": low,
        "high": high,
        "n": n,
        "sd": sd,
        "raw": float(raw[known].mean()) if n else float("nan"),
        "reason": reason,
    }
