"""Truths of estimators: by formula where there is one, else by one very large campaign.

The large campaign is drawn once, with a seed of its own, from the same process; its metrics are
the population's but for an error far below the width of any interval simulated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from analysis.registry import get_metric
from analysis.simulation.campaigns import Design, scale_truth, share_truth
from analysis.simulation.trials import Draw, Measure, Truth

SEED = 20_000_003
MANY = 10_000


@dataclass(frozen=True)
class Scale:
    """The mean ratings of a scale, under a metric's name."""

    metric: str

    def __call__(self, design: Design) -> Truth:
        return {(self.metric, name): one for name, one in scale_truth(design).items()}


@dataclass(frozen=True)
class Share:
    """The shares of yes, under a metric's name; what a conversation shares is in or left out."""

    metric: str
    of_conversations: bool = True

    def __call__(self, design: Design) -> Truth:
        drawn = design if self.of_conversations else replace(design, conversation_sd=0.0)
        return {(self.metric, name): one for name, one in share_truth(drawn).items()}


@dataclass(frozen=True)
class Drift:
    """The slope over places."""

    metric: str
    system: str

    def __call__(self, design: Design) -> Truth:
        return {(self.metric, self.system): design.drift}


@dataclass(frozen=True)
class Even:
    """The same of every system."""

    metric: str
    value: float

    def __call__(self, design: Design) -> Truth:
        return {(self.metric, name): self.value for name in design.names}


@dataclass(frozen=True)
class Large:
    """The value of a metric on a campaign with very many conversations per system.

    Where systems are `alike` theirs is one truth, the mean of what is said of each. With `votes` it
    is not the conversations that are very many, but the raters of each.
    """

    draw: Draw
    metric: str
    conversations: int = MANY
    alike: bool = False
    measure: Measure | None = None
    votes: int = 0

    def __call__(self, design: Design) -> Truth:
        large = replace(design, conversations=self.conversations)
        if self.votes:
            large = replace(design, votes=self.votes)
        return _estimates(self, large, (SEED,))


@dataclass(frozen=True)
class Expected:
    """The mean of what a metric says of many campaigns of the same size.

    That is what is estimated where a metric is of a log of this length, or the bias of a small
    campaign is no concern of its interval.
    """

    draw: Draw
    metric: str
    campaigns: int = 1000
    alike: bool = False
    measure: Measure | None = None

    def __call__(self, design: Design) -> Truth:
        return _estimates(self, design, tuple(range(SEED, SEED + self.campaigns)))


@cache
def _estimates(of: Large | Expected, design: Design, seeds: tuple[int, ...]) -> Truth:
    measure = of.measure or (lambda table, seed: get_metric(of.metric)(table))
    found = [measure(of.draw(design, np.random.default_rng(seed)), 0) for seed in seeds]
    table = pd.concat([one[one["estimate"].notna()] for one in found], ignore_index=True)
    by = ["metric", "question"] if of.alike else ["metric", "system", "question"]
    table["estimate"] = table.groupby(by)["estimate"].transform("mean").astype(float)
    named = table.drop_duplicates(["metric", "system", "question"])
    keys = zip(named["metric"], named["system"], named["question"], strict=True)
    truth = {
        tuple(map(str, key)): float(one) for key, one in zip(keys, named["estimate"], strict=True)
    }
    # Of raters drawn for each item, ICC(2,.) is not estimated, and is the same as ICC(1,.).
    alike = {
        (name.replace("icc_1", "icc_2"), *of_what): value
        for (name, *of_what), value in truth.items()
    }
    return {**alike, **truth}
