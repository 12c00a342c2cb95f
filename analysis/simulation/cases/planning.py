"""Studies beside their people: means with two clusters, early stops, judges with people.

`conversations` of the design is how many items there are; `votes` of a pool of `RATERS` rate each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.planning.annotator_test import LEAST_ITEMS, annotator_test
from analysis.planning.components import ClusterSums, cluster_sums, clustered_mean
from analysis.planning.prediction_powered import JudgeRefused, powered_mean
from analysis.planning.sequential import StopRule, radius
from analysis.simulation.campaigns import Design
from analysis.simulation.trials import Estimator, Truth
from analysis.stats.intervals import t_interval
from analysis.tables.tidy import ALL, tidy

RATERS = 20
VOTES = 3
TASTE = 0.3
ITEM = 0.4
MIDDLE = 3.0
OTHERS = 10  # items that only the judge scored, for each that people rated
NEAR, BLIND = 0.5, 3.0  # SD of the judge's error
MEAN, SEQUENCE, JUDGED = "paired mean", "confidence sequence", "prediction-powered mean"
TESTED = "annotator test"
PEOPLE = 4


def planned(design: Design) -> Iterator[Estimator]:
    """Yield what planning, stopping and judging rest on; systems' replies differ by item."""
    static = replace(design, votes=VOTES, taste=TASTE, conversation_sd=ITEM, gap=0.0, missing=0.0)
    for raters in (RATERS, 6):
        scenario = f"3 of {raters} raters an item"
        yield Estimator(MEAN, scenario, Differences(raters), static, Known(MEAN, 0.0), measure=mean)
    for gap in (0.0, 0.5, 1.0):
        yield Estimator(SEQUENCE, f"a look after each item, {gap:g} apart", Differences(RATERS),
                        replace(static, gap=gap), tests=("p",), measure=stopped)  # fmt: skip
    yield Estimator(TESTED, "a judge as good as the raters, epsilon 0", alike, static,
                    tests=("p",), measure=tested)  # fmt: skip
    for error, judge in ((NEAR, "a judge near people"), (BLIND, "a judge who sees little")):
        yield Estimator(JUDGED, judge, JudgedItems(error), static, Known(JUDGED, MIDDLE),
                        measure=powered)  # fmt: skip


@dataclass(frozen=True)
class Known:
    """One number as the truth, under an estimator's name."""

    name: str
    value: float

    def __call__(self, design: Design) -> Truth:
        return {(self.name, ALL): self.value}


@dataclass(frozen=True)
class Differences:
    """Draws differences of two systems on a scale of 1 to 5, by raters who judge both."""

    raters: int

    def __call__(self, design: Design, chance: Generator) -> pd.DataFrame:
        who, item = _drawn(self.raters, design, chance)
        felt = MIDDLE + chance.normal(0, design.severity, self.raters)[who][:, None]
        felt = felt + chance.normal(0, design.taste, (self.raters, 2))[who]
        felt = felt + chance.normal(0, design.conversation_sd, (design.conversations, 2))[item]
        felt = felt + np.array([-1, 1]) * design.gap / 2
        value = _scale(felt + chance.normal(0, design.noise, felt.shape))
        return pd.DataFrame({"rater": who, "item": item, "value": value[:, 1] - value[:, 0]})


@dataclass(frozen=True)
class JudgedItems:
    """Draws people's ratings of some items, and a judge's scores of these and of many others."""

    error: float

    def __call__(self, design: Design, chance: Generator) -> pd.DataFrame:
        who, item = _drawn(RATERS, design, chance)
        quality = chance.normal(0, 2 * design.conversation_sd, (1 + OTHERS) * design.conversations)
        felt = MIDDLE + quality[item] + chance.normal(0, design.severity, RATERS)[who]
        value = _scale(felt + chance.normal(0, design.noise, len(item)))
        scores = MIDDLE + 1 + quality + chance.normal(0, self.error, len(quality))
        rated = pd.DataFrame({"rater": who, "item": item, "value": value, "score": scores[item]})
        others = pd.DataFrame({"rater": -1, "score": scores[design.conversations :]})
        return pd.concat([rated, others], ignore_index=True)


