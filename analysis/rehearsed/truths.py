"""What an estimator estimates: by formula where there is one, else one very large campaign.

The large campaign is drawn once, with a seed of its own, from the same process; its metrics are
the population's but for an error far below the width of any interval rehearsed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from analysis.registry import get_metric
from analysis.rehearsed.trials import Draw, Truth
from analysis.simulated import Design, scale_truth, share_truth

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
    of_talks: bool = True

    def __call__(self, design: Design) -> Truth:
        drawn = design if self.of_talks else replace(design, talk=0.0)
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
    """What a metric says of a campaign with very many conversations for each system."""

    draw: Draw
    metric: str
    conversations: int = MANY

    def __call__(self, design: Design) -> Truth:
        return _large(self.draw, self.metric, replace(design, conversations=self.conversations))


@cache
def _large(draw: Draw, metric: str, design: Design) -> Truth:
    found = get_metric(metric)(draw(design, np.random.default_rng(SEED)))
    known = found[found["estimate"].notna()]
    keys = zip(known["metric"].astype(str), known["system"].astype(str), strict=True)
    truth = dict(zip(keys, known["estimate"].astype(float), strict=True))
    # Of raters drawn for each item, ICC(2,.) is not estimated, and is the same as ICC(1,.).
    alike = {
        (name.replace("icc_1", "icc_2"), system): value for (name, system), value in truth.items()
    }
    return {**alike, **truth}
