"""Preferences (choix, evalica), labels (crowd-kit), correlations and tests.

Tables have gaps: systems that never met, items that a rater did not label, values that lack.
crowd-kit and ours take the same number of steps from the same start.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import choix
import evalica
import numpy as np
import pandas as pd
from crowdkit.aggregation import MACE, DawidSkene
from statsmodels.stats.multitest import multipletests

from analysis.comparisons import plackett_luce
from analysis.comparisons.bradley_terry import PairCounts, fit, undefined
from analysis.raters.dawid_skene import dawid_skene
from analysis.raters.mace import fitted
from analysis.stats import correlation
from analysis.stats.significance import holm
from tests.analysis.oracles.statistics import EXACT, Oracle
from tests.analysis.raters.test_dawid_skene import frame, simulated
from tests.analysis.raters.test_mace import _their_start as their_start

# --- comparisons of two, some of which nobody made -----------------------------------------------


def _met(tables: int, *, ties: bool) -> Iterator[PairCounts]:
    """Yield counts with gaps whose abilities are finite."""
    chance = np.random.default_rng(1952)
    while tables:
        size = int(chance.integers(3, 9))
        there = np.triu(chance.random((size, size)) < 0.75, 1)
        there = there | there.T
        won, tied, lost = (chance.integers(0, 6, (size, size)) * there for _ in range(3))
        given = PairCounts(*(each.astype(float) for each in (won, tied * ties, lost)))
        if undefined(given) is None:
            tables -= 1
            yield given


def _choix(tables: int) -> Iterator[float]:
    for given in _met(tables, ties=False):
        wins, size = given.wins, given.systems
        data = [(i, j) for i in range(size) for j in range(size) for _ in range(int(wins[i, j]))]
        other = choix.ilsr_pairwise(size, data, max_iter=1000, tol=1e-13)
        yield float(np.abs(fit(given).mean - (other - other.mean())).max())


def _evalica(method: str, tables: int) -> Iterator[float]:
    outcomes = (
        (evalica.Winner.X, "won"),
        (evalica.Winner.Draw, "tied"),
        (evalica.Winner.Y, "lost"),
    )
    for given in _met(tables, ties=True):
        rows = [
            (i, j, winner, float(getattr(given, name)[i, j]))
            for i, j in np.ndindex(given.won.shape)
            for winner, name in outcomes
            if getattr(given, name)[i, j] > 0
        ]
        first, second, winners, weights = (list(column) for column in zip(*rows, strict=True))
        options: Any = {"weights": weights, "index": pd.Index(range(given.systems))}
        if method == "counting":
            theirs = evalica.counting(first, second, winners, **options).scores
            yield float(np.abs(given.wins.sum(axis=1) - theirs.sort_index().to_numpy()).max())
            continue
        options |= {"tolerance": 1e-14, "limit": 100_000}
        theirs = evalica.bradley_terry(first, second, winners, **options).scores.sort_index()
        yield float(np.abs(fit(given.halved()).shares - (theirs / theirs.sum()).to_numpy()).max())


def _rankings(tables: int) -> Iterator[float]:
    """Plackett-Luce on rankings of some of the systems; gaps are systems not shown."""
    chance = np.random.default_rng(1975)
    while tables:
        size, count = int(chance.integers(3, 7)), int(chance.integers(25, 60))
        data = np.full((count, size), -1)
        for row in data:
            shown = chance.permutation(size)[: int(chance.integers(2, size + 1))]
            row[: len(shown)] = shown
        won = np.zeros((size, size))
        for row in data:
            kept = row[row >= 0]
            won[kept[:-1], kept[1:]] += 1
        if undefined(PairCounts(won, np.zeros_like(won), np.zeros_like(won))) is None:
            given = [tuple(row[row >= 0]) for row in data]
            other = choix.ilsr_rankings(size, given, max_iter=1000, tol=1e-13)
            ours = plackett_luce.fit(data, size, np.ones(count))
            tables -= 1
            yield float(np.abs(ours - (other - other.mean())).max())


# --- labels with gaps ----------------------------------------------------------------------------


def _dawid_skene(tables: int) -> Iterator[float]:
    for seed in range(tables):
        given = simulated(seed)
        package = DawidSkene(n_iter=15, tol=-1.0).fit(frame(given))
        assert package.probas_ is not None
        expected = package.probas_.sort_index()[list(range(given.categories))].to_numpy()
        yield float(np.abs(dawid_skene(given, most_steps=15).truth - expected).max())


def _mace(tables: int) -> Iterator[float]:
    for seed in range(tables):
        given = simulated(seed)
        package = MACE(n_restarts=1, n_iter=12).fit(frame(given))
        assert package.probas_ is not None
        expected = package.probas_[list(range(given.categories))].to_numpy()
        ours = fitted(given, their_start(given.raters, given.categories), steps=12)
        yield float(np.abs(ours.truth - expected).max())


# --- correlations and tests ----------------------------------------------------------------------


def _correlation(method: str, what: str, tables: int) -> Iterator[float]:
    import pingouin

    chance = np.random.default_rng(1904)
    for _ in range(tables):
        n = int(chance.integers(8, 60))
        x = np.round(chance.normal(size=n) * 2)
        y = np.round(x * chance.normal() + chance.normal(size=n) * 2)
        x[chance.random(n) < 0.1] = np.nan
        there = ~np.isnan(x)
        expected = pingouin.corr(x[there], y[there], method=method).iloc[0]
        ours = getattr(correlation, method)(x, y)
        yield abs(ours.estimate - expected["r"]) if what == "r" else abs(ours.p - expected.iloc[3])


def _holm(tables: int) -> Iterator[float]:
    chance = np.random.default_rng(1979)
    for _ in range(tables):
        p = chance.random(int(chance.integers(2, 30))) ** 3
        expected = multipletests(p, method="holm")[1]
        yield float(np.abs(np.array(holm(p.tolist())) - expected).max())


ORACLES = (
    Oracle("choix", "Bradley-Terry", EXACT, _choix),
    Oracle("choix", "Plackett-Luce", 1e-8, _rankings, 20),
    Oracle("evalica", "Bradley-Terry, ties half: shares", EXACT, partial(_evalica, "abilities")),
    Oracle("evalica", "wins, ties half", EXACT, partial(_evalica, "counting")),
    Oracle("crowd-kit", "Dawid-Skene, probabilities", 1e-8, _dawid_skene, 4),
    Oracle("crowd-kit", "MACE, probabilities", EXACT, _mace, 4),
    *(
        Oracle("pingouin", f"{method}, {what}", EXACT, partial(_correlation, method, what), 20)
        for method in ("pearson", "spearman")
        for what in ("r", "p")
    ),
    Oracle("statsmodels", "Holm's p", 1e-12, _holm, 8),  # it collects garbage each time
)
