"""Probes of a board of systems: what in its votes a list of abilities does not tell.

Each has a figure, a p where there is a test, and fires where something is there beyond chance.
Order (Davidson & Beaver 1977) and covariates of style (as in style control: Li, Angelopoulos &
Chiang 2024) are parameters beside the abilities; triples are counted as by Kendall & Babington
Smith 1940 (Biometrika 31, 324-345); clusters by how much votes of one resemble each other; a
rigging raters by Hoeffding's bound (1963, JASA 58, theorem 1) on what tastes would explain, alone
and together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse, special

from analysis.comparisons import bradley_terry as model
from analysis.comparisons import likelihoods
from analysis.comparisons.board import Board
from analysis.comparisons.clustered import clustered, widening
from analysis.comparisons.preferences import Compared
from analysis.stats.intervals import Floats

SIMULATED_AS = ("board probes",)

ALPHA = 0.01
CIRCLES, FEWEST_TRIPLES = 199, 10
THIN = 30
UNEVEN = 0.5
STEPS = 25
USUAL = 0.99
PIECE = 20_000
ALWAYS = 0.9  # of a system's votes, which raters who are taken together give it
TOGETHER_MOST = 500  # raters


@dataclass(frozen=True)
class Probe:
    """What a probe found; `p` is NaN without a test, `why` tells the figure in words."""

    name: str
    figure: float
    p: float
    fires: bool
    why: str


def tested(name: str, figure: float, p: float, why: str) -> Probe:
    return Probe(name, figure, p, p < ALPHA, why)


def first_shown(board: Board) -> Probe:
    """Return the advantage of the first shown, in log odds."""
    decided = board.found.points[board.found.points != 1]
    share = float((decided == 2).mean()) if len(decided) else float("nan")
    effect, errors = board.fitted.first, board.errors
    if effect is None or errors.few:
        why = "systems were not shown in both orders" if effect is None else "too few clusters"
        return Probe("order", float("nan"), float("nan"), False, why)
    se, df = errors.errors(np.eye(len(errors.alone))[-1:])
    p = float(2 * special.stdtr(df[0], -abs(effect) / se[0]))
    why = f"the first shown wins {share:.1%} of decided votes: {effect:+.3f} in log odds"
    return tested("order", effect, p, why)


def styles(board: Board, columns: Mapping[str, Floats]) -> list[Probe]:
    """Return a probe per covariate: log odds for one SD more in the first than in the second."""
    found, known = board.found, {k: v for k, v in columns.items() if float(np.std(v)) > 0}
    if not known or board.errors.few:
        return []
    more = [] if board.fitted.first is None else [np.ones(len(found.first))]
    scaled = [each / np.std(each) for each in known.values()]
    rows = likelihoods.design(found, *more, *scaled)
    at = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likelihood = likelihoods.of_halves(found, rows, at)
        step = likelihood.inverse @ np.asarray(likelihood.gradients.sum(axis=0)).ravel()
        at = at + step
        if np.abs(step).max() < 1e-9:
            break
    size = len(at)
    own = np.eye(size)[size - len(known) :]
    se, df = clustered(likelihood, found.rater, found.context).errors(own)
    effects = at[size - len(known) :]
    p = 2 * special.stdtr(df, -np.abs(effects) / se)
    moved = int((np.argsort(-at[: len(found.systems)], kind="stable") != board.order).sum())
    why = "an SD more moves the log odds by {:+.3f}; with it {} systems change their rank"
    return [
        tested(f"style: {name}", float(b), float(q), why.format(b, moved))
        for name, b, q in zip(known, effects, p, strict=True)
    ]


def triples(wins: Floats) -> tuple[Floats, Floats]:
    """Return how many triples of decided majorities are circles, and how many there are.

    `wins` has [..., row, column] wins without ties; an axis before is of several tables.
    """
    turned = wins.swapaxes(-1, -2)
    beats = (wins > turned).astype(np.float32)
    met = (wins != turned).astype(np.float32)
    circles, whole = (
        ((one @ one) * one.swapaxes(-1, -2)).sum(axis=(-1, -2), dtype=float) for one in (beats, met)
    )
    return np.round(circles / 3), np.round(whole / 6)


def circles(board: Board) -> Probe:
    """Return the share of decided triples that are circles, against what one order gives.

    Drawn with as many votes of each pair as its clustered ones are worth.
    """
    counts = board.found.counts()
    decided = model.PairCounts(counts.won, np.zeros_like(counts.tied), counts.lost)
    wins = decided.wins
    turning, whole = (float(each) for each in triples(wins))
    if whole < FEWEST_TRIPLES or model.undefined(decided) is not None:
        why = f"{whole:.0f} decided triples are too few to judge"
        return Probe("circles", float("nan"), float("nan"), False, why)
    mean = model.fit(decided).mean
    chance = np.random.default_rng(board.seed)
    effect = _worth(board.found, mean)
    alone, clustered_ = (_drawn(wins, mean, each, chance) for each in (1.0, effect))
    p = float((1 + (curl(clustered_) >= curl(wins)).sum()) / (1 + CIRCLES))
    expected = [float((found / np.maximum(of, 1)).mean()) for found, of in map(triples, (
        alone, clustered_))]  # fmt: skip
    why = (
        f"{turning:.0f} of {whole:.0f} decided triples are circles, {turning / whole:.1%}; one "
        f"order gives {expected[0]:.1%} if votes are independent, {expected[1]:.1%} as clustered"
    )
    return tested("circles", turning / whole, p, why)


def curl(wins: Floats) -> Floats:
    """Return the sum over triples of the square of what net shares of wins add up to around each.

    Of one order it is chance; Jiang, Lim, Yao & Ye 2011 (Mathematical Programming 127, section 3).
    """
    turned = wins.swapaxes(-1, -2)
    met = (wins + turned).astype(np.float32)
    share = (wins - turned).astype(np.float32) / np.maximum(met, 1)
    there = (met > 0).astype(np.float32)
    own = (share**2 @ there * there).sum(axis=(-1, -2), dtype=float)
    across = (share @ share * there).sum(axis=(-1, -2), dtype=float)
    return np.asarray((own + 2 * across) / 2, dtype=float)


def _drawn(wins: Floats, mean: Floats, effect: float, chance: np.random.Generator) -> Floats:
    """Return tables of wins as one order gives them, of so many fewer votes."""
    upper = np.triu_indices(len(wins), 1)
    votes = (wins + wins.T)[upper]
    worth = np.where(votes > 0, np.maximum(1, np.round(votes / effect)), 0)
    trials = np.asarray(worth, dtype=np.int64)
    odds = special.expit(mean[upper[0]] - mean[upper[1]])
    drawn = np.zeros((CIRCLES, *wins.shape))
    won = chance.binomial(trials, odds, (CIRCLES, len(trials)))
    drawn[:, upper[0], upper[1]] = won
    drawn[:, upper[1], upper[0]] = trials - won
    return drawn


def _worth(found: Compared, mean: Floats) -> float:
    """Return how many votes of a pair are worth one, by rater and context; 1 if independent."""
    kept = found.points != 1
    first, second = found.first[kept], found.second[kept]
    gaps = found.points[kept] / 2 - special.expit(mean[first] - mean[second])
    turned = first > second
    gaps = np.where(turned, -gaps, gaps)
    size = len(found.systems)
    pair = np.where(turned, second * size + first, first * size + second)
    whole, worth = float(gaps @ gaps), 1.0
    for codes in (found.rater[kept], found.context[kept]):
        cell = pd.factorize(pair * (int(codes.max()) + 1) + codes)[0]
        worth += float((np.bincount(cell, gaps) ** 2).sum()) / whole - 1
    return max(1.0, worth)


def clusters(board: Board, name: str, codes: np.ndarray, left_out: np.ndarray) -> Probe:
    """Return by how much votes of one cluster widen the intervals; `left_out` marks rigged ones.

    The test is Student's t over clusters of what votes of one have in common, which is 0 on
    average where they are independent.
    """
    wider, size = widening(board.likelihood, codes), len(board.found.systems)
    inverse = board.likelihood.inverse[:size, :size]
    kept = ~left_out
    common = _in_common(board, codes[kept], kept, inverse @ inverse)
    spread = float(np.sqrt((common**2).sum()))
    t = float(common.sum()) / spread if spread > 0 else 0.0
    p = float(special.stdtr(max(len(common) - 1, 1), -t))
    why = f"votes of one {name} make intervals {wider:.2f} times as wide as independent ones"
    return tested(f"{name} clusters", wider, p, why)


def _in_common(board: Board, codes: np.ndarray, kept: np.ndarray, weight: Floats) -> Floats:
    """Return of each cluster the sum of products of its votes' pulls, without their squares."""
    found, size = board.found, len(weight)
    codes = pd.factorize(codes)[0]
    first, second = found.first[kept], found.second[kept]
    gaps = _gaps(board)[kept]
    where = (np.tile(codes, 2), np.concatenate([first, second]))
    count = int(codes.max(initial=0)) + 1
    sums = sparse.csr_array((np.concatenate([gaps, -gaps]), where), shape=(count, size))
    squares = np.empty(count)
    for start in range(0, count, PIECE):
        part = sums[start : start + PIECE].toarray()
        squares[start : start + PIECE] = ((part @ weight) * part).sum(axis=1)
    own = weight[first, first] + weight[second, second] - 2 * weight[first, second]
    return np.asarray(squares - np.bincount(codes, gaps**2 * own, count), dtype=float)


