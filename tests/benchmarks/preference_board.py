"""Board of preferences with all its probes: processor seconds, by votes and systems.

    python -m tests.benchmarks.preference_board [--votes 8931 1700000] [--systems 59 130]
    python -m tests.benchmarks.preference_board --rigged 300 --accounts 10 --boards 100

Raters and contexts are drawn unevenly by lot. Asked: .5 s for 8,931 votes on 59 systems, 10 s for
1.7 million. From the votes; reading a table is not counted. On a busy machine OMP_NUM_THREADS=1.

`--rigged` votes of so many accounts for one system, whatever it is beside, are planted among
100,000 on 59 systems: on how many of so many boards the probe fires, and on how many without any.
Asked: 300 found, and 1 % false alarms.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from analysis.comparisons import board_probes as probes
from analysis.comparisons.board import board
from analysis.comparisons.preferences import Compared


def votes(count: int, systems: int, seed: int = 0) -> Compared:
    """Return votes of one rater in seventy, about one context in four."""
    chance = np.random.default_rng(seed)
    merit = np.linspace(-1.5, 1.5, systems)
    first = chance.integers(systems, size=count)
    second = (first + chance.integers(1, systems, size=count)) % systems
    won = chance.random(count) < 1 / (1 + np.exp(merit[second] - merit[first]))
    points = np.where(chance.random(count) < 0.2, 1, 2 * won).astype(np.int8)
    raters, contexts = (
        np.unique((size * chance.random(count) ** 2).astype(int), return_inverse=True)[1]
        for size in (max(10, count // 70), max(10, count // 4))
    )
    names = tuple(f"s{k:03}" for k in range(systems))
    return Compared(names, first, second, points, raters, contexts)


def all_probes(found: Compared) -> list[probes.Probe]:
    made = board(found, order=True, seed=0)
    neighbors = made.neighbors()
    made.ranks()
    rigging, voted = probes.rigged(made)
    of_clusters = [
        probes.clusters(made, name, codes, voted)
        for name, codes in (("rater", found.rater), ("context", found.context))
    ]
    return [
        probes.first_shown(made),
        probes.circles(made),
        rigging,
        *of_clusters,
        *probes.compared_enough(made),
        *probes.other_rules(made, neighbors),
    ]


def with_rigged(found: Compared, count: int, accounts: int, seed: int) -> Compared:
    """Return the votes with so many more, in which new raters choose one system always."""
    chance = np.random.default_rng([seed, count])
    system = int(chance.integers(len(found.systems)))
    other = (system + chance.integers(1, len(found.systems), size=count)) % len(found.systems)
    is_first = chance.random(count) < 0.5
    rater = found.rater.max() + 1 + np.arange(count) % accounts
    context = chance.integers(found.context.max() + 1, size=count)
    return Compared(
        found.systems,
        np.append(found.first, np.where(is_first, system, other)),
        np.append(found.second, np.where(is_first, other, system)),
        np.append(found.points, np.where(is_first, 2, 0).astype(np.int8)),
        np.append(found.rater, rater),
        np.append(found.context, context),
    )


def rigging(count: int, accounts: int, boards: int) -> None:
    """Print on how many boards the probe of rigging fires, with rigged votes and without."""
    fires = {count: 0, 0: 0}
    for seed in range(boards):
        clean = votes(100_000, 59, seed)
        for planted in fires:
            found = with_rigged(clean, planted, accounts, seed) if planted else clean
            fires[planted] += probes.rigged(board(found, order=True, seed=0))[0].fires
    for planted, fired in fires.items():
        by = f" of {accounts} accounts" if planted else ""
        print(f"{planted:>5} rigged votes{by}: the probe fires on {fired} of {boards} boards")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.preference_board")
    parser.add_argument("--votes", type=int, nargs="+", default=[8931, 1_700_000])
    parser.add_argument("--systems", type=int, nargs="+", default=[59, 130])
    parser.add_argument("--rigged", type=int, metavar="N")
    parser.add_argument("--accounts", type=int, default=10)
    parser.add_argument("--boards", type=int, default=100)
    options = parser.parse_args()
    if options.rigged:
        rigging(options.rigged, options.accounts, options.boards)
        return
    all_probes(votes(2000, 10))
    for count, systems in zip(options.votes, options.systems, strict=True):
        found = votes(count, systems)
        began, wall = time.process_time(), time.monotonic()
        made = all_probes(found)
        spent, waited = time.process_time() - began, time.monotonic() - wall
        print(
            f"{count:>9,} votes, {systems:>3} systems: {spent:.2f} s of processor, {waited:.2f} s"
        )
        print(f"          fires: {', '.join(each.name for each in made if each.fires) or 'none'}")


if __name__ == "__main__":
    main()
