"""How far raters agree: every coefficient of each question, and the items that they dispute.

Krippendorff's alpha (2011), Fleiss' kappa (1971) with gaps as in Gwet 2014, Conger's kappa (1980),
the coefficient of Brennan & Prediger (1981, Educational and Psychological Measurement 41, 687-699)
and Gwet's AC1 or AC2 (2008, 2014) side by side, since they differ in what they take for chance;
intervals over items and, where there are five raters or more, over raters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

from analysis import kappas
from analysis.agreement import Statistic, interval
from analysis.alpha import alphas
from analysis.ballots import ENOUGH_RATERS, ballots, conger, rater_intervals
from analysis.cautions import cautions
from analysis.coding import scale_of
from analysis.disputed import disputed
from analysis.groups import Asked, questions
from analysis.report import Report, Section
from analysis.tables import LEVELS, RatingTable
from analysis.votes import Votes

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
    asked = list(questions(ratings, *LEVELS))
    found = [pd.DataFrame(_rows(one, seed)) for one in asked]
    findings = tuple(_finding(one, rows) for one, rows in zip(asked, found, strict=True))
    sections = [
        Section(said, rows, NOTE) for said, rows in zip(findings, found, strict=True) if len(rows)
    ]
    return Report(
        name="rater_agreement",
        title="Agreement of raters",
        findings=findings or ("There are no ratings.",),
        sections=(*sections, *_worst(asked)),
        cautions=cautions(ratings),
    )


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    given = ballots(asked, asked.rows)
    chosen = list(_statistics(asked))
    boot = [statistic or kappas.percents for _, _, statistic in chosen]
    over_raters = rater_intervals(given, boot, seed=seed)
    for (name, weights, statistic), raters in zip(chosen, over_raters, strict=True):
        row: dict[str, object] = {"coefficient": name, "weights": weights}
        reason = _undefined(name, given.votes)
        numbers: tuple[float | None, ...] = (None,) * 5
        if reason is None and statistic is None:
            kind = WEIGHTS.get(scale_of(asked), "identity")
            numbers = (conger(given, kind), *numbers[1:])
        elif reason is None and statistic is not None:
            estimate = kappas.estimate(given.votes, statistic)
            numbers = (estimate, *interval(given.votes, statistic, seed=seed), *raters)
        yield {
            **row,
            **dict(zip(NUMBERS, numbers, strict=True)),
            "n": given.votes.units,
            "reason": reason,
        }


def _statistics(asked: Asked) -> Iterator[tuple[str, str, Statistic | None]]:
    """Yield name, weights and what computes it; None stands for Conger's kappa."""
    kind = WEIGHTS.get(scale_of(asked), "identity")
    yield "percent agreement", "identity", kappas.percents
    yield ALPHA, scale_of(asked), alphas
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


def _finding(asked: Asked, rows: pd.DataFrame) -> str:
    alpha = rows[rows["coefficient"] == ALPHA].iloc[0]
    start = f"{asked.protocol}, {asked.question}: "
    if alpha["reason"] is not None:
        return f"{start}alpha is not defined, because {alpha['reason']}."
    return (
        f"{start}alpha is {alpha['estimate']:.2f} ({alpha['low']:.2f} to {alpha['high']:.2f} over "
        f"items) on {alpha['n']} items."
    )


def _worst(asked: list[Asked]) -> Iterator[Section]:
    for one in asked:
        found = disputed(one, MOST_DISPUTED)
        if len(found):
            item = found.iloc[0]
            title = f"{one.question}: raters disagree most about {item['item']} ({item['system']})"
            yield Section(title, found.drop(columns=["protocol", "question"]), DISPUTE)
