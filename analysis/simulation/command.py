"""Simulation command (`python -m analysis simulate`): estimators on campaigns of known truth.

For each interval: its bias, how often it holds the truth (95 % is asked), its mean width, how often
there is none; for each test, and for intervals that a value of chance should be left out of: how
often it finds what is there (power), or what is not (false positives; 5 % is asked). An interval
"holds" where coverage is within 2 points of what is asked, or cannot be told from that at this
number of campaigns (its own 95 % Wilson interval overlaps). With --order, how often scores put
systems in the order that was planted; with --designs, what designs of who judges what can tell;
with --probabilities, how often what is said to be so probable is so. docs/research/simulation.md
has the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from analysis.arguments import whole
from analysis.simulation import page
from analysis.simulation.campaigns import Design
from analysis.simulation.cases import designs, orders, probabilities
from analysis.simulation.cases.crossing import crossing
from analysis.simulation.cases.intervals import intervals
from analysis.simulation.cases.tests import tests
from analysis.simulation.trials import Estimator, Trial
from analysis.stats.intervals import wilson_interval

SIZES = (20, 100)
WITHIN = 0.02
# So many campaigns are drawn and measured at once.
TOGETHER = 25


def estimators(design: Design) -> list[Estimator]:
    """Return what is simulated: an estimator for each metric and kind of campaign."""
    return [*intervals(design), *tests(design), *crossing(design)]


def simulate(
    chosen: Sequence[Estimator], campaigns: int, *, seed: int, workers: int = 1
) -> Iterator[dict[str, object]]:
    """Yield a row per estimator and part: bias, coverage and width, or how often it finds."""
    for each in chosen:
        trials = list(_all(partial(_trials, each), _parts(seed, campaigns), workers))
        for part in dict.fromkeys(trial.part for trial in trials):
            of_part = [trial for trial in trials if trial.part == part]
            yield {
                "estimator": each.name,
                "part": part if part != each.name else "",
                "scenario": each.scenario,
                "conversations": each.design.conversations,
                "campaigns": campaigns,
                **summary(of_part, campaigns, each.level),
            }


def summary(trials: Sequence[Trial], campaigns: int, level: float) -> dict[str, object]:
    """Return what came of trials; of intervals, coverage is among those that there were."""
    finds = [trial.found for trial in trials if trial.found is not None]
    row: dict[str, object] = {"finds": float(np.mean(finds)) if finds else None}
    if np.isnan([trial.error for trial in trials]).all():
        return row
    errors = np.array([trial.error for trial in trials])
    held = [trial.held for trial in trials if trial.held is not None]
    row |= {"bias": float(errors.mean()), "rmse": float(np.sqrt((errors**2).mean()))}
    row["none"] = 1 - len(held) / len(trials)
    if not held:
        return row
    coverage = float(np.mean(held))
    row["width"] = float(np.nanmean([trial.width for trial in trials]))
    row |= {"coverage": coverage, **_ends(coverage, campaigns)}
    row["verdict"] = _verdict(coverage, campaigns, level)
    return row


def _ends(share: float, n: int) -> dict[str, float]:
    """Return Wilson's interval; n is campaigns, because systems of one depend on each other."""
    ends = wilson_interval(share * n, n)
    return {"from": ends.low, "to": ends.high}


def _verdict(coverage: float, campaigns: int, level: float) -> str:
    ends = wilson_interval(coverage * campaigns, campaigns)
    if ends.high < level - WITHIN:
        return "too narrow"
    return "too wide" if ends.low > level + WITHIN else "holds"


def _trials(each: Estimator, seeds: range) -> list[Trial]:
    return list(each.trials(seeds))


def _parts(seed: int, campaigns: int) -> list[range]:
    end = seed + campaigns
    return [range(first, min(first + TOGETHER, end)) for first in range(seed, end, TOGETHER)]


def _all(
    trial: Callable[[range], list[Trial]], seeds: Iterable[range], workers: int
) -> Iterator[Trial]:
    if workers == 1:
        for part in seeds:
            yield from trial(part)
        return
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(trial, seeds):
            yield from found


