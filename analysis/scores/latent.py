"""Latent scores of one question: its rows as effects of the cumulative link model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.cumulative_link import Fitted, Ints, NotConverged, OrderedAnswers, fit
from analysis.scores.incidence import distinct
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import Interval, normal_interval

SIMULATED_AS = ("ordinal_score",)

MOST_POINTS = 20
EFFECTS = ("rater", "item", "conversation")


@dataclass(frozen=True, eq=False)
class Latent:
    """A question on the log-odds scale; systems in order of name, `points` the answers given."""

    systems: tuple[str, ...]
    n: Ints
    raw: tuple[float, ...]
    points: tuple[float, ...]
    fitted: Fitted

    def on_scale(self, system: int) -> tuple[float, Interval]:
        """Return a system's mean answer, and its interval.

        Score and thresholds vary together, so that the mean is known better than the score alone;
        the interval is the delta method's on the log-odds of the way from one end to the other.
        """
        steps, fitted = np.diff(self.points), self.fitted
        above, slopes = fitted.shares_above(float(fitted.scores.mean[system]))
        moved = np.zeros(len(fitted.joint))
        moved[system] = steps @ slopes
        moved[len(self.systems) :] = -(steps * slopes)[1:]
        variance = float(moved @ fitted.joint @ moved)
        width = float(steps.sum())
        way = float(steps @ above) / width
        odds = float(np.log(way / (1 - way)))
        ends = normal_interval(odds, float(np.sqrt(max(variance, 0.0))) / width / (way * (1 - way)))
        low, high = (self.points[0] + width * float(special.expit(end)) for end in ends)
        return self.points[0] + width * way, Interval(low, high)


def undefined(question: QuestionRatings) -> str | None:
    """Return why the model has nothing to say of these answers, if so."""
    points = np.unique(question.values)
    if len(points) < 2:
        return f"every answer is {points[0]:g}: systems cannot be distinguished"
    if len(points) > MOST_POINTS:
        return f"{len(points)} different answers are too many for categories; {MOST_POINTS} at most"
    return None


def latent(question: QuestionRatings) -> Latent:
    """Fit the model; an effect is in it where it groups some answers and not all of them."""
    points, values = np.unique(question.values, return_inverse=True)
    system, names = pd.factorize(question.rows["system"], sort=True)
    effects = question.once_of_design("latent effects", lambda: _effects(question, system))
    fitted = fit(OrderedAnswers(values, len(points), system, len(names), effects))
    n = np.bincount(system)
    raw = np.bincount(system, question.values) / n
    return Latent(tuple(names.tolist()), n, tuple(raw.tolist()), tuple(points.tolist()), fitted)


def _effects(question: QuestionRatings, system: Ints) -> dict[str, Ints]:
    effects: dict[str, Ints] = {}
    for name in EFFECTS:
        codes = _codes(question, name, system)
        if codes is not None and not any(_alike(codes, other) for other in effects.values()):
            effects[name] = codes
    return effects


def _codes(question: QuestionRatings, name: str, system: Ints) -> Ints | None:
    """Return an effect's groups; none where they are single answers, one, or the systems.

    An item is one system's reply or conversation, so that its effect is within the system.
    """
    if name not in question.rows.columns:
        return None
    codes = pd.factorize(question.rows[name], sort=True, use_na_sentinel=False)[0]
    if name == "item":
        of_systems = codes * (int(system.max()) + 1) + system
        codes = distinct(of_systems)[1]
    groups = int(codes.max()) + 1
    single = groups == len(codes)
    nested = len(pd.unique(codes * (system.max() + 1) + system)) == groups
    same = nested and groups <= system.max() + 1
    return None if groups < 2 or single or same else codes.astype(np.int32)


def _alike(first: Ints, second: Ints) -> bool:
    """Tell whether two effects have the same groups, of which only the sum could be known."""
    both = len(pd.unique(first.astype(np.int64) * (int(second.max()) + 1) + second))
    return both == int(first.max()) + 1 == int(second.max()) + 1


def rows_of(question: QuestionRatings) -> Iterator[dict[str, object]]:
    """Yield a tidy row per system: the mean answer, its interval, and the log-odds behind it."""
    reason = undefined(question)
    if reason is None:
        try:
            found = latent(question)
        except NotConverged as problem:
            reason = str(problem)
    if reason is not None:
        for system, rows in question.by_system():
            yield {**question.name, "system": system, "n": len(rows), "reason": reason}
        return
    for k, system in enumerate(found.systems):
        yield {**question.name, "system": system, **_row(found, k)}


def _row(found: Latent, k: int) -> dict[str, object]:
    mean, sd = float(found.fitted.scores.mean[k]), float(found.fitted.scores.sd[k])
    estimate, (low, high) = found.on_scale(k)
    return {
        "estimate": estimate,
        "low": low,
        "high": high,
        "n": int(found.n[k]),
        "raw": found.raw[k],
        "log_odds": mean,
        "log_odds_sd": sd,
        **{f"{name}_sd": value for name, value in found.fitted.sds.items()},
    }
