"""Early stops at a look after each item, beside t > 1.96 and AnytimeMonitor on the same streams.

    python -m tests.benchmarks.early_stop [--campaigns 2000] [--rival 20]

Two systems, up to 60 items, three of 20 raters an item, 1 to 5; SDs of raters .7, tastes .3, items
.4, noise .8. A campaign ends at its first decision, or with its 60 items. `--rival N` runs
AnytimeMonitor (mde_threshold .3, planned for 60 items, seven looks: after 8, 16, 24, 32, 40, 50 and
60) on the first N campaigns too, where the package is installed. Then designs in which each rater
judges one system, which are compared by their means. Simulated here by numpy alone.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.planning.components import ClusteredMean, ClusterSums, OwnRaters, clustered_mean
from analysis.planning.sequential import StopRule, radius
from analysis.simulation.cases.planning import sums_by_look

ITEMS, RATERS, VOTES = 60, 20, 3
LOOKS = (8, 16, 24, 32, 40, 50, 60)
RIVAL = "anytimemonitor"


class Stream(NamedTuple):
    """A campaign's ratings by item and vote: who gave them, and of each of the two systems."""

    rater: np.ndarray
    value: np.ndarray


def stream(gap: float, seed: int) -> Stream:
    """Return a campaign whose second system is `gap` above the first."""
    chance = np.random.default_rng([seed, round(10 * gap)])
    rater = np.argsort(chance.random((ITEMS, RATERS)), axis=1)[:, :VOTES]
    felt = 3 + np.array([-gap, gap]) / 2 + chance.normal(0, 0.7, RATERS)[rater][..., None]
    felt = felt + chance.normal(0, 0.3, (RATERS, 2))[rater]
    felt = felt + chance.normal(0, 0.4, (ITEMS, 1, 2)) + chance.normal(0, 0.8, felt.shape)
    return Stream(rater, np.clip(np.round(felt), 1, 5))


def ours(of: Stream) -> tuple[int, int]:
    """Return after how many items the sequence, and t > 1.96, leave out 0; one more where never."""
    value = (of.value[..., 1] - of.value[..., 0]).ravel()
    item = np.repeat(np.arange(ITEMS), VOTES)
    found = clustered_mean(sums_by_look(value, of.rater.ravel(), item))
    mean = np.abs(found.mean)
    peeked = (mean > 1.96 * np.sqrt(found.variance)) & (found.sums.items > 2)
    return _first(mean > radius(found, StopRule(expected=0.5))), _first(peeked)


def _first(out: np.ndarray) -> int:
    return int(out.argmax()) + 1 if out.any() else len(out) + 1


def rivals(of: Stream) -> int:
    """Return after how many items the rival tells the systems apart; one more where never."""
    monitor = importlib.import_module(RIVAL).AnytimeMonitor(mde_threshold=0.3, avci_n_planned=ITEMS)
    done = 0
    for look in LOOKS:
        items = range(done, look)
        monitor.add_ratings(
            pd.DataFrame(
                [
                    (f"r{of.rater[i, v]}", f"i{i}", "ab"[k], of.value[i, v, k])
                    for i in items
                    for v in range(VOTES)
                    for k in range(2)
                ],
                columns=["listener_id", "item", "system", "rating"],
            )
        )
        done = look
        found = monitor.decision("a", "b")
        if found.verdict == "STOP" and (found.ci_lo > 0 or found.ci_hi < 0):
            return look
    return ITEMS + 1


class Own(NamedTuple):
    """A design whose raters judge one system each: `votes` of a pool an item, or 0 for new ones.

    A new rater has `each` conversations. `unequal` items of the first system come with one of the
    second.
    """

    name: str
    items: int = ITEMS
    pool: int = 0
    votes: int = 1
    each: int = 1
    unequal: int = 1
    base: float = 3.0
    ends: tuple[float, float] = (1.0, 5.0)
    of_rater: float = 0.76  # severity .7 and taste .3
    noise: float = 0.8
    expected: float = 0.5


