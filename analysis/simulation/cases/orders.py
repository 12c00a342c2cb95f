"""Order recovery: how often scores put systems in the planted order, with severe and mild raters.

Raters see systems unevenly (`uneven`), as where a link is shared
and people come and go: then raw means mix a system's quality with who happened to rate it. Four
ways to score: raw means, the published model by its closed form (`flat_mean` of calibrated_score;
its truncated prior moves no order that is not a tie), variances learned, and ordered answers. Apart
because orders are compared with raw means, which the other cases are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import scipy
from numpy.random import Generator

from analysis.scores.latent import latent
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, flat_scores, sums
from analysis.simulation.campaigns import Design, table
from analysis.simulation.panels import severities
from analysis.tables.schema import RatingTable

PER_RATER = (1, 2, 4, 8, 16)
SEVERITIES = (0.5, 1.0)
Scores = Mapping[str, float]


def raw(question: QuestionRatings) -> Scores:
    """Return the mean of each system."""
    totals = sums(question)
    return dict(zip(totals.systems, totals.raw.tolist(), strict=True))


def calibrated(question: QuestionRatings) -> Scores:
    """Return the scores of the published model under a flat prior, all SDs 1."""
    totals = sums(question)
    return dict(zip(totals.systems, flat_scores(totals).mean.tolist(), strict=True))


def learned(question: QuestionRatings) -> Scores:
    """Return the scores with variances learned; means where there is nothing to learn from."""
    totals = sums(question)
    fitted = fit(totals)
    scores = totals.raw if fitted is None else fitted.scores.mean
    return dict(zip(totals.systems, scores.tolist(), strict=True))


def ordinal(question: QuestionRatings) -> Scores:
    """Return the scores of ordered answers."""
    found = latent(question)
    return dict(zip(found.systems, found.fitted.scores.mean.tolist(), strict=True))


WAYS: dict[str, Callable[[QuestionRatings], Scores]] = {
    "raw means": raw,
    "calibrated_score": calibrated,
    "calibrated_score_learned": learned,
    "ordinal_score": ordinal,
}


def uneven(design: Design, chance: Generator) -> RatingTable:
    """Draw one rating for every conversation, raters having some systems far more than others."""
    who = unevenly(design, chance)
    rater, system = who["rater"], who["system"]
    severity = severities(design, chance, int(rater.max()) + 1)[rater]
    felt = 3 + design.scores[system] + severity
    value = np.clip(np.round(felt + chance.normal(0, design.noise, len(felt))), 1, 5)
    ends = {"scale_low": 1.0, "scale_high": 5.0}
    return table(who, value, replace(design, missing=0.0), chance, level="ordinal", **ends)


def unevenly(design: Design, chance: Generator) -> dict[str, np.ndarray]:
    """Return who has which conversation: half of a rater's are with one system, others drawn."""
    total = design.systems * design.conversations
    rater = np.arange(total) // design.each
    favorite = chance.permutation(np.arange(int(rater.max()) + 1) % design.systems)[rater]
    drawn = chance.integers(0, design.systems, total)
    system = np.where(chance.random(total) < 0.5, favorite, drawn)
    who = {"system": system, "rater": rater, "conversation": np.arange(total)}
    return {**who, "place": np.arange(total) % design.each}


def designs(design: Design) -> Iterator[Design]:
    """Yield the campaigns: the same number of ratings, from many raters or from few."""
    for severity in SEVERITIES:
        for each in PER_RATER:
            yield replace(design, severity=severity, each=each)


def recovered(design: Design, ways: list[str], seed: int) -> dict[str, tuple[bool, float]]:
    """Return of one campaign whether each way has the order, and Kendall's tau with it."""
    chance = np.random.default_rng([seed, design.each, int(10 * design.severity)])
    (question,) = questions(uneven(design, chance), "ordinal")
    found = {}
    for way in ways:
        scores = WAYS[way](question)
        order = [scores.get(name, np.nan) for name in design.names]
        tau = float(scipy.stats.kendalltau(design.scores, order).statistic)
        found[way] = bool((np.diff(order) > 0).all()), tau
    return found


def compared(
    design: Design, campaigns: int, *, ways: list[str], seed: int
) -> Iterator[dict[str, object]]:
    """Yield a row per design and way: share of exact orders, mean tau, and how far above raw."""
    for one in designs(design):
        found = [recovered(one, ways, seed + k) for k in range(campaigns)]
        plain = np.array([trial[ways[0]] for trial in found], dtype=float)
        for way in ways:
            of_way = np.array([trial[way] for trial in found], dtype=float)
            gain = of_way - plain
            yield {
                "severity": one.severity,
                "ratings per rater": one.each,
                "scores": way,
                "campaigns": campaigns,
                "exact": float(of_way[:, 0].mean()),
                "exact se": _se(of_way[:, 0]),
                "tau": float(of_way[:, 1].mean()),
                "tau se": _se(of_way[:, 1]),
                "exact above raw": float(gain[:, 0].mean()),
                "above raw se": _se(gain[:, 0]),
            }


def _se(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
