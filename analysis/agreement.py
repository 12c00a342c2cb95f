"""How far raters agree on a question: rows of a coefficient with its interval, or why it has none.

Intervals are percentile bootstraps over items (Efron & Tibshirani 1993, chapter 13), expanded for
few of them (Hesterberg 2015). An item is drawn with all its votes, so what is drawn is how often
each pattern of votes occurs. The raters stay as they are: of other raters the interval is too
narrow (`docs/rehearsal.md`), and the report rater_agreement has one over raters beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked
from analysis.intervals import DRAWS, PIECE, Floats, Interval, percentile_interval
from analysis.kappas import all_times, estimate
from analysis.tidy import ALL
from analysis.votes import Scale, Votes, units, votes

Statistic = Callable[[Votes, Floats], Floats]
# What pages and reports call each coefficient.
COEFFICIENTS = {
    "percent_agreement": "percent agreement",
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "fleiss_kappa_generalized": "Fleiss' kappa, with gaps",
    "cohen_kappa": "Cohen's kappa",
    "cohen_kappa_linear": "Cohen's kappa, linear weights",
    "cohen_kappa_quadratic": "Cohen's kappa, quadratic weights",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "icc_1_1": "ICC(1,1)",
    "icc_2_1": "ICC(2,1)",
    "icc_3_1": "ICC(3,1)",
    "icc_1_k": "ICC(1,k)",
    "icc_2_k": "ICC(2,k)",
    "icc_3_k": "ICC(3,k)",
}
# Why these are undefined is always told; of the others, only among all numbers.
USUAL = ("percent_agreement", "krippendorff_alpha", "fleiss_kappa")
# What many resamples may cost together, in votes looked at; fewer are drawn of a large table.
WORK = 200_000_000
FEWEST = 200
# So many patterns are drawn by their shares, however few units are alike.
SMALL = 2000


def parts(asked: Asked) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each system, and all; all only, where no unit has two ratings."""
    systems = list(asked.by_system())
    if len(systems) > 1 and len(asked.rows) == units(asked.rows).max(initial=-1) + 1:
        systems = []
    yield from systems
    if len(systems) != 1:
        yield ALL, asked.rows


def rows(
    asked: Iterable[Asked],
    choose: Callable[[Votes], Statistic | str],
    *,
    seed: int,
    value: Callable[[Votes], float] | None = None,
    level: Scale | None = None,
) -> Iterator[dict[str, object]]:
    """Yield a row per question and part: the statistic chosen, or the reason why there is none."""
    for question in asked:
        for system, rated in parts(question):
            given = votes(question, rated, level)
            row: dict[str, object] = {**question.name, "system": system, "n": given.units}
            chosen = choose(given)
            row["reason"] = chosen if isinstance(chosen, str) else None
            if not isinstance(chosen, str):
                row["estimate"] = estimate(given, chosen) if value is None else value(given)
                row["low"], row["high"] = interval(given, chosen, seed=seed)
            yield row


def told(results: pd.DataFrame) -> pd.DataFrame:
    """Return those of all results that tell how far raters agree, the usual coefficients first."""
    rank = {name: place for place, name in enumerate(COEFFICIENTS)}
    chosen = results[results["metric"].isin(rank)]
    chosen = chosen[chosen["metric"].isin(USUAL) | chosen["estimate"].notna()]
    order = chosen.assign(rank=chosen["metric"].map(rank))
    order = order.sort_values(["protocol", "question", "system", "rank"], kind="stable")
    return order.drop(columns="rank").reset_index(drop=True)


def interval(given: Votes, statistic: Statistic, *, seed: int) -> Interval:
    """Return the bootstrap interval over items of a statistic of resamples."""
    return percentile_interval(resamples(given, statistic, seed=seed), given.units)


def resamples(given: Votes, statistic: Statistic, *, seed: int, draws: int | None = None) -> Floats:
    """Return a statistic of resamples of all items, drawn by how many have each pattern."""
    rng = np.random.default_rng(seed)
    times = all_times(given)
    wanted = draws or affordable(given.counts.nnz, DRAWS)
    size = max(1, min(wanted, PIECE // max(len(times), 1)))
    draw = _drawing(rng, times)
    pieces = [statistic(given, draw(min(size, wanted - done))) for done in range(0, wanted, size)]
    return np.concatenate(pieces)


def affordable(cost: int, most: int) -> int:
    """Return how many resamples to draw of a table, each of which costs so much."""
    return int(np.clip(WORK // max(cost, 1), FEWEST, most))


def _drawing(rng: np.random.Generator, times: Floats) -> Callable[[int], Floats]:
    """Return what draws resamples: pattern by pattern, or item by item where few are alike."""
    total = int(times.sum())
    if len(times) < max(total / 8, SMALL):
        chances = times / total
        return lambda size: rng.multinomial(total, chances, size=size).astype(float)
    pattern = np.repeat(np.arange(len(times)), times.astype(np.int64))

    def draw(size: int) -> Floats:
        chosen = (pattern[rng.integers(total, size=total)] for _ in range(size))
        return np.array([np.bincount(one, minlength=len(times)) for one in chosen], dtype=float)

    return draw