OWN = (
    Own("one conversation each"),
    Own("one conversation each, 200 items", items=200),
    Own("three conversations each", each=3),
    Own("3 of 12 raters an item", pool=12, votes=3),
    Own("the same 5 raters every item", pool=5, votes=5),
    Own("yes or no", base=0.5, ends=(0, 1), of_rater=0.45, expected=0.125),
    Own("near the end of the scale", base=4.5),
    Own("the second has a third, 120 items", items=120, unequal=3),
)


def side(of: Own, gap: float, chance: np.random.Generator) -> ClusteredMean:
    """Return the mean of a system after each item."""
    if of.pool:
        rater = np.argsort(chance.random((of.items, of.pool)), axis=1)[:, : of.votes]
    else:
        rater = np.arange(of.items)[:, None] // of.each
    felt = of.base + gap + chance.normal(0, of.of_rater, int(rater.max()) + 1)[rater]
    felt = felt + chance.normal(0, 0.4, (of.items, 1)) + chance.normal(0, of.noise, felt.shape)
    value = np.clip(np.round(felt), *of.ends).ravel()
    item = np.repeat(np.arange(of.items), rater.shape[1])
    return clustered_mean(sums_by_look(value, rater.ravel(), item))


def own(of: Own, gap: float, seed: int) -> tuple[int, int]:
    """Return after how many items the sequence, and t > 1.96, tell means apart."""
    chance = np.random.default_rng([seed, round(10 * gap), of.items])
    one, other = (side(of, part, chance) for part in (gap / 2, -gap / 2))
    if of.unequal > 1:
        other = _slower(other, np.arange(of.items) // of.unequal)
    found = OwnRaters(one, other)
    mean = np.abs(found.mean)
    peeked = (mean > 1.96 * np.sqrt(found.variance)) & (found.items > 2)
    return _first(mean > radius(found, StopRule(expected=of.expected))), _first(peeked)


def _slower(found: ClusteredMean, look: np.ndarray) -> ClusteredMean:
    """Return the mean as it stands at these looks."""
    names = ("mean", "variance", "df", "rater", "item", "noise")
    parts = {name: getattr(found, name)[look] for name in names}
    return replace(found, **parts, sums=ClusterSums(*(each[look] for each in found.sums)))


def own_raters(campaigns: int) -> None:
    """Print a row per design of raters of one system each."""
    print("\neach rater judges one system         gap   stopped   items  t > 1.96")
    gaps = {OWN[0]: (0.0, 0.5, 1.0), OWN[1]: (0.0, 0.5)}
    for of in OWN:
        for gap in gaps.get(of, (0.0,)):
            found = np.array([own(of, gap, seed) for seed in range(campaigns)])
            stopped, peeked = (found <= of.items).mean(axis=0)
            mean = np.minimum(found[:, 0], of.items).mean()
            print(f"{of.name:34}  {gap:>4g}  {stopped:>8.3f}  {mean:>6.1f}  {peeked:>8.3f}")


def told(name: str, gap: float, stops: list[int]) -> str:
    found = np.array(stops)
    stopped, mean = (found <= ITEMS).mean(), np.minimum(found, ITEMS).mean()
    return f"{gap:>5g}  {name:16} {len(stops):>9,}  {stopped:>8.3f}  {mean:>6.1f}"


def main() -> None:
    """Print a row per difference and rule."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.early_stop")
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--rival", type=int, default=20, metavar="N")
    options = parser.parse_args()
    count = options.rival if importlib.util.find_spec(RIVAL) else 0
    if count < options.rival:
        print(f"{RIVAL} is not installed: its rows are left out")
    print("  gap  rule             campaigns   stopped   items")
    for gap in (0.0, 0.5, 1.0):
        began = time.process_time()
        found = [ours(stream(gap, seed)) for seed in range(options.campaigns)]
        print(told("Parley", gap, [one for one, _ in found]))
        print(told("t > 1.96", gap, [peeked for _, peeked in found]))
        spent = time.process_time() - began
        if count:
            print(told("Parley, the same", gap, [one for one, _ in found[:count]]))
            began = time.process_time()
            print(told(RIVAL, gap, [rivals(stream(gap, seed)) for seed in range(count)]))
            rival = (time.process_time() - began) / count
            print(f"       processor: {1e3 * spent / len(found):.1f} ms, {RIVAL} {rival:.1f} s")
    own_raters(options.campaigns)


if __name__ == "__main__":
    main()
