"""Rater agreement: every coefficient of each question, and the most disputed items.

Krippendorff's alpha (2011), Fleiss' kappa (1971) with gaps as in Gwet 2014, Conger's kappa (1980),
the coefficient of Brennan & Prediger (1981, Educational and Psychological Measurement 41, 687-699)
and Gwet's AC1 or AC2 (2008, 2014) side by side, since they differ in what they take for chance;
intervals over items and, where there are five raters or more, over raters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

from analysis.raters import kappas
from analysis.raters.agreement import Statistic, interval
from analysis.raters.alpha import alphas
from analysis.raters.ballots import ENOUGH_RATERS, ballots, conger, rater_intervals
from analysis.raters.disputed import disputed
from analysis.raters.votes import Votes
from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.scores.integer_codes import scale_of
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import LEVELS, RatingTable

SIMULATED_AS = ("agreement over raters", "Brennan-Prediger", "krippendorff_alpha")

NOTE = (
    "All systems together; n is items with two ratings or more. low and high are a bootstrap over "
    "items, “raters low” and “raters high” one over raters, items held fixed, where there are "
    f"{ENOUGH_RATERS} raters or more: of few they hold less often than 95 % for weighted "
    "Brennan-Prediger and AC2 (.82 to .90 with 5 to 10 raters of a scale, in 60 campaigns); prefer "
    "alpha's there. Conger's kappa is given without intervals. Weights give part of an agreement "
    "to answers that are near."
)
DISPUTE = (
    "dispute is the mean squared distance between two ratings of the item as a share of that "
    "between any two: 1 is what chance gives; alpha is 1 less its mean over items by ratings."
)
NUMBERS = ("estimate", "low", "high", "raters low", "raters high")
ALPHA = "Krippendorff's alpha"
MOST_DISPUTED = 10
WEIGHTS: dict[str, kappas.Weights] = {"ordinal": "ordinal", "interval": "quadratic"}


def rater_agreement(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return all coefficients of each question, and its most disputed items."""
    rated = list(questions(ratings, *LEVELS))
    found = [pd.DataFrame(_question_rows(one, seed)) for one in rated]
    findings = tuple(_finding(one, rows) for one, rows in zip(rated, found, strict=True))
    sections = [
        Section(finding, rows, NOTE)
        for finding, rows in zip(findings, found, strict=True)
        if len(rows)
    ]
    return Report(
        name="rater_agreement",
        title="Agreement of raters",
        findings=findings or ("There are no ratings.",),
        sections=(*sections, *_worst(rated)),
        cautions=cautions(ratings),
    )


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    sample = ballots(question, question.rows)
    chosen = list(_statistics(question))
    boot = [statistic or kappas.percents for _, _, statistic in chosen]
    over_raters = rater_intervals(sample, boot, seed=seed)
    for (name, weights, statistic), raters in zip(chosen, over_raters, strict=True):
        row: dict[str, object] = {"coefficient": name, "weights": weights}
        reason = _undefined(name, sample.votes)
        numbers: tuple[float | None, ...] = (None,) * 5
        if reason is None and statistic is None:
            kind = WEIGHTS.get(scale_of(question), "identity")
            numbers = (conger(sample, kind), *numbers[1:])
        elif reason is None and statistic is not None:
            estimate = kappas.estimate(sample.votes, statistic)
            numbers = (estimate, *interval(sample.votes, statistic, seed=seed), *raters)
        yield {
            **row,
            **dict(zip(NUMBERS, numbers, strict=True)),
            "n": sample.votes.units,
            "reason": reason,
        }


def _statistics(question: QuestionRatings) -> Iterator[tuple[str, str, Statistic | None]]:
    """Yield name, weights and what computes it; None stands for Conger's kappa."""
    kind = WEIGHTS.get(scale_of(question), "identity")
    yield "percent agreement", "identity", kappas.percents
    yield ALPHA, scale_of(question), alphas
    yield "Fleiss' kappa, with gaps", kind, partial(kappas.fleiss, kind=kind)
    yield "Conger's kappa", kind, None
    yield "Brennan-Prediger", kind, partial(kappas.brennan_prediger, kind=kind)
    name = "Gwet's AC1" if kind == "identity" else "Gwet's AC2"
    yield name, kind, partial(kappas.gwet, kind=kind)


def _undefined(name: str, votes: Votes) -> str | None:
    if votes.units == 0:
        return votes.undefined
    if name in ("percent agreement", ALPHA):
        return votes.undefined if name == ALPHA else None
    weighted = kappas.too_many(votes) if votes.level != "nominal" else None
    by_category = name.startswith(("Gwet", "Brennan"))
    return weighted or (kappas.no_chance(votes) if by_category else votes.undefined)


def _finding(question: QuestionRatings, rows: pd.DataFrame) -> str:
    alpha = rows[rows["coefficient"] == ALPHA].iloc[0]
    start = f"{question.protocol}, {question.question}: "
    if alpha["reason"] is not None:
        return f"{start}alpha is not defined, because {alpha['reason']}."
    return (
        f"{start}alpha is {alpha['estimate']:.2f} ({alpha['low']:.2f} to {alpha['high']:.2f} over "
        f"items) on {alpha['n']} items."
    )


def _worst(rated: list[QuestionRatings]) -> Iterator[Section]:
    for one in rated:
        found = disputed(one, MOST_DISPUTED)
        if len(found):
            item = found.iloc[0]
            title = f"{one.question}: raters disagree most about {item['item']} ({item['system']})"
            yield Section(title, found.drop(columns=["protocol", "question"]), DISPUTE)
