"""Agreement: time and peak memory of our coefficients and of the packages, side by side.

    python -m tests.benchmarks.agreement [--ratings 10000 100000 1000000] [--rounds 3]

Every measurement is a process of its own, ours and theirs in turn; medians of the rounds. Each has
its table in the form that it reads, made before the clock starts: codes of unit, rater and category
(a report makes them once for all coefficients), a matrix, a frame. Memory is the process's peak
above what it held with its imports and that table. A bootstrap by a package is timed over a few
resamples and multiplied. Items have five raters, and four ratings of seven are
there; ICC has them all. The row of 2,850,000 ratings is a million items. Asked: alpha at least 10
times as fast as the package on a million items, in a tenth of the memory; a bootstrap 500 times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.freed_memory import give_back
from analysis.raters.ballots import Ballots
from analysis.raters.votes import Votes
from analysis.scores.integer_codes import Scale
from tests.analysis.matrices import ballots_of

RATERS = 5
SHARE = 0.57
DRAWS = 1000
LEVELS: tuple[Any, ...] = ("nominal", "ordinal", "interval")
PATIENCE = 300
Answer = tuple[float, ...]


def table(ratings: int, *, gaps: bool) -> np.ndarray:
    """Return a table with a row per rater of answers from 1 to 5."""
    rng = np.random.default_rng(0)
    items = round(ratings / RATERS / (SHARE if gaps else 1))
    truth = rng.integers(1, 6, size=items)
    noise = rng.integers(1, 6, size=(RATERS, items))
    found = np.where(rng.random((RATERS, items)) < 0.4, truth, noise).astype(float)
    if gaps:
        found[rng.random(found.shape) > SHARE] = np.nan
    return found


def votes_of(given: Ballots, level: Scale) -> Votes:
    from analysis.raters.votes import of_codes

    return of_codes(given.unit, given.code, given.values, level)


def our_alpha(given: Ballots) -> Answer:
    from analysis.raters.alpha import alpha

    return tuple(alpha(votes_of(given, level)) for level in LEVELS)


def their_alpha(given: np.ndarray) -> Answer:
    import krippendorff

    return tuple(krippendorff.alpha(given, level_of_measurement=level) for level in LEVELS)


def our_bootstrap(given: Ballots) -> Answer:
    from analysis.raters import agreement
    from analysis.raters.alpha import alphas

    found = votes_of(given, "interval")
    values = agreement.resamples(found, alphas, seed=0, draws=DRAWS)
    return tuple(float(end) for end in np.quantile(values, [0.025, 0.975]))


def their_bootstrap(given: np.ndarray) -> Answer:
    import krippendorff

    rng = np.random.default_rng(0)
    size = given.shape[1]
    few = DRAWS if size < 10_000 else 5
    values = [
        krippendorff.alpha(given[:, rng.integers(size, size=size)], level_of_measurement="interval")
        for _ in range(few)
    ]
    ends = np.quantile(values, [0.025, 0.975])
    # Of a few resamples there is no interval to be shown, only a time.
    return (*(float(end) for end in ends if few == DRAWS), DRAWS / few)


def our_gwet(given: Ballots) -> Answer:
    from analysis.raters import kappas

    found = votes_of(given, "interval")
    kinds: tuple[kappas.Weights, ...] = ("identity", "quadratic")
    return tuple(kappas.estimate(found, partial(kappas.gwet, kind=kind)) for kind in kinds)


def their_gwet(given: pd.DataFrame) -> Answer:
    from irrCAC.raw import CAC

    categories = [1.0, 2.0, 3.0, 4.0, 5.0]
    return tuple(
        float(CAC(given, weights=kind, categories=categories).gwet()["est"]["coefficient_value"])
        for kind in ("identity", "quadratic")
    )


def our_icc(given: Ballots) -> Answer:
    from analysis.stats.icc import intraclass

    found = intraclass(given.unit, given.rater, given.values[given.code])
    return tuple(each.estimate for each in found)


def their_icc(given: pd.DataFrame) -> Answer:
    import pingouin

    found = pingouin.intraclass_corr(given, targets="index", raters="rater", ratings="value")
    return tuple(float(value) for value in found["ICC"])


def _as_it_is(given: np.ndarray) -> np.ndarray:
    return given


def _frame(given: np.ndarray) -> pd.DataFrame:
    """Return a row per unit and a column per rater."""
    return pd.DataFrame(given.T)


def _rows(given: np.ndarray) -> pd.DataFrame:
    """Return a row per rating."""
    return _frame(given).reset_index().melt(id_vars="index", var_name="rater")


def _imports(name: str) -> None:
    """Load what a measure needs, so that neither its time nor its memory has it."""
    form, measure = MEASURES[name]
    measure(form(table(100, gaps=False)))


# The form of the table that each reads, and what it computes.
MEASURES: dict[str, tuple[Callable[[np.ndarray], Any], Callable[[Any], Answer]]] = {
    "alpha, three levels, ours": (ballots_of, our_alpha),
    "alpha, three levels, krippendorff": (_as_it_is, their_alpha),
    "bootstrap x 1000, ours": (ballots_of, our_bootstrap),
    "bootstrap x 1000, krippendorff": (_as_it_is, their_bootstrap),
    "AC1 and AC2, ours": (ballots_of, our_gwet),
    "AC1 and AC2, irrCAC": (_frame, their_gwet),
    "ICC, six forms, ours": (ballots_of, our_icc),
    "ICC, six forms, pingouin": (_rows, their_icc),
}


def _memory(field: str) -> int:
    """Return a field of what the kernel says of this process's memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def _child(name: str, path: Path) -> None:
    warnings.simplefilter("ignore")
    _imports(name)
    form, measure = MEASURES[name]
    given = form(np.load(path))
    give_back()  # so that nothing is measured in room that making the form left
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = _memory("VmRSS")
    started = time.perf_counter()
    answer = measure(given)
    seconds = time.perf_counter() - started
    if name == "bootstrap x 1000, krippendorff":
        *answer_list, times = answer
        answer, seconds = tuple(answer_list), seconds * times
    peak = max(_memory("VmHWM") - before, 0)
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": answer}))


