"""One question's answers for the cumulative link model: their effects are read off the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.cumulative import Answers, Fitted, Ints, NotConverged, fit
from analysis.groups import Asked
from analysis.intervals import normal_interval

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

    def on_scale(self, score: float) -> float:
        """Return the mean answer for a score: answers count by rank, points may be unequal."""
        steps = np.diff(self.points)
        above = self.fitted.shares_above(score)
        return float(self.points[0] + steps @ above)


def undefined(asked: Asked) -> str | None:
    """Return why the model has nothing to say of these answers, if so."""
    points = np.unique(asked.values)
    if len(points) < 2:
        return f"every answer is {points[0]:g}: nothing tells systems apart"
    if len(points) > MOST_POINTS:
        return f"{len(points)} different answers are no categories; {MOST_POINTS} at most"
    return None


def latent(asked: Asked, *, thresholds_by_rater: bool = False) -> Latent:
    """Fit the model; an effect is in it where it groups some answers and not all of them."""
    points, values = np.unique(asked.values, return_inverse=True)
    names, system = np.unique(asked.rows["system"].astype(str), return_inverse=True)
    effects = {
        name: codes for name in EFFECTS if (codes := _codes(asked, name, system)) is not None
    }
    by = "rater" if thresholds_by_rater and "rater" in effects and len(points) > 2 else None
    fitted = fit(Answers(values, len(points), system, len(names), effects, by))
    n = np.bincount(system)
    raw = np.bincount(system, asked.values) / n
    return Latent(tuple(names.tolist()), n, tuple(raw.tolist()), tuple(points.tolist()), fitted)


def _codes(asked: Asked, name: str, system: Ints) -> Ints | None:
    """Return an effect's groups; none where they are single answers, one, or the systems.

    An item is one system's reply or conversation, so that its effect is within the system.
    """
    if name not in asked.rows.columns:
        return None
    column = asked.rows[name].astype(str)
    if name == "item":
        column = column + "\0" + asked.rows["system"].astype(str)
    codes = np.unique(column, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    single = groups == len(codes)
    nested = len(np.unique(codes * (system.max() + 1) + system)) == groups
    same = nested and groups <= system.max() + 1
    return None if groups < 2 or single or same else codes


def rows_of(asked: Asked) -> Iterator[dict[str, object]]:
    """Yield a tidy row per system: the mean answer, its interval, and the log-odds behind it."""
    reason = undefined(asked)
    if reason is None:
        try:
            found = latent(asked)
        except NotConverged as problem:
            reason = str(problem)
    if reason is not None:
        for system, rows in asked.by_system():
            yield {**asked.name, "system": system, "n": len(rows), "reason": reason}
        return
    for k, system in enumerate(found.systems):
        yield {**asked.name, "system": system, **_row(found, k)}


def _row(found: Latent, k: int) -> dict[str, object]:
    mean, sd = float(found.fitted.scores.mean[k]), float(found.fitted.scores.sd[k])
    low, high = normal_interval(mean, sd)
    return {
        "estimate": found.on_scale(mean),
        "low": found.on_scale(low),
        "high": found.on_scale(high),
        "n": int(found.n[k]),
        "raw": found.raw[k],
        "log_odds": mean,
        "log_odds_sd": sd,
        **{f"{name}_sd": value for name, value in found.fitted.sds.items()},
    }
