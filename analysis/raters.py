"""Raters and what is odd about them: facts, flags, and the same ratings without the flagged.

A flag is a reason to look, not to remove: nobody is deleted, and every number can be had with and
without those flagged. Thresholds are in one place, with where each is from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis import rater_facts
from analysis.dawid_skene import dawid_skene
from analysis.groups import identified, questions
from analysis.labels import labels, why_not
from analysis.mace import mace
from analysis.standardizing import SIGNIFICANT, check_control, control_tests, standardized
from analysis.tables import RatingTable

# Half of a form in one line, or in one row again and again, is Curran's rule of thumb (2016).
SAME = 0.5
FEWEST_SHEETS = 3
# Twice the pace of the median rater (Leiner 2019, relative speed index of 2).
QUICK = 2.0
# With fewer shared items the sign of an agreement is chance; the number is our own choice.
FEWEST_SHARED = 10
# Knowing less often than guessing; no paper names a threshold, this one is our own.
COMPETENT = 0.5
FEWEST_LABELS = 10
ENOUGH_ANSWERS = 10


@dataclass(frozen=True)
class Rule:
    """When a rater is flagged, and how the report says so."""

    flag: str
    holds: Callable[[pd.DataFrame], pd.Series]
    said: str


RULES = (
    Rule(
        "one answer",
        lambda facts: (facts["scale_answers"] >= ENOUGH_ANSWERS) & (facts["different"] == 1),
        f"one answer to every scale, {ENOUGH_ANSWERS} answers or more",
    ),
    Rule(
        "straight lines",
        lambda facts: (facts["straight"] > SAME) & (facts["sheets"] >= FEWEST_SHEETS),
        f"one answer to all questions on more than {SAME:.0%} of {FEWEST_SHEETS} items or more "
        "(Curran 2016)",
    ),
    Rule(
        "same rows",
        lambda facts: (facts["same_row"] > SAME) & (facts["sheets"] > FEWEST_SHEETS),
        f"the same answers to more than {SAME:.0%} of more than {FEWEST_SHEETS} items "
        "(Curran 2016)",
    ),
    Rule(
        "quick",
        lambda facts: facts["pace"] >= QUICK,
        f"{QUICK:g} times as quick as the median rater, or more (Leiner 2019)",
    ),
    Rule(
        "against the others",
        lambda facts: (
            (facts["shared"] >= FEWEST_SHARED) & ((facts["correlation"] < 0) | (facts["kappa"] < 0))
        ),
        f"agrees with the others less than chance on {FEWEST_SHARED} shared answers or more "
        "(our own rule)",
    ),
    Rule(
        "labels guessed",
        lambda facts: (facts["competence"] < COMPETENT) & (facts["labels"] >= FEWEST_LABELS),
        f"by MACE (Hovy et al. 2013) knows fewer than {COMPETENT:.0%} of {FEWEST_LABELS} labels or "
        "more (our own threshold)",
    ),
    Rule(
        "control not seen",
        lambda facts: facts["judged_control"] & ~(facts["control_p"] < SIGNIFICANT),
        f"does not rate the degraded control lower at p < {SIGNIFICANT} (Ji et al. 2022)",
    ),
)


def profiles(
    ratings: RatingTable,
    *,
    control: str | None = None,
    control_questions: Sequence[str] = (),
    seed: int = 0,
) -> pd.DataFrame:
    """Return a row per rater: facts, and `flags`, the flags that hold, joined by commas."""
    rows = identified(ratings)
    facts = rater_facts.counts(rows)
    parts = (
        rater_facts.equal_rows(rows),
        rater_facts.scale_use(rows),
        rater_facts.pace(rows).rename("pace").to_frame(),
        rater_facts.with_others(ratings),
        _models(ratings, seed),
        _control(rows, control, control_questions),
    )
    for part in parts:
        facts = facts.join(part)
    facts["judged_control"] = facts.index.isin(rows["rater"][rows["system"] == control].unique())
    held = {rule.flag: rule.holds(facts) for rule in RULES}
    said = [
        ", ".join(flag for flag, holds in held.items() if holds[rater]) for rater in facts.index
    ]
    facts["flags"] = pd.Series(said, index=facts.index, dtype="str")
    return facts.rename_axis("rater")


def without_flagged(ratings: RatingTable, found: pd.DataFrame) -> RatingTable:
    """Return the ratings of raters whom `profiles` has not flagged."""
    flagged = set(found.index[found["flags"] != ""])
    kept = ~identified(ratings)["rater"].isin(flagged)
    return RatingTable(ratings[kept].reset_index(drop=True))


def _models(ratings: RatingTable, seed: int) -> pd.DataFrame:
    """Return, per rater, the accuracy and competence of two models, over all label questions."""
    found = []
    for asked in questions(ratings, "nominal"):
        given, names = labels(asked)
        if why_not(given) is None:
            models = {
                "accuracy": dawid_skene(given).accuracy,
                "competence": mace(given, seed=seed).competence,
                "labels": asked.rows.groupby("rater").size().reindex(names).to_numpy(),
            }
            found.append(pd.DataFrame(models, index=pd.Index(names, name="rater")))
    if not found:
        return pd.DataFrame(columns=["accuracy", "competence", "labels"], dtype=float)
    stacked = pd.concat(found)
    total = stacked.groupby(level=0)["labels"].sum()
    weighed = stacked[["accuracy", "competence"]].mul(stacked["labels"], axis=0)
    return weighed.groupby(level=0).sum().div(total, axis=0).assign(labels=total)


def _control(rows: pd.DataFrame, control: str | None, asked: Sequence[str]) -> pd.DataFrame:
    scales = rows[rows["level"].isin(rater_facts.SCALES)]
    check_control(scales, control, asked)
    found = {name: pd.Series(dtype=float) for name in ("control_p", "control_p_item")}
    if control is not None and len(scales):
        scored = standardized(scales)
        for name in found:
            by_item = name == "control_p_item"
            found[name] = control_tests(scored, control, asked, by_item=by_item)
    return pd.DataFrame(found)
