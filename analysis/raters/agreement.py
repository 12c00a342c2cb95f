"""Agreement on a question: rows of a coefficient with its interval, or why there is none.

Intervals are bootstraps over items, corrected for bias and acceleration where items are few (Efron
& Tibshirani 1993, chapters 13 and 14), and expanded for few of them (Hesterberg 2015). An item is
drawn with all its votes, so what is drawn is how often each pattern of votes occurs. Of more than
400 items they are the jackknife's, unless a few of these tell the most. The raters stay as they
are: of other raters the interval is too narrow (`docs/simulation.md`), and the report
rater_agreement has one over raters beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.raters import kappas
from analysis.raters.alpha import alphas
from analysis.raters.kappas import Weights, all_times, estimate
from analysis.raters.votes import Votes, votes
from analysis.scores.integer_codes import RowIndex, Scale, coded_question
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import (
    DRAWS,
    PIECE,
    Floats,
    Interval,
    bca_interval,
    percentile_interval,
    t_interval,
)
from analysis.tables.tidy import ALL

SIMULATED_AS = ("krippendorff_alpha", "percent_agreement", "gwet_ac1", "gwet_ac2")

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
# Of more items a resample is hardly biased or skewed, and each left out would cost as much again.
FEW = 400
# Groups of units that are left out where these are more than that.
GROUPS = 500
# An end of an interval moves by less than a tenth of an SD where the acceleration is below it.
SKEWED = 0.02
# Resamples of so many numbers are kept for the next coefficient.
KEPT = 4_000_000
# Weights of Gwet's AC2 by scale.
OF_SCALE: dict[str, tuple[Weights, ...]] = {"ordinal": ("ordinal",), "interval": ("quadratic",)}
# A unit is drawn so many times faster than how often a pattern of units comes.
ALIKE = 8
# Units that are drawn together: they stay near the processor.
NEAR = 100_000


def parts(question: QuestionRatings) -> Iterator[tuple[str, RowIndex]]:
    """Yield the places of each system's rows, and all; all only, where no unit has two ratings."""
    systems = question.once_of_design("places of systems", lambda: _by_system(question))
    if len(systems) > 1 and len(question.rows) == coded_question(question).unit.max(initial=-1) + 1:
        systems = []
    yield from systems
    if len(systems) != 1:
        yield ALL, slice(None)


def _by_system(question: QuestionRatings) -> list[tuple[str, RowIndex]]:
    code, names = pd.factorize(question.rows["system"], sort=True)
    order = np.argsort(code, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(code, minlength=len(names)))[:-1])
    return [(str(name), rows) for name, rows in zip(names, rows_of, strict=True)]


def rows(
    questions: Iterable[QuestionRatings],
    choose: Callable[[Votes], Statistic | str],
    *,
    seed: int,
    value: Callable[[Votes], float] | None = None,
    level: Scale | None = None,
) -> Iterator[dict[str, object]]:
    """Yield a row per question and part: the statistic chosen, or the reason why there is none."""
    for question in questions:
        for system, rows_of in parts(question):
            sample = votes(question, system, rows_of, level)
            row: dict[str, object] = {**question.name, "system": system, "n": sample.units}
            chosen = choose(sample)
            row["reason"] = chosen if isinstance(chosen, str) else None
            if not isinstance(chosen, str):
                row["estimate"] = estimate(sample, chosen) if value is None else value(sample)
                row["low"], row["high"] = interval(sample, chosen, seed=seed)
            yield row


def coefficients(results: pd.DataFrame) -> pd.DataFrame:
    """Return those of all results that tell how far raters agree, the usual coefficients first."""
    rank = {name: index for index, name in enumerate(COEFFICIENTS)}
    chosen = results[results["metric"].isin(rank)]
    chosen = chosen[chosen["metric"].isin(USUAL) | chosen["estimate"].notna()]
    order = chosen.assign(rank=chosen["metric"].map(rank))
    order = order.sort_values(["protocol", "question", "system", "rank"], kind="stable")
    return order.drop(columns="rank").reset_index(drop=True)


def interval(votes: Votes, statistic: Statistic, *, seed: int) -> Interval:
    """Return the interval over items of a statistic: of very many straight, else by bootstrap."""
    if votes.units > FEW:
        straight = _straight(votes, statistic, seed)
        if straight is not None:
            return straight
    drawn = resamples(votes, statistic, seed=seed)
    times = all_times(votes)
    # Of a single one nothing is left where it is left out.
    if votes.units > FEW or times.sum() < 2:
        return percentile_interval(drawn, votes.units)
    left_out = statistic(votes, times - np.eye(len(times)))
    return bca_interval(drawn, estimate(votes, statistic), left_out, times, votes.units)


def _straight(votes: Votes, statistic: Statistic, seed: int) -> Interval | None:
    """Return Student's interval by the jackknife; None where what units pull is skewed.

    Units are left out in groups where their patterns are many (Shao & Tu 1995, The Jackknife and
    Bootstrap, section 2.3; of unequal groups Busing, Meijer & van der Leeden 1999, Statistics and
    Computing 9, 3-8). Its width is known to 3 %, where that of 2,000 resamples is known to 2 %.
    """
    found, out, times = _left_out(votes, statistic, seed)
    if not np.isfinite(found).all():
        return None
    pull = found - np.average(found, weights=times)
    total = float(times @ out)
    spread, bent = float(times @ pull**2), float(times @ pull**3)
    if spread > 0 and abs(bent) > SKEWED * 6 * spread**1.5:
        return None
    variance = float(times @ ((total / out - 1) * pull**2)) / float(times.sum())
    return t_interval(estimate(votes, statistic), float(np.sqrt(variance)), min(GROUPS, total) - 1)


