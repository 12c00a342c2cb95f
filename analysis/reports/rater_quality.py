"""Rater quality: facts and flags of each rater, and what changes without the flagged.

Nobody is removed. Flags: long strings of equal answers (Curran 2016, J. Experimental Social
Psychology 66, 4-19), pace (Leiner 2019, Survey Research Methods 13, 229-248), agreement with
others, competence on labels by MACE (Hovy et al. 2013), beside which stands accuracy by Dawid &
Skene 1979, and the degraded control of Ji et al. 2022 where one is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.raters.raters import RULES, profiles, without_flagged
from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable

FACTS = {
    "answers": "answers",
    "items": "items",
    "systems": "systems",
    "severity": "severity",
    "spread": "spread",
    "straight": "straight lines",
    "same_row": "same row",
    "pace": "pace",
    "shared": "shared answers",
    "correlation": "correlation",
    "kappa": "kappa",
    "accuracy": "accuracy (DS)",
    "competence": "competence (MACE)",
    "control_p": "p of control",
    "control_p_item": "p of control, by item",
}
NOTE = (
    "severity: how far below others on the same systems, in SDs of the question; spread: SD about "
    "these as a share of all raters'; straight lines and same row: shares of items; pace: times "
    "the speed of the median rater; correlation and kappa: with the other raters on shared "
    "answers; accuracy and competence: on labels; p of control: one-sided Mann-Whitney test that "
    "the control is rated lower, as Ji et al. have it, which the flag goes by. Where an item has "
    "several answers these go together, so that more than 5 % of raters who see no difference have "
    "p below .05 (.12 with five questions, docs/simulation.md); p of control, by item, tests means "
    "of items and holds. A fact that the table cannot tell has no column."
)


def rater_quality(
    ratings: RatingTable,
    *,
    seed: int = 0,
    control: str | None = None,
    control_questions: Sequence[str] = (),
) -> Report:
    """Return every rater with facts and flags, and means with and without the flagged."""
    found = profiles(ratings, control=control, control_questions=control_questions, seed=seed)
    flagged = found[found["flags"] != ""]
    kept = without_flagged(ratings, found)
    sections = [Section(_counted(found), _by_rule(found), "A rater may have several flags.")]
    if len(flagged):
        sections += [Section(f"Flagged raters: {len(flagged)}", _table(flagged), NOTE)]
        sections += _compared(ratings, kept)
    sections.append(Section(f"All raters: {len(found)}", _table(found), NOTE))
    return Report(
        name="rater_quality",
        title="Quality of raters",
        findings=tuple(_findings(found, control)),
        sections=tuple(sections) if len(found) else (),
        cautions=cautions(ratings),
    )


def _counted(found: pd.DataFrame) -> str:
    flagged = int((found["flags"] != "").sum())
    return f"{flagged} of {len(found)} raters have a flag; a flag is a reason to look"


def _findings(found: pd.DataFrame, control: str | None) -> Iterator[str]:
    yield f"{_counted(found)}, and nobody is left out of this report."
    if control is not None:
        tested = found[found["judged_control"]]
        missed = tested["flags"].str.contains("control not seen").sum()
        yield (
            f"{len(tested) - missed} of {len(tested)} raters who judged {control} rate it lower "
            "than the other systems."
        )


def _by_rule(found: pd.DataFrame) -> pd.DataFrame:
    flags = found["flags"].str.split(", ").explode()
    rows = [
        {"flag": rule.flag, "raters": int((flags == rule.flag).sum()), "what it says": rule.meaning}
        for rule in RULES
    ]
    return pd.DataFrame(rows)


def _table(found: pd.DataFrame) -> pd.DataFrame:
    known = {name: shown for name, shown in FACTS.items() if found[name].notna().any()}
    if not found["shared"].any():
        known.pop("shared", None)
    table = found[[*known, "flags"]].rename(columns=known).reset_index()
    order = table["flags"].eq("")
    return table.assign(order=order).sort_values(["order", "rater"]).drop(columns="order")


def _compared(ratings: RatingTable, kept: RatingTable) -> Iterator[Section]:
    """Yield, per scale question, the systems' means of all raters and of those without a flag."""
    without = {(one.protocol, one.question): one for one in questions(kept, "ordinal", "interval")}
    for question in questions(ratings, "ordinal", "interval"):
        rest = without.get((question.protocol, question.question))
        if rest is None:
            continue
        frame = pd.concat(
            [_means(question.rows, "all"), _means(rest.rows, "without flagged")], axis=1
        ).rename_axis("system")
        ranks = frame.rank(ascending=False, method="min")
        frame["change"] = frame["mean, without flagged"] - frame["mean, all"]
        frame = frame.sort_values("mean, without flagged", ascending=False).reset_index()
        moved = int((ranks["mean, all"] != ranks["mean, without flagged"]).sum())
        same = "the order of systems is the same" if moved == 0 else f"{moved} systems change place"
        title = f"{question.protocol}, {question.question}: without the flagged raters {same}"
        yield Section(title, frame, "Raw means; other reports take the same choice of raters.")


def _means(rows: pd.DataFrame, who: str) -> pd.DataFrame:
    by_system = rows["value"].astype(float).groupby(rows["system"])
    return pd.DataFrame({f"mean, {who}": by_system.mean(), f"n, {who}": by_system.size()})