def _gaps(board: Board) -> Floats:
    found, ahead = board.found, board.fitted.first or 0.0
    mean = board.fitted.mean
    chance = special.expit(mean[found.first] - mean[found.second] + ahead)
    return np.asarray(found.points / 2 - chance, dtype=float)


def rigged(board: Board, names: np.ndarray | None = None) -> tuple[Probe, np.ndarray]:
    """Return the raters who most surely vote for one system whatever it is beside, and the votes.

    Of each rater and system: votes that it won beyond what abilities and tastes as spread as all
    raters' explain, bounded by Hoeffding. Of each system the surest rater, and the surest two,
    three ... who choose it nearly always, are taken together (`_together`), and Bonferroni is over
    systems and numbers of raters. Votes spread so thinly over raters that each has fewer than some
    ten of a system are not found.
    """
    found, gaps = board.found, _gaps(board)
    size = len(found.systems)
    cell, keys = pd.factorize(
        np.concatenate([found.rater * size + found.first, found.rater * size + found.second]),
        sort=True,
    )
    points = np.concatenate([found.points, 2 - found.points]) / 2
    expected = points - np.concatenate([gaps, -gaps])
    n = np.bincount(cell).astype(float)
    won, mean = np.bincount(cell, points) / n, np.bincount(cell, expected) / n
    variance = np.bincount(cell, expected * (1 - expected))
    beyond = ((won - mean) * n) ** 2 - variance
    # The few that stick out most may be what is looked for, not tastes.
    usual = beyond <= np.quantile(beyond, USUAL)
    taste = max(0.0, float(beyond[usual].sum()) / float((variance[usual] ** 2).sum()))
    bound = n * (special.rel_entr(won, mean) + special.rel_entr(1 - won, 1 - mean))
    bound = np.where(won > mean, bound, 0.0) / (1 + taste * variance)
    sure, p = np.zeros(len(n), dtype=bool), 1.0
    for system in range(size):
        of = np.flatnonzero(keys % size == system)
        surest, log_p = _together(bound[of], won[of])
        of_system = min(1.0, size * float(np.exp(log_p)))
        sure[of[surest]] = of_system < ALPHA
        p = min(p, of_system)
    voted = sure[cell[: len(found.first)]] | sure[cell[len(found.first) :]]
    worst = int(np.where(sure, bound, -1.0).argmax() if sure.any() else bound.argmax())
    rater, system = divmod(int(keys[worst]), size)
    named = "a rater" if names is None else str(names[rater])
    cells = "1 rater and system" if sure.sum() == 1 else f"{int(sure.sum())} raters and systems"
    why = (
        f"{cells} beyond tastes, with {int(n[sure].sum())} votes; the surest: {named} on "
        f"{found.systems[system]}, {won[worst]:.0%} of {int(n[worst])} votes where "
        f"{mean[worst]:.0%} is expected"
    )
    return tested("rigging", float(n[sure].sum()), p, why), voted