def main(arguments: Sequence[str]) -> int:
    """Print a line for everything that was asked for, as soon as it is done."""
    options = _parser().parse_args(arguments)
    if options.into and not options.into.is_file():
        print(
            f"{options.into}: no such page; --into fills in the tables of an existing one",
            file=sys.stderr,
        )
        return 2
    began = time.monotonic()
    rows = []
    for row in _selected(options):
        rows.append(row)
        print(_line(row), flush=True)
        if options.into:
            page.fill(options.into, [row])
    print(
        f"{options.campaigns} campaigns each, seed {options.seed}: {time.monotonic() - began:.0f} s"
    )
    if options.json:
        about = {"campaigns": options.campaigns, "seed": options.seed, "changes": _changes(options)}
        text = json.dumps({**about, "rows": rows}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _selected(options: argparse.Namespace) -> Iterator[Mapping[str, object]]:
    changes = _changes(options)
    if options.order:
        ways = [way for way in orders.WAYS if way in (options.only or orders.WAYS)]
        yield from orders.compared(
            Design(**changes), options.campaigns, ways=ways, seed=options.seed
        )
        return
    for size in options.conversations or SIZES:
        design = Design(**{**changes, "conversations": size})
        if options.designs:
            yield from designs.compared(design, options.campaigns, seed=options.seed)
        elif options.probabilities:
            names = [one for one in probabilities.METRICS if one in (options.only or [one])]
            yield from probabilities.reliability(
                design, options.campaigns, metrics=names, seed=options.seed
            )
        else:
            chosen = [one for one in estimators(design) if one.name in (options.only or [one.name])]
            print(HEAD)
            yield from simulate(
                chosen, options.campaigns, seed=options.seed, workers=options.workers
            )


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the campaigns have otherwise than is usual."""
    values = {each.name: getattr(options, each.name, None) for each in fields(Design)}
    return {k: v for k, v in values.items() if v is not None and k != "conversations"}


NUMBERS = ("bias", "rmse", "width", "coverage", "from", "to", "none", "finds")
HEAD = f"{'estimator':44} {'scenario':52} talks " + " ".join(f"{each:>8}" for each in NUMBERS)


def _line(row: Mapping[str, object]) -> str:
    if "estimator" not in row:
        return "  ".join(f"{key} {_short(value)}" for key, value in row.items())
    name = f"{row['estimator']} {row['part']}".strip()
    numbers = (row.get(each) for each in NUMBERS)
    shown = " ".join(" " * 8 if one is None else f"{one:8.4f}" for one in numbers)
    verdict = row.get("verdict", "")
    return f"{name:44} {row['scenario']:52} {row['conversations']:5} {shown}  {verdict}".rstrip()


def _short(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _parser() -> argparse.ArgumentParser:
    names = sorted({each.name for each in estimators(Design())})
    names += [one for one in (*orders.WAYS, *probabilities.METRICS) if one not in names]
    parser = argparse.ArgumentParser(prog="python -m analysis simulate", description=__doc__)
    parser.add_argument("--campaigns", type=whole(1), default=200)
    parser.add_argument("--only", action="append", choices=names, metavar="ESTIMATOR",
                        help=", ".join(names))  # fmt: skip
    parser.add_argument("--seed", type=whole(0), default=0)
    parser.add_argument("--workers", type=whole(1), default=1, help="results are the same")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--order", action="store_true",
                      help="test whether scores recover the planted order")  # fmt: skip
    what.add_argument("--designs", action="store_true",
                      help="compare designs of who judges what")  # fmt: skip
    what.add_argument("--probabilities", action="store_true",
                      help="test whether stated probabilities are right")  # fmt: skip
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    parser.add_argument("--into", type=Path, metavar="PAGE.md",
                        help="fill rows into this page")  # fmt: skip
    parser.add_argument("--conversations", type=whole(1), nargs="+", metavar="N",
                        help=f"of each system; default {SIZES}")  # fmt: skip
    for each in fields(Design):
        if each.name not in ("conversations", "drift", "raters_of_one", "taste", "base"):
            kind = type(each.default)
            parser.add_argument(f"--{each.name}", type=kind, help=f"default {each.default}")
    return parser
