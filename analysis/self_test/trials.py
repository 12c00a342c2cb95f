"""Trials of the report's estimators on drawn campaigns: by how much intervals are too short.

What each interval needs is the factor by which its standard error must be multiplied to hold the
truth: 1 or less where it does. Shares of needs up to 1 are coverage, their 95 % quantile is the
factor that would have covered 95 %. Apart because `tests.benchmarks.self_test` tries the same on
fresh campaigns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import special

from analysis.scores.crossed import FEWEST
from analysis.scores.incidence import incidence
from analysis.scores.system_scores import ScoredDesign, SystemScores, withheld
from analysis.self_test.population import DrawnCampaign, Floats, Population
from analysis.stats.intervals import LEVEL

SIMULATED_AS = ("system_score", "system_difference")


@dataclass(frozen=True, eq=False)
class Needs:
    """Needs of campaigns: of scores (campaigns x systems), of pairs (campaigns x pairs).

    `of_equal` is what each pair of a campaign of equal systems needs so that the smallest p is not
    below .05 over the number of pairs: so long Holm finds nothing. `draws` campaigns were drawn.
    """

    scores: Floats
    pairs: Floats
    of_equal: Floats
    draws: int


def pairs_of(systems: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the systems of each pair, in order."""
    return np.triu_indices(systems, 1)


def needs(design: ScoredDesign, of: Population, draws: int, chance: Generator) -> Needs:
    """Return what intervals need in so many campaigns, every other one with equal systems."""
    scores, pairs, family = [], [], []
    equal = of.equal()
    for number in range(draws):
        is_equal = number % 2 == 0
        campaign = (equal if is_equal else of).drawn(chance)
        found = _scored(design, campaign)
        if found is None:
            continue
        of_scores, of_pairs, of_all = of_campaign(found, campaign.truth)
        scores.append(of_scores)
        pairs.append(of_pairs)
        if is_equal:
            family.append(of_all)
    size = len(design.systems)
    count = size * (size - 1) // 2
    return Needs(np.reshape(scores, (-1, size)), np.reshape(pairs, (-1, count)),
                 np.reshape(family, (-1, count)), draws)  # fmt: skip


def of_campaign(found: SystemScores, truth: Floats) -> tuple[list[float], Floats, Floats]:
    """Return what a campaign's scores need, its pairs, and its pairs were systems equal."""
    scores = [found.miss(k, float(real)) for k, real in enumerate(truth)]
    return scores, _of_pairs(found, truth), _of_family(found)


def _scored(design: ScoredDesign, campaign: DrawnCampaign) -> SystemScores | None:
    if campaign.kept.all():
        found = design.scores(campaign.values)
        return None if found.fit is None else found
    kept = campaign.kept
    system = design.incidence.system[kept]
    if len(np.unique(system)) < len(design.systems):
        return None
    effects = {k: pd.factorize(v[kept])[0] for k, v in design.incidence.effects.items()}
    left = incidence(system, effects)
    # It is fitted once, so that errors of variances are drawn as seldom as for the largest tables.
    smaller = ScoredDesign(
        design.systems, left, effects, design.ends, design.is_yes_no, withheld(left), FEWEST
    )
    found = smaller.scores(campaign.values[kept])
    return None if found.fit is None else found


def _of_pairs(found: SystemScores, truth: Floats) -> Floats:
    """Return the factor by which each pair's error would just hold the truth."""
    return _in_half_widths(found, truth, 1 - LEVEL)


def _of_family(found: SystemScores) -> Floats:
    """Return the factor by which each pair's p would just be .05 over the number of pairs."""
    count = len(pairs_of(len(found.systems))[0])
    return _in_half_widths(found, np.zeros(len(found.systems)), (1 - LEVEL) / max(count, 1))


def _in_half_widths(found: SystemScores, truth: Floats, alpha: float) -> Floats:
    fit, (first, second) = found.fit, pairs_of(len(truth))
    if fit is None:  # callers have seen to it
        return np.zeros(0)
    gaps = np.abs(fit.mean[first] - fit.mean[second] - truth[first] + truth[second])
    errors, freedom = fit.of_pairs(first, second)
    return np.asarray(gaps / errors / special.stdtrit(freedom, 1 - alpha / 2))