def _left_out(votes: Votes, statistic: Statistic, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return a statistic without some units, how many these are, and how many are like them.

    Where groups were drawn, what else will be wanted of them is kept: drawing them costs more.
    """
    name, known = _name(statistic), votes.left_out.setdefault(seed, {})
    if name not in known:
        wanted = {name: statistic}
        if len(votes.times) > GROUPS:
            wanted |= {_name(each): each for each in _usual(votes)}
        parts = [
            (out, times, *(each(votes, rest) for each in wanted.values()))
            for rest, out, times in _without(votes, seed)
        ]
        out, times, *found = (np.concatenate(each) for each in zip(*parts, strict=True))
        known |= {each: (of, out, times) for each, of in zip(wanted, found, strict=True)}
    return known[name]


def _without(votes: Votes, seed: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield what is left without some units, how many these are, and how many are like them."""
    times = all_times(votes)
    if len(times) <= GROUPS:
        yield times - np.eye(len(times)), np.ones(len(times)), times
        return
    pattern = np.repeat(np.arange(len(times)), times.astype(np.int64))
    pattern = np.random.default_rng(seed).permutation(pattern)
    size, count = max(1, PIECE // len(times)), min(GROUPS, len(pattern))
    for first in range(0, count, size):
        groups = [pattern[k::count] for k in range(first, min(first + size, count))]
        left = [times - np.bincount(each, minlength=len(times)) for each in groups]
        yield np.array(left), np.array([float(len(each)) for each in groups]), np.ones(len(left))


def resamples(
    sample: Votes, statistic: Statistic, *, seed: int, draws: int | None = None
) -> Floats:
    """Return a statistic of resamples of all items, drawn by how many have each pattern."""
    wanted = draws or affordable(sample.counts.nnz, DRAWS)
    # Of the same votes the same seed draws the same, whatever coefficient is lacking for.
    pieces = sample.drawn.get((seed, wanted))
    if pieces is None and wanted * len(sample.times) <= KEPT:
        pieces = sample.drawn[seed, wanted] = [*map(_small, _drawn(sample, seed, wanted))]
    if pieces is not None:
        return np.concatenate([statistic(sample, piece.astype(float)) for piece in pieces])
    return _at_once(sample, statistic, seed, wanted)


def _at_once(sample: Votes, statistic: Statistic, seed: int, wanted: int) -> Floats:
    """Return a statistic of resamples too many to keep, and keep what else will be asked of them.

    Drawing them costs more than the statistics of all coefficients together.
    """
    known = sample.found.setdefault((seed, wanted), {})
    if _name(statistic) not in known:
        lacking = {
            _name(each): each for each in (statistic, *_usual(sample)) if _name(each) not in known
        }
        found: dict[str, list[Floats]] = {name: [] for name in lacking}
        for drawn in _drawn(sample, seed, wanted):
            for name, each in lacking.items():
                found[name].append(each(sample, drawn))
        known.update({name: np.concatenate(parts) for name, parts in found.items()})
    return known[_name(statistic)]


def _usual(sample: Votes) -> Iterator[Statistic]:
    """Yield the statistics that `analysis.metrics` has for votes of this scale."""
    yield kappas.percents
    if sample.undefined is None:
        yield alphas
    if not kappas.too_many(sample):
        yield from (partial(kappas.gwet, kind=kind) for kind in OF_SCALE.get(sample.level, ()))


def _name(statistic: Statistic) -> str:
    """Return a name that is the same for the same statistic with the same settings."""
    if isinstance(statistic, partial):
        return f"{statistic.func!r} {statistic.args} {statistic.keywords}"
    return repr(statistic)


def _drawn(votes: Votes, seed: int, wanted: int) -> Iterator[Floats]:
    """Yield pieces of resamples: how often each pattern."""
    times = all_times(votes)
    size = max(1, min(wanted, PIECE // max(len(times), 1)))
    draw = _drawing(np.random.default_rng(seed), times)
    for done in range(0, wanted, size):
        yield draw(min(size, wanted - done))


def _small(piece: Floats) -> NDArray[np.integer]:
    """Return the same as integers no larger than needed, to be kept."""
    return piece.astype(np.min_scalar_type(int(piece.max(initial=0))))


def affordable(cost: int, most: int) -> int:
    """Return how many resamples to draw of a table, each of which costs so much."""
    return int(np.clip(WORK // max(cost, 1), FEWEST, most))


def _drawing(rng: np.random.Generator, times: Floats) -> Callable[[int], Floats]:
    """Return what draws resamples: pattern by pattern, or item by item where few are alike."""
    total, patterns = int(times.sum()), len(times)
    if patterns < total / ALIKE:
        chances = times / total
        return lambda size: rng.multinomial(total, chances, size=size).astype(float)
    pattern = np.repeat(np.arange(patterns), times.astype(np.int64))

    def draw(size: int) -> Floats:
        drawn = np.empty((size, patterns))
        rows = max(1, NEAR // total)
        for done in range(0, size, rows):
            piece = drawn[done : done + rows]
            units = rng.integers(total, size=(len(piece), total), dtype=np.int32)
            cells = pattern[units] + np.arange(0, piece.size, patterns)[:, None]
            piece[:] = np.bincount(cells.ravel(), minlength=piece.size).reshape(piece.shape)
        return drawn

    return draw
