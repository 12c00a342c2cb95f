"""Agreement and alpha over evaluations as mean and SD, in the layout of MEENA table 1.

Percent agreement and Krippendorff's alpha of each label (Adiwardana et al. 2020) in every
evaluation, all its systems together; then mean and sample SD over evaluations. An evaluation is
told by the column `repeat`, or is a campaign of its own. One whose coefficient is undefined is
named, and the others' mean stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.output.paper_layouts import printed
from analysis.raters.alpha import alpha
from analysis.raters.kappas import estimate, percents
from analysis.raters.votes import votes
from analysis.report import Report, Section, many
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.between_runs import PERCENT, over_repeats
from analysis.stats.intervals import Interval
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL

SIMULATED_AS = ("over_raters",)

LABELS = {"sensibleness": SENSIBLE, "specificity": SPECIFIC}
ALPHA = "alpha"
MEASURES = {"agreement, percent": PERCENT, ALPHA: Interval(-math.inf, 1)}  # with their ends
KEYS = ["protocol", "label"]
NONE = "This table has no labels named sensible and specific."
OF_STUDIES = True
NOTE = (
    "Percent agreement in points; SD with n - 1 over evaluations, 95 % t interval of the mean. "
    "n is the evaluations where the coefficient is defined."
)


def meena_agreement(ratings: RatingTable) -> Report:
    """Return mean and SD of both coefficients, then each evaluation, above the printed table."""
    each = pd.DataFrame(list(_evaluations(ratings)))
    own: list[Section] = []
    finding, cautions = NONE, tuple[str, ...]()
    if len(each):
        spread = pd.DataFrame(list(_spreads(each)))
        finding, cautions = _finding(spread), tuple(_undefined(each))
        own = [Section(finding, spread, NOTE), Section("Each evaluation", each)]
    return Report(
        name="meena_agreement",
        title="Agreement on the labels over evaluations",
        findings=(finding,),
        sections=(*own, printed("meena_agreement")),
        cautions=cautions,
    )


def _evaluations(ratings: RatingTable) -> Iterator[dict[str, object]]:
    by = "repeat" if "repeat" in ratings.columns else "campaign"
    for evaluation, part in ratings.groupby(by, sort=True):
        for question in questions(RatingTable(part), "nominal"):
            for label, names in LABELS.items():
                if question.question in names:
                    about = {"protocol": question.protocol, "evaluation": str(evaluation)}
                    yield {**about, "label": label, **_coefficients(question)}


def _coefficients(question: QuestionRatings) -> dict[str, object]:
    sample = votes(question, ALL, slice(None))
    found = estimate(sample, percents) if sample.units else float("nan")
    known = alpha(sample) if sample.undefined is None else float("nan")
    values = dict(zip(MEASURES, (100 * found, known), strict=True))
    return {**values, "items": sample.units, "reason": sample.undefined}


def _spreads(each: pd.DataFrame) -> Iterator[dict[str, object]]:
    for names, rows in each.groupby(KEYS, sort=True):
        for measure, ends in MEASURES.items():
            found = over_repeats(rows[measure].sort_values(), ends)
            row: dict[str, object] = dict(zip(KEYS, names, strict=True))
            row |= {"measure": measure, "mean": found.mean, "sd": found.sd, "n": found.n}
            row |= {"low": found.interval.low, "high": found.interval.high}
            yield row | {"reason": found.reason}


def _undefined(each: pd.DataFrame) -> Iterator[str]:
    """Name the evaluations without a coefficient, which no mean above counts."""
    for row in each[each["reason"].notna()].to_dict("records"):
        yield f"{row['evaluation']}: {row['label']} has no alpha, because {row['reason']}."


def _finding(spread: pd.DataFrame) -> str:
    known = spread[(spread["measure"] == ALPHA) & spread["mean"].notna()]
    if known.empty:
        return "No evaluation has an alpha."
    row = known.iloc[0]
    if row["n"] == 1:
        return f"Alpha of {row['label']} is {row['mean']:.2f}: one evaluation only, so no SD."
    over = f"over {many(int(row['n']), 'evaluation')}"
    return f"Alpha of {row['label']} is {row['mean']:.2f} ± {row['sd']:.2f} {over}."
