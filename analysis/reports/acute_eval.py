"""Win fractions of two systems side by side, with a binomial test, as ACUTE-Eval has them.

Li et al. 2019, by the released code: per two systems, never pooled over others, the share of
judgments won, tested two-sided against one half, which takes judgments as independent; and how far
judgments of the same two conversations agree. That is the share of the majority, 0 where there is
none, over what was judged twice or more. Ties, which the source does not offer, are left out. Of a
campaign with pairs of known answers: the same with and without the raters whom these stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.report import Report, Section, many
from analysis.scores.cautions import cautions
from analysis.stats.significance import binomial, stars
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("simple tests",)

NONE = "No question asks which of two that are shown together is preferred."
STOPPED = ("ONBOARDING", "CHECK_FAILED")  # outcomes of raters below the share
BY_KNOWN = ("onboarding: the answer was known", "below the share of known answers")
ACT = ["protocol", "question", "item", "rater"]
KEYS = ["protocol", "question", "one", "other"]


def acute_eval(ratings: RatingTable, *, study: CampaignRecord | None = None) -> Report:
    """Return a row per question and two systems that were compared.

    study: who took part, and all answers, those to pairs of known answers too.
    """
    judgments = _judgments(ratings)
    findings: tuple[str, ...] = (NONE,)
    sections: list[Section] = []
    if len(judgments):
        frame = pd.DataFrame(_pairs(judgments)).sort_values(
            ["question", "win fraction", "system"], ascending=[True, False, True], ignore_index=True
        )
        findings = tuple(_finding(row) for row in frame.to_dict("records"))
        note = (
            "Win fraction of the system against the other; p is two-sided, binomial against .5: "
            "* .05, ** .01, *** .001. Agreement: mean share of the majority, 0 for a split, of "
            "items that were judged twice or more."
        )
        sections = [Section(findings[0], frame, note)]
    sections += _with_and_without(study)
    return Report(
        name="acute_eval",
        title="Win fractions of two side by side",
        findings=findings,
        sections=tuple(sections),
        cautions=cautions(ratings),
    )


def _with_and_without(study: CampaignRecord | None) -> Iterator[Section]:
    """Yield win fractions of all judgments, and of those of raters who were not stopped."""
    needed = {*ACT, "system", "value", "level"}
    if study is None or not needed <= set(study.answers) or "outcome" not in study.people:
        return
    stopped = study.people[study.people["outcome"].isin(STOPPED)]
    known = study.answers["excluded"].isin(BY_KNOWN) | (study.answers["excluded"] == "")
    answers = study.answers[known]
    if not answers["excluded"].isin(BY_KNOWN).any():
        return
    judged = _judgments(answers)
    kept = judged[~judged["rater"].isin(set(stopped["participant"]))]
    frame = pd.DataFrame(_beside(judged, kept))
    yield Section(
        f"{many(len(stopped), 'rater')} of {len(study.people):,} below the share of known answers",
        frame,
        "Win fractions of all judgments, those of pairs with known answers too, and without the "
        "raters below the share, whose judgments no other section has.",
        key="known-answers",
    )


def _beside(judged: pd.DataFrame, kept: pd.DataFrame) -> Iterator[dict[str, object]]:
    for key, rows in judged.groupby(KEYS, sort=True):
        mine = kept[(kept[KEYS] == list(key)).all(axis=1)]
        yield {
            "question": key[1],
            "system": key[2],
            "other system": key[3],
            "win fraction, all raters": _fraction(rows),
            "judgments, all raters": len(rows),
            "win fraction, without": _fraction(mine),
            "judgments, without": len(mine),
        }


def _fraction(rows: pd.DataFrame) -> float:
    decided = rows[rows["won"] != 0]
    return float((decided["won"] > 0).mean()) if len(decided) else float("nan")


def _judgments(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return a row per judgment of two: the systems by name, and whether the first won."""
    ranks = ratings.loc[ratings["level"] == "rank", [*ACT, "system", "value"]]
    ranks = ranks.assign(value=ranks["value"].astype(float))
    both = ranks.merge(ranks, on=ACT, suffixes=("", " of other"))
    both = both[both["system"] < both["system of other"]]
    gap = both["value of other"] - both["value"]
    named = both.rename(columns={"system": "one", "system of other": "other"})
    return named.assign(won=np.sign(gap))


def _pairs(judgments: pd.DataFrame) -> Iterator[dict[str, object]]:
    for (_protocol, question, one, other), rows in judgments.groupby(KEYS, sort=True):
        decided = rows[rows["won"] != 0]
        count, won = len(decided), int((decided["won"] > 0).sum())
        names, wins = ((one, other), won) if 2 * won >= count else ((other, one), count - won)
        p = binomial(wins, count).p
        shares = [_majority(each["won"]) for _, each in decided.groupby("item") if len(each) > 1]
        yield {
            "question": question,
            "system": names[0],
            "other system": names[1],
            "win fraction": wins / count if count else float("nan"),
            "p": p,
            "stars": stars(p) if count else "",
            "judgments": count,
            "ties": len(rows) - count,
            "agreement": float(np.mean(shares)) if shares else float("nan"),
            "items judged twice": len(shares),
        }


def _majority(won: pd.Series) -> float:
    """Return the share of the majority of some judgments; 0 where they are split evenly."""
    most = max(int((won > 0).sum()), int((won < 0).sum()))
    return most / len(won) if 2 * most > len(won) else 0.0


def _finding(row: dict[object, object]) -> str:
    count = many(int(str(row["judgments"])), "judgment")
    if not row["judgments"]:
        return f"{row['system']} and {row['other system']}: every judgment is a tie."
    return (
        f"{row['system']} is preferred to {row['other system']} in "
        f"{float(str(row['win fraction'])):.0%} of {count} (p = {float(str(row['p'])):.2g})."
    )
