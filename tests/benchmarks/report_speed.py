"""The whole report of many ratings by the real command: time and peak memory of the process.

    python -m tests.benchmarks.report_speed [--ratings 10000 100000 1000000] [--kind scales labels]

A seeded campaign is written as CSV, and `python -m analysis FILE` run on it as a process of its
own, so reading and checking the file is in the figures; medians of the rounds. On a busy machine
read the seconds of CPU. `scales` is a campaign of four questions, three of 1 to 5 and one of 0 to
100, about dialogues that five raters each judge; `labels` asks five raters whether a message is
sensible and specific (answers that were not sensible are not specific), 12 messages to a
conversation. Asked for a million ratings: less than 30 s and less than 1 GB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

SYSTEMS = 10
VOTES = 5
MESSAGES = 12
SCALES = ("engaging", "fluent", "sensible_overall", "liked")
LIMITS = {"seconds": 30.0, "bytes": 10**9}


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


def _report(path: Path) -> tuple[float, float, float]:
    """Return the seconds, those of CPU, and the peak memory in bytes of one run of the command."""
    started = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "analysis", str(path)], stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"python -m analysis {path.name} returned {child.returncode}")
    processor = used.ru_utime + used.ru_stime
    return time.perf_counter() - started, processor, used.ru_maxrss * 1024.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--kind", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'kind':8} {'ratings':>10} {'seconds':>9} {'of CPU':>9} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for ratings in given.ratings:
            for kind in given.kind:
                path = Path(folder) / f"{kind}.csv"
                table = KINDS[kind](ratings, np.random.default_rng(0))
                table.to_csv(path, index=False)
                found = [_report(path) for _ in range(given.rounds)]
                seconds, processor, peak = map(statistics.median, zip(*found, strict=True))
                met = seconds < LIMITS["seconds"] and peak < LIMITS["bytes"]
                said = "" if met else "  more than asked of a million"
                row = f"{kind:8} {len(table):10,} {seconds:9.1f} {processor:9.1f} {peak / 1e6:9.0f}"
                print(row + said, flush=True)


if __name__ == "__main__":
    main()
