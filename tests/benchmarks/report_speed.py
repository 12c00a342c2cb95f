"""The whole report of many ratings by the real command, beside what a researcher writes by hand.

    python -m tests.benchmarks.report_speed [--ratings 10000 ...] [--kind scales labels]
        [--rounds 3] [--rival 100000]

A seeded campaign is written as CSV, and `python -m analysis FILE` run on it as a process of its
own, so starting, reading and checking the file are in the figures; then the script
`tests.benchmarks.report_rival` on the same file, up to the size given by `--rival`: of a million
ratings it takes minutes and 12 GB. Medians of the rounds. On a busy machine read the seconds of CPU
and the ratio to the script. `scales` is a campaign of four questions, three of 1 to 5 and one of 0
to 100, about dialogues that five raters each judge; `labels` asks five raters whether a message is
sensible and specific (answers that were not sensible are not specific), 12 messages to a
conversation. Asked: a smaller file is never dearer, 100,000 ratings take 4 s at most, a million 8 s
and 400 MB; what misses it is said in its row. Seconds are those of the machine on which the goals
were set, where the package krippendorff took 1.14 s for three alphas of 2,850,000 ratings: it is
timed before and after each row, and says how many times slower this machine is just then.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

SYSTEMS = 10
VOTES = 5
MESSAGES = 12
SCALES = ("engaging", "fluent", "sensible_overall", "liked")
SIZES = (10**4, 3 * 10**4, 10**5, 250_000, 10**6)
# Seconds of CPU and bytes by the most ratings that they are asked for.
ASKED = {10**5: (4.0, float("inf")), 10**6: (8.0, 4e8)}
RIVAL = 10**5
# The package's seconds of CPU on the machine of the goals.
SCALE = 1.14
SCALED = """
import time, krippendorff
from tests.benchmarks.agreement import LEVELS, table
given, started = table(2_850_000, gaps=True), time.process_time()
for level in LEVELS: krippendorff.alpha(given, level_of_measurement=level)
print(time.process_time() - started)
"""


def _shown(items: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return who judges what: a row per item and rater, raters met by chance, none twice."""
    raters = max(20, items // 25)
    first = rng.integers(raters, size=items)
    # Steps apart, so that an item's raters differ whatever their number.
    rater = (first[:, None] + np.arange(VOTES) * (raters // VOTES)) % raters
    item = np.repeat(np.arange(items), VOTES)
    return pd.DataFrame(
        {
            "item": item,
            "rater": rater.ravel(),
            "system": rng.integers(SYSTEMS, size=items)[item],
            "place": rng.integers(6, size=len(item)),
        }
    )


def scales(ratings: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return answers to four questions about dialogues: raters differ in severity."""
    shown = _shown(max(1, ratings // (VOTES * len(SCALES))), rng)
    severity = rng.normal(0, 0.5, size=int(shown["rater"].max()) + 1)
    merit = 2.4 + shown["system"] / SYSTEMS + severity[shown["rater"]]
    merit = merit + rng.normal(0, 0.5, size=int(shown["item"].max()) + 1)[shown["item"]]
    parts = []
    for question in SCALES:
        heard = merit + rng.normal(size=len(shown))
        wide = question == "liked"
        value = np.clip(np.round(25 * (heard - 1) if wide else heard), *ends(wide)).astype(int)
        level = "interval" if wide else "ordinal"
        low, high = ends(wide)
        parts.append(
            shown.assign(
                question=question, level=level, value=value, scale_low=low, scale_high=high
            )
        )
    return _named(pd.concat(parts, ignore_index=True), "humour")


def ends(wide: bool) -> tuple[int, int]:
    return (0, 100) if wide else (1, 5)


def labels(ratings: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return whether messages are sensible and specific."""
    shown = _shown(max(1, ratings // (VOTES * 2)), rng)
    shown["system"] = shown["item"] // MESSAGES % SYSTEMS
    shown["conversation"] = "c" + (shown["item"] // MESSAGES).astype(str)
    leaning = rng.normal(size=int(shown["item"].max()) + 1)[shown["item"]]
    leaning = leaning + rng.normal(0, 0.5, size=int(shown["rater"].max()) + 1)[shown["rater"]]
    merit = leaning + shown["system"] / SYSTEMS
    sensible = (merit + rng.logistic(size=len(shown)) > -0.5).astype(int)
    specific = sensible * (merit + rng.logistic(size=len(shown)) > 0.5).astype(int)
    parts = [
        shown.assign(question=question, level="nominal", value=value)
        for question, value in (("sensible", sensible), ("specific", specific))
    ]
    return _named(pd.concat(parts, ignore_index=True), "meena")


KINDS: dict[str, Callable[[int, np.random.Generator], pd.DataFrame]] = {
    "scales": scales,
    "labels": labels,
}


def _named(table: pd.DataFrame, protocol: str) -> pd.DataFrame:
    names = {"item": "i", "rater": "r", "system": "s"}
    texts = {column: start + table[column].astype(str) for column, start in names.items()}
    answer = "a" + table.index.astype(str)
    return table.assign(**texts, answer=answer, campaign="big", protocol=protocol)


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock and of CPU, and peak memory in bytes, of one process."""

    seconds: float
    processor: float
    peak: float

    def __str__(self) -> str:
        return f"{self.processor:8.1f} {self.seconds:8.1f} {self.peak / 1e6:8.0f}"


def _write(kind: str, ratings: int, path: Path) -> None:
    """Write a table in another process: whoever starts a process leaves it its own peak."""
    made = get_context("spawn").Process(target=_written, args=(kind, ratings, path))
    made.start()
    made.join()
    if made.exitcode:
        raise SystemExit(f"{path.name} could not be written")


def _written(kind: str, ratings: int, path: Path) -> None:
    KINDS[kind](ratings, np.random.default_rng(0)).to_csv(path, index=False)


def _run(module: str, path: Path) -> Cost:
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", module, str(path)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"python -m {module} {path.name} returned {child.returncode}")
    processor = used.ru_utime + used.ru_stime
    return Cost(time.perf_counter() - started, processor, used.ru_maxrss * 1024.0)


def _median(module: str, path: Path, rounds: int) -> Cost:
    found = [_run(module, path) for _ in range(rounds)]
    return Cost(*(statistics.median(part) for part in zip(*map(astuple, found), strict=True)))


def _slower() -> float:
    """Return how many times as long as on the machine of the goals the package takes here."""
    told = subprocess.run([sys.executable, "-c", SCALED], capture_output=True, check=True)
    return float(told.stdout) / SCALE


def _missed(ratings: int, cost: Cost, smaller: Cost | None, slower: float) -> str:
    """Return what was asked of so many ratings and is not so, or nothing."""
    seconds, peak = next((of for most, of in ASKED.items() if ratings <= most), (math.inf,) * 2)
    said = [f"more than {seconds:.0f} s" * (cost.processor > slower * seconds)]
    said.append(f"more than {peak / 1e6:.0f} MB" * (cost.peak > peak))
    said.append("cheaper than fewer" * (smaller is not None and cost.processor < smaller.processor))
    return ", ".join(filter(None, said))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--kind", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rival", type=int, default=RIVAL, help="the most ratings of the script")
    given = parser.parse_args()
    print(
        f"load {os.getloadavg()[0]:.1f}; CPU s, seconds and peak MB of the report, of the script,"
    )
    print(
        "and the report's CPU s on the machine of the goals, as this one is so many times as slow"
    )
    before = _slower()
    with tempfile.TemporaryDirectory() as folder:
        for kind in given.kind:
            smaller = None
            for ratings in sorted(given.ratings):
                path = Path(folder) / f"{kind}.csv"
                _write(kind, ratings, path)
                cost = _median("analysis", path, given.rounds)
                theirs = "       - not run, minutes"
                if ratings <= given.rival:
                    theirs = str(_median("tests.benchmarks.report_rival", path, given.rounds))
                after = _slower()
                slower = (before + after) / 2
                said = f"{cost.processor / slower:5.1f} s, as {slower:.1f}; "
                said += _missed(ratings, cost, smaller, slower)
                print(f"{kind:8} {ratings:10,} {cost} | {theirs:26} {said}", flush=True)
                smaller, before = cost, after


if __name__ == "__main__":
    main()
