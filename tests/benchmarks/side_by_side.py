"""Two ways to the same answer, timed in turn, each run a process of its own.

A benchmark names its measures in pairs, ours and theirs; each makes its input, which is not timed,
and returns what is. Memory is the process's peak above what it held with its imports and its input.
Medians of the rounds; one that takes longer than the patience is said to, and not tried again.
Everything runs on one thread, and seconds are those of CPU: a shared machine takes others away.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
Answer = dict[str, list[float]]
Task = Callable[[], Answer]
# Given how many ratings there are, what is to be timed.
Measure = Callable[[int], Task]


@dataclass(frozen=True)
class Pair:
    """What is measured, and by whom."""

    ours: Measure
    theirs: Measure
    package: str
    compared: Callable[[Answer, Answer], str]
    """What is told of both answers."""


def main(module: str, pairs: Mapping[str, Pair], about: str | None) -> None:
    """Print a table; `module` is run again for every single measurement."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--ratings", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--only", default="", help="pairs whose name has this")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        name, side = given.child
        _child(getattr(pairs[name], side), given.ratings[0])
        return
    for ratings in given.ratings:
        print(f"{ratings:,} ratings", flush=True)
        for name, pair in pairs.items():
            if given.only in name:
                _print(module, name, pair, ratings, given)


def _child(measure: Measure, ratings: int) -> None:
    warnings.simplefilter("ignore")
    measure(300)()
    task = measure(ratings)
    before = memory("VmRSS")
    started = time.process_time()
    answer = task()
    # What a task times itself, such as a run after compiling, is what counts.
    used = answer.get("seconds", [time.process_time() - started])[0]
    peak = max(memory("VmHWM") - before, 0)
    print(json.dumps({"seconds": used, "peak": peak, "answer": answer}))


def _print(module: str, name: str, pair: Pair, ratings: int, given: argparse.Namespace) -> None:
    found: dict[str, list[dict[str, Any]]] = {"ours": [], "theirs": []}
    for _ in range(given.rounds):
        for side, runs in found.items():
            if runs != [{}]:
                runs.append(_run(module, name, side, ratings, given.patience))
                if not runs[-1]:
                    runs[:] = [{}]
    for side, runs in found.items():
        who = f"{name}, {'ours' if side == 'ours' else pair.package}"
        if runs == [{}]:
            print(f"  {who:44} more than {given.patience:g} s", flush=True)
            continue
        seconds, peak = (median(runs, key) for key in ("seconds", "peak"))
        print(f"  {who:44} {seconds:10.4f} s {peak / 2**20:9.1f} MB", flush=True)
    if all(runs != [{}] for runs in found.values()):
        ours, theirs = found.values()
        ratio = median(theirs, "seconds") / median(ours, "seconds")
        said = pair.compared(ours[0]["answer"], theirs[0]["answer"])
        print(f"  {'':44} {ratio:10.1f} times as fast; {said}", flush=True)


def _run(module: str, name: str, side: str, ratings: int, patience: float) -> dict[str, Any]:
    command = [sys.executable, "-m", module, "--child", name, side, "--ratings", str(ratings)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=patience, check=True,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def median(found: list[dict[str, Any]], key: str) -> float:
    """Return the middle one of a figure of several runs."""
    return float(statistics.median(float(each[key]) for each in found))


def memory(field: str) -> int:
    """Return a field of what the kernel says of this process's memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0