def _together(bound: Floats, won: Floats) -> tuple[np.ndarray, float]:
    """Return which raters of a system are the surest ones taken together, and the log of their p.

    Minus the log of a p is at most exponential where nothing is there, so a sum of m is at most a
    gamma variable; there are C(raters, m) sums to choose the highest from, and m itself has its
    part of the error, 1 / (m (m + 1)). One rater may be of any taste; several have to choose the
    system nearly always, or many raters of a strong taste would be taken for rigging.
    """
    several = np.where(won >= ALWAYS, bound, 0.0)
    order = np.argsort(-several, kind="stable")[:TOGETHER_MOST]
    m = np.arange(1.0, len(order) + 1)
    sums = several[order].cumsum()
    sums[0] = bound.max()
    chosen = special.gammaln(len(bound) + 1) - special.gammaln(m + 1)
    chosen -= special.gammaln(len(bound) - m + 1)
    log_p = np.log(m * (m + 1)) + chosen + _log_gamma_tail(m, sums)
    best = int(log_p.argmin())
    return (order[: best + 1] if best else np.array([bound.argmax()])), float(log_p[best])


def _log_gamma_tail(shape: Floats, value: Floats) -> Floats:
    """Return the log of a gamma variable's tail, by Chernoff's bound where it is below 1e-290."""
    tail = special.gammaincc(shape, value)
    ratio = np.maximum(value / shape, 1.0)
    chernoff = -shape * (ratio - 1 - np.log(ratio))
    log_tail = np.where(tail > 1e-290, np.log(np.maximum(tail, 1e-300)), chernoff)
    return np.asarray(log_tail, dtype=float)


