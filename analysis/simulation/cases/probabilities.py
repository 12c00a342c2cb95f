"""Reliability of stated probabilities: P(A beats B), and the probability of the first rank.

Systems' scores are drawn anew for each campaign (SD `SPREAD`), so that the truth is random, as the
probabilities take it to be. Reliability: of pairs said to be won with such a probability, how many
were; Brier's score (1950, Monthly Weather Review 78) is the mean squared distance of both. Apart
because it draws the truth anew in each campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.registry import get_metric, options_of
from analysis.simulation.campaigns import Design, assigned, table
from analysis.simulation.panels import severities

SPREAD = 0.4
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
METRICS = ("win_probability_learned", "win_probability", "rank_probability")


@dataclass(frozen=True)
class Probabilities:
    """Probabilities that were said, and whether it was so."""

    chance: np.ndarray
    true: np.ndarray


def campaign(design: Design, chance: Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """Draw systems' scores, and ratings without steps or ends, which would add a bias."""
    scores = chance.normal(0, SPREAD, design.systems)
    who = assigned(design, chance)
    bias = severities(design, chance, int(who["rater"].max()) + 1)
    felt = scores[who["system"]] + bias[who["rater"]]
    value = 3 + felt + chance.normal(0, design.noise, len(felt))
    ends = {"scale_low": 1.0, "scale_high": 5.0}
    drawn = table(who, value, design, chance, level="interval", **ends)
    return drawn, dict(zip(design.names, scores.tolist(), strict=True))


def probabilities(metric: str, design: Design, campaigns: int, seed: int) -> Probabilities:
    """Return what a metric said in campaigns; of pairs, of the one that is said to be better."""
    chances: list[float] = []
    true: list[bool] = []
    function = get_metric(metric)
    for k in range(campaigns):
        drawn, scores = campaign(design, np.random.default_rng([seed + k, *metric.encode()]))
        seeded = {"seed": seed + k} if "seed" in options_of(function) else {}
        for row in function(drawn, **seeded).to_dict("records"):
            if "other_system" in row:
                if row["estimate"] > 0.5:
                    chances.append(row["estimate"])
                    true.append(scores[row["system"]] > scores[row["other_system"]])
            elif row["rank"] == 1:
                chances.append(row["estimate"])
                true.append(scores[row["system"]] == max(scores.values()))
    return Probabilities(np.array(chances), np.array(true))


def reliability(
    design: Design, campaigns: int, *, metrics: list[str], seed: int
) -> Iterator[dict[str, object]]:
    """Yield a row per metric and bin: the mean of what was said, and how often it was so."""
    for metric in metrics:
        found = probabilities(metric, design, campaigns, seed)
        edges = EDGES if metric != "rank_probability" else (0.0, 0.25, *EDGES)
        brier = float(((found.chance - found.true) ** 2).mean())
        for low, high in pairwise(edges):
            chosen = (found.chance > low) & (found.chance <= high)
            if chosen.any():
                yield {
                    "metric": metric,
                    "conversations": design.conversations,
                    "campaigns": campaigns,
                    "from": low,
                    "to": high,
                    "n": int(chosen.sum()),
                    "said": float(found.chance[chosen].mean()),
                    "so": float(found.true[chosen].mean()),
                    "brier": brier,
                }
