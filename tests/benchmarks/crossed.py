"""Crossed model beside statsmodels, and its time: python -m tests.benchmarks.crossed [ratings ...].

Prints, for two designs of each size (five votes a reply; one rating a conversation), the seconds
that the incidence, the first fit and a refit take.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

from analysis.scores.crossed import CrossedDesign
from analysis.scores.incidence import Incidence, incidence, together
from analysis.stats.intervals import Floats

Codes = np.ndarray
SIZES = (10_000, 100_000, 1_000_000)


def oracle(of: Incidence, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return variances (residual first), scores and their covariance by statsmodels' MixedLM."""
    blocks = [
        np.eye(levels)[codes] for codes, levels in zip(of.effects.values(), of.levels, strict=True)
    ]
    names = [[[f"{name}{k}" for k in range(block.shape[1])]] for name, block in
             zip(of.effects, blocks, strict=True)]  # fmt: skip
    spec = VCSpec(list(of.effects), names, [[block] for block in blocks])
    x = np.eye(of.systems)[of.system]
    model = MixedLM(values, x, groups=np.ones(len(values)), exog_re=None, exog_vc=spec)
    found = model.fit(reml=True, method=["bfgs", "lbfgs"], gtol=1e-8, maxiter=2000)
    covariance = np.asarray(found.cov_params())[: of.systems, : of.systems]
    return np.array([found.scale, *found.vcomp]), np.asarray(found.fe_params), covariance


def drawn(ratings: int, votes: int, raters: int) -> tuple[Codes, Codes, Codes, Floats]:
    """Return systems, raters, items and answers from 1 to 5 of ten systems."""
    chance = np.random.default_rng(1)
    item = np.repeat(np.arange(ratings // votes), votes)
    rater = chance.integers(0, raters, ratings)
    felt = 3 + chance.normal(0, 0.5, raters)[rater] + chance.normal(0, 0.5, item.max() + 1)[item]
    value = np.clip(np.round(felt + chance.normal(0, 0.8, ratings)), 1, 5)
    return item % 10, rater, item, value


def main(sizes: list[int]) -> None:
    for ratings in sizes:
        for votes, raters in ((5, ratings // 200), (1, ratings // 20)):
            system, rater, item, value = drawn(ratings, votes, raters)
            began = time.perf_counter()
            effects = {"rater": rater, "item": item, "taste": together(rater, system)}
            design = CrossedDesign(incidence(system, effects))
            prepared = time.perf_counter()
            design.fit(value)
            first = time.perf_counter()
            design.fit(value)
            again = time.perf_counter() - first
            print(
                f"{ratings:9,} ratings, {votes} an item, {design.levels:7,} levels: prepared "
                f"{prepared - began:.2f} s, fit {first - prepared:.2f} s, again {again:.2f} s"
            )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or list(SIZES))
