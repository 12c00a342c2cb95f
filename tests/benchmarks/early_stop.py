"""Early stops at a look after each item, beside t > 1.96 and AnytimeMonitor on the same streams.

    python -m tests.benchmarks.early_stop [--campaigns 2000] [--rival 20]

Two systems, up to 60 items, three of 20 raters an item, 1 to 5; SDs of raters .7, tastes .3, items
.4, noise .8. A campaign ends at its first decision, or with its 60 items. `--rival N` runs
AnytimeMonitor (mde_threshold .3, planned for 60 items, seven looks: after 8, 16, 24, 32, 40, 50 and
60) on the first N campaigns too, where the package is installed. Simulated here by numpy alone.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.planning.components import clustered_mean
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
    return int(out.argmax()) + 1 if out.any() else ITEMS + 1


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


if __name__ == "__main__":
    main()
