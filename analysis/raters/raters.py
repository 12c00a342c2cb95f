"""Rater profiles: facts and flags per rater, and the ratings without the flagged.

A flag is a reason to look, not to remove: nobody is deleted, and every number can be had with and
without those flagged. Thresholds are in one place, with where each is from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import pandas as pd

from analysis.freed_memory import give_back
from analysis.raters import rater_facts
from analysis.raters.dawid_skene import dawid_skene
from analysis.raters.mace import mace
from analysis.raters.nominal_labels import labels, why_not
from analysis.scores.question_ratings import identified, questions
from analysis.scores.standardizing import SIGNIFICANT, check_control, control_tests, standardized
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("control_p",)

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
class FlagRule:
    """When a rater is flagged, and how the report says so."""

    flag: str
    holds: Callable[[pd.DataFrame], pd.Series]
    meaning: str


RULES = (
    FlagRule(
        "one answer",
        lambda facts: (facts["scale_answers"] >= ENOUGH_ANSWERS) & (facts["different"] == 1),
        f"one answer to every scale, {ENOUGH_ANSWERS} answers or more",
    ),
    FlagRule(
        "straight lines",
        lambda facts: (facts["straight"] > SAME) & (facts["sheets"] >= FEWEST_SHEETS),
        f"one answer to all questions on more than {SAME:.0%} of {FEWEST_SHEETS} items or more "
        "(Curran 2016)",
    ),
    FlagRule(
        "same rows",
        lambda facts: (facts["same_row"] > SAME) & (facts["sheets"] > FEWEST_SHEETS),
        f"the same answers to more than {SAME:.0%} of more than {FEWEST_SHEETS} items "
        "(Curran 2016)",
    ),
    FlagRule(
        "quick",
        lambda facts: facts["pace"] >= QUICK,
        f"{QUICK:g} or more times as fast as the median rater (Leiner 2019)",
    ),
    FlagRule(
        "against the others",
        lambda facts: (
            (facts["shared"] >= FEWEST_SHARED) & ((facts["correlation"] < 0) | (facts["kappa"] < 0))
        ),
        f"agrees with the others less than chance on {FEWEST_SHARED} shared answers or more "
        "(our own rule)",
    ),
    FlagRule(
        "labels guessed",
        lambda facts: (facts["competence"] < COMPETENT) & (facts["labels"] >= FEWEST_LABELS),
        f"by MACE (Hovy et al. 2013) knows fewer than {COMPETENT:.0%} of {FEWEST_LABELS} labels or "
        "more (our own threshold)",
    ),
    FlagRule(
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
    parts: tuple[Callable[[], pd.DataFrame], ...] = (
        lambda: rater_facts.equal_rows(rows),
        lambda: rater_facts.scale_use(rows),
        lambda: rater_facts.pace(rows).rename("pace").to_frame(),
        lambda: rater_facts.with_others(ratings),
        lambda: _models(ratings, seed),
        lambda: _control(rows, control, control_questions),
    )
    for part in parts:
        give_back(len(rows))
        facts = facts.join(part())
    facts["judged_control"] = facts.index.isin(rows["rater"][rows["system"] == control].unique())
    held = zip(*(rule.holds(facts) for rule in RULES), strict=True)
    flags_of = [", ".join(compress([rule.flag for rule in RULES], each)) for each in held]
    facts["flags"] = pd.Series(flags_of, index=facts.index, dtype="str")
    return facts.rename_axis("rater")


def planned_control(ratings: RatingTable | None, study: CampaignRecord | None) -> str | None:
    """Return the control of the plan, where it has been rated on a scale beside other systems."""
    if ratings is None or study is None or study.control is None:
        return None
    rows = ratings[ratings["level"].isin(["ordinal", "interval"])]
    systems = set(rows["system"])
    return study.control if study.control in systems and len(systems) > 1 else None


def without_flagged(ratings: RatingTable, found: pd.DataFrame) -> RatingTable:
    """Return the ratings of raters whom `profiles` has not flagged."""
    flagged = set(found.index[found["flags"] != ""])
    kept = ~identified(ratings)["rater"].isin(flagged)
    return RatingTable(ratings[kept].reset_index(drop=True))


def _models(ratings: RatingTable, seed: int) -> pd.DataFrame:
    """Return, per rater, the accuracy and competence of two models, over all label questions."""
    found = []
    for question in questions(ratings, "nominal"):
        of_question, names = labels(question)
        if why_not(of_question) is None:
            models = {
                "accuracy": dawid_skene(of_question).accuracy,
                "competence": mace(of_question, seed=seed).competence,
                "labels": question.rows.groupby("rater").size().reindex(names).to_numpy(),
            }
            found.append(pd.DataFrame(models, index=pd.Index(names, name="rater")))
    if not found:
        return pd.DataFrame(columns=["accuracy", "competence", "labels"], dtype=float)
    stacked = pd.concat(found)
    total = stacked.groupby(level=0)["labels"].sum()
    weighed = stacked[["accuracy", "competence"]].mul(stacked["labels"], axis=0)
    return weighed.groupby(level=0).sum().div(total, axis=0).assign(labels=total)


def _control(rows: pd.DataFrame, control: str | None, names: Sequence[str]) -> pd.DataFrame:
    scales = rows[rows["level"].isin(rater_facts.SCALES)]
    check_control(scales, control, names)
    found = {name: pd.Series(dtype=float) for name in ("control_p", "control_p_item")}
    if control is not None and len(scales):
        scored = standardized(scales)
        for name in found:
            by_item = name == "control_p_item"
            found[name] = control_tests(scored, control, names, by_item=by_item)
    return pd.DataFrame(found)
