"""A judge beside people: coverage, width beside people alone, and refusals, by campaigns.

    python -m tests.benchmarks.judge_and_people [--campaigns 2000]

People rate a random part of the items, a judge scores ten times as many besides, on a scale of its
own, half a point too high and steeper. Ratings are 1 to 5; SDs of items .8, raters .4, noise .8. A
judge's correlation is with what people would say of an item in the mean. Then campaigns that must
be refused, since the judge's scores do not carry over: people rated the better items, or those of
another system. Simulated here by numpy alone; exits 1 where a row does not hold.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np

from analysis.planning.prediction_powered import JudgeRefused, PoweredMean, powered_mean
from analysis.stats.intervals import Interval

TIMES = 10
ITEM, RATER, NOISE = 0.8, 0.4, 0.8
TRUTH = 3.0  # the middle of the scale, whose steps and ends are alike on both sides
LEAST, MOST, ERRORS = 0.93, 0.97, 2.0
WIDER = 1.01
LEAST_REFUSED = 0.95


class Part(NamedTuple):
    """What people rate: `votes` of `raters` an item; `shift` is how much better the items are."""

    name: str
    items: int
    raters: int
    votes: int
    correlation: float
    shift: float = 0.0


HOLD = (
    Part("20 labels, one each of 20 raters", 20, 20, 1, 0.6),
    Part("20 labels of 10 raters", 20, 10, 1, 0.6),
    Part("20 labels, two of 10 raters an item", 10, 10, 2, 0.6),
    Part("40 labels, two of 10 raters an item", 20, 10, 2, 0.7),
    Part("60 labels, three of 12 raters an item", 20, 12, 3, 0.7),
    Part("100 labels, three of 12 raters an item", 34, 12, 3, 0.7),
    Part("100 labels of 25 raters", 100, 25, 1, 0.4),
    Part("100 labels, two of 8 raters an item", 50, 8, 2, 0.8),
    Part("20 labels of 100 raters", 20, 100, 1, 0.9),
    Part("100 labels of 500 raters", 100, 500, 1, 0.9),
    Part("100 labels of 25 raters, a judge who knows nothing", 100, 25, 1, 0.0),
)
REFUSED = (
    Part("20 labels, items 1.5 SDs better", 20, 10, 1, 0.8, shift=1.2),
    Part("100 labels, items an SD better", 100, 25, 1, 0.8, shift=0.8),
    Part("9 rated items", 9, 9, 1, 0.8),
)


def campaign(of: Part, seed: int) -> PoweredMean | None:
    """Return what people and judge say of one campaign; None where the judge is refused."""
    chance = np.random.default_rng([seed, of.items, of.raters, round(10 * of.correlation)])
    quality = chance.normal(0, ITEM, (1 + TIMES) * of.items)
    quality[: of.items] += of.shift
    own = np.sqrt(1 - of.correlation**2) * chance.normal(0, ITEM, len(quality))
    scores = TRUTH + 0.5 + 1.5 * (of.correlation * quality + own)
    rater = _turns(of, chance)
    item = np.repeat(np.arange(of.items), of.votes)
    felt = TRUTH + quality[item] + chance.normal(0, RATER, of.raters)[rater]
    value = np.clip(np.round(felt + chance.normal(0, NOISE, len(item))), 1, 5)
    try:
        return powered_mean(value, rater, item, scores[item], scores[of.items :])
    except JudgeRefused:
        return None


def _turns(of: Part, chance: np.random.Generator) -> np.ndarray:
    """Return who rates: in turns, so that all rate equally much, in an order by lot."""
    return chance.permutation(of.raters)[np.arange(of.items * of.votes) % of.raters]


def row(of: Part, campaigns: int) -> tuple[str, bool]:
    """Return a line of the table, and whether it holds."""
    found = [campaign(of, seed) for seed in range(campaigns)]
    kept = [each for each in found if each is not None]
    held = float(np.mean([_holds(each.interval) for each in kept]))
    alone = float(np.mean([_holds(each.people_interval) for each in kept]))
    widths = np.array([_width(each.interval) / _width(each.people_interval) for each in kept])
    error = np.sqrt(held * (1 - held) / len(kept))
    holds = LEAST - ERRORS * error <= held <= MOST + ERRORS * error and widths.max() <= WIDER
    refused = 1 - len(kept) / campaigns
    numbers = f"{held:.3f}", f"{alone:.3f}", f"{widths.mean():.3f}", f"{widths.max():.3f}"
    cells = (of.name, f"{of.correlation:g}", *numbers, f"{refused:.3f}", _said(holds))
    return f"| {' | '.join(cells)} |", bool(holds)


def refusals(of: Part, campaigns: int) -> tuple[str, bool]:
    """Return a line of the table of what is to be refused, and whether it is."""
    share = float(np.mean([campaign(of, seed) is None for seed in range(campaigns)]))
    holds = share >= LEAST_REFUSED
    return f"| {of.name} | {of.correlation:g} | {share:.3f} | {_said(holds)} |", holds


def _said(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _holds(interval: Interval) -> bool:
    return interval.low <= TRUTH <= interval.high


def _width(interval: Interval) -> float:
    return interval.high - interval.low


def main() -> int:
    """Print both tables; return 1 where a row does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.judge_and_people")
    parser.add_argument("--campaigns", type=int, default=2000)
    count = parser.parse_args().campaigns
    good = True
    print("| labels | correlation | people and judge | people alone | width | widest | refused | |")
    print("|---|---|---|---|---|---|---|---|")
    for of in HOLD:
        line, holds = row(of, count)
        print(line, flush=True)
        good &= holds
    print("\n| to be refused | correlation | refused | |\n|---|---|---|---|")
    for of in REFUSED:
        line, holds = refusals(of, count)
        print(line, flush=True)
        good &= holds
    print(f"\n{count:,} campaigns per row")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