def alike(design: Design, chance: Generator) -> pd.DataFrame:
    """Draw ratings of raters as severe as each other, the first of whom is taken for the judge."""
    shape = (max(design.conversations, LEAST_ITEMS), 1 + PEOPLE)
    felt = MIDDLE + chance.normal(0, 2 * design.conversation_sd, (shape[0], 1))
    return pd.DataFrame(_scale(felt + chance.normal(0, design.noise, shape)))


def mean(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the mean of differences with both clusters."""
    found = clustered_mean(_sums(table))
    value, df = float(found.mean), float(found.df)
    ends = t_interval(value, float(np.sqrt(found.variance)), df)
    return _row(MEAN, estimate=value, low=ends.low, high=ends.high)


def stopped(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return p = 0 where the sequence left out 0 at any look, else 1."""
    columns = (table[name].to_numpy() for name in ("value", "rater", "item"))
    looks = clustered_mean(sums_by_look(*columns))
    out = np.abs(looks.mean) > radius(looks, StopRule(expected=0.5))
    return _row(SEQUENCE, estimate=float("nan"), p=float(not out.any()))


def powered(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return people and judge together; no interval where the judge is refused."""
    rated = table[table["rater"] >= 0]
    value, rater, item = (rated[name].to_numpy() for name in ("value", "rater", "item"))
    others = table.loc[table["rater"] < 0, "score"]
    try:
        found = powered_mean(value, rater, item, rated["score"], others)
    except JudgeRefused:
        nan = float("nan")
        return _row(JUDGED, estimate=float(rated["value"].mean()), low=nan, high=nan)
    return _row(JUDGED, estimate=found.estimate, low=found.interval.low, high=found.interval.high)


def tested(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return each rater's p that the judge is nearer to the others than the rater is."""
    judge, *people = (
        {str(item): float(value) for item, value in table[name].items()} for name in table
    )
    found = annotator_test({str(k): one for k, one in enumerate(people)}, judge, epsilon=0.0)
    nan = float("nan")
    return tidy(
        TESTED, [{"system": rater, "estimate": nan, "p": p} for rater, p in found.p.items()]
    )


def _drawn(raters: int, design: Design, chance: Generator) -> tuple[np.ndarray, np.ndarray]:
    who = np.argsort(chance.random((design.conversations, raters)), axis=1)[:, : design.votes]
    return who.ravel(), np.repeat(np.arange(design.conversations), design.votes)


def _scale(felt: np.ndarray) -> np.ndarray:
    return np.clip(np.round(felt), 1, 5)


def _sums(table: pd.DataFrame) -> ClusterSums:
    return cluster_sums(*(table[name].to_numpy() for name in ("value", "rater", "item")))


def sums_by_look(value: np.ndarray, rater: np.ndarray, item: np.ndarray) -> ClusterSums:
    """Return the sums after each item, of which all have as many raters."""
    items = np.arange(1.0, item.max() + 2)
    votes = len(value) // len(items)
    ends = votes * items.astype(int) - 1
    by_rater = np.eye(rater.max() + 1)[rater]
    count, total = (each.cumsum(axis=0)[ends] for each in (by_rater, by_rater * value[:, None]))
    of_item = value.reshape(-1, votes).sum(axis=1)
    return ClusterSums(
        n=votes * items,
        raters=(count > 0).sum(axis=1).astype(float),
        items=items,
        total=value.cumsum()[ends],
        squares=(value**2).cumsum()[ends],
        of_raters=(total**2 / np.maximum(count, 1)).sum(axis=1),
        of_items=(of_item**2 / votes).cumsum(),
        rater_pairs=(count**2).sum(axis=1),
        item_pairs=votes**2 * items,
    )


def _row(name: str, **numbers: float) -> pd.DataFrame:
    return tidy(name, [{"system": ALL, **numbers}])