def compared_enough(board: Board) -> list[Probe]:
    """Return how many systems have few comparisons, and how unevenly these are spread (Gini)."""
    size = len(board.found.systems)
    met = np.sort(np.bincount(np.concatenate([board.found.first, board.found.second]), None, size))
    few = int((met < THIN).sum())
    rank = np.arange(1, size + 1)
    gini = float(2 * (rank * met).sum() / (size * met.sum()) - (size + 1) / size)
    none = float("nan")
    spread = f"systems have {met[0]} to {met[-1]} comparisons, Gini {gini:.2f}"
    thin = f"{few} of {size} systems have fewer than {THIN} comparisons"
    return [
        Probe("few comparisons", few, none, few > 0, thin),
        Probe("uneven comparisons", gini, none, gini > UNEVEN, spread),
    ]


def other_rules(board: Board, neighbors: pd.DataFrame) -> list[Probe]:
    """Return how many neighbors that are told apart turn round without ties, and without order."""
    counts = board.found.counts()
    without = model.PairCounts(counts.won, np.zeros_like(counts.tied), counts.lost)
    rules = {"tie rule": (without, board.fitted.first is not None), "order left out": (
        counts.halved(), False)}  # fmt: skip
    apart = (neighbors["p"] < 1 - 0.95).to_numpy()
    return [_turned(name, board, apart, *rule) for name, rule in rules.items()]


def _turned(
    name: str, board: Board, apart: np.ndarray, counts: model.PairCounts, order: bool
) -> Probe:
    none = float("nan")
    if model.undefined(counts) is not None:
        return Probe(name, none, none, False, "abilities are not defined under the other rule")
    other = model.fit(counts, order=order).mean[board.order]
    turned = int(((np.diff(other) > 0) & apart).sum())
    why = f"{turned} of {int(apart.sum())} neighbors told apart turn round under the other rule"
    return Probe(name, turned, none, turned > 0, why)