def _measured(name: str, path: Path) -> dict[str, Any] | None:
    command = [sys.executable, "-m", __spec__.name, "--child", name, "--table", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _row(name: str, found: list[dict[str, Any]]) -> str:
    if not found:
        return f"  {name:36} more than {PATIENCE} s"
    seconds, peak = _median(found, "seconds"), _median(found, "peak")
    shown = " ".join(f"{value:.4f}" for value in found[0]["answer"])
    return f"  {name:36} {seconds:10.4f} s {peak / 2**20:9.1f} MB   {shown}"


def _pair(names: tuple[str, str], path: Path, rounds: int) -> None:
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            measured = _measured(name, path)
            if measured is not None:
                found[name].append(measured)
    for name in names:
        print(_row(name, found[name]), flush=True)
    if all(found.values()):
        ours, theirs = (found[name] for name in names)
        faster = _median(theirs, "seconds") / _median(ours, "seconds")
        small = _median(ours, "peak")
        smaller = _median(theirs, "peak") / max(small, 2**20)
        least = " at least" if small < 2**20 else ""
        print(f"  {'':36} {faster:10.1f} times as fast, memory 1/{smaller:.0f}{least}", flush=True)


def _median(found: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(float(each[key]) for each in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, nargs="*", default=[10**4, 10**5, 10**6, 2_850_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="measures whose name has this")
    parser.add_argument("--child", choices=list(MEASURES), help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _child(given.child, given.table)
        return
    names = list(MEASURES)
    with tempfile.TemporaryDirectory() as folder:
        for ratings in given.ratings:
            print(f"{ratings:,} ratings")
            for ours, theirs in zip(names[::2], names[1::2], strict=True):
                if given.only in ours:
                    path = Path(folder) / f"{ratings}-{ours.startswith('ICC')}.npy"
                    np.save(path, table(ratings, gaps=not ours.startswith("ICC")))
                    _pair((ours, theirs), path, given.rounds)


if __name__ == "__main__":
    main()
