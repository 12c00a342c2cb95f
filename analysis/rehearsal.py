"""python -m analysis rehearse: every estimator on campaigns whose truth is known.

For each estimator: its bias, how often its 95 % interval holds the truth, how often it finds a
difference that is there (power), and one that is not (false positives; asked: 5 %). An interval
"holds" where coverage is within 93 to 97 %, or cannot be told from that at this number of
campaigns (its own 95 % Wilson interval overlaps).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import simulated
from analysis.intervals import wilson_interval
from analysis.registry import get_metric, options_of
from analysis.simulated import Design
from analysis.tables import RatingTable

WANTED = (0.93, 0.97)
SIZE = 0.05
Draw = Callable[[Design, np.random.Generator], RatingTable]


@dataclass(frozen=True)
class Trial:
    """One interval or test of one campaign; a test has a p value, an interval its two ends."""

    error: float = float("nan")
    held: bool | None = None
    width: float = float("nan")
    found: bool | None = None


@dataclass(frozen=True)
class Estimator:
    """A metric with the campaigns it is tried on; `truth` has what it estimates, by system."""

    name: str
    draw: Draw
    design: Design
    truth: Callable[[Design], Mapping[str, float]] | None = None
    scenario: str = "raters see every system"
    test: str = ""  # the column of its p, where it is a test

    def trials(self, seed: int) -> Iterator[Trial]:
        """Yield what comes of one campaign."""
        chance = np.random.default_rng([seed, *self.name.encode()])
        table = self.draw(self.design, chance)
        metric = get_metric(self.name)
        seeded = {"seed": seed} if "seed" in options_of(metric) else {}
        found = metric(table, **seeded)
        if self.test:
            yield from (Trial(found=bool(row[self.test] < SIZE)) for _, row in found.iterrows())
        elif self.truth is not None:
            yield from _against(found, self.truth(self.design))


def _against(found: pd.DataFrame, truth: Mapping[str, float]) -> Iterator[Trial]:
    for _, row in found.iterrows():
        if row["system"] in truth:
            error = float(row["estimate"]) - truth[str(row["system"])]
            held = bool(row["low"] <= truth[str(row["system"])] <= row["high"])
            yield Trial(error, held, float(row["high"] - row["low"]))


def estimators(design: Design) -> list[Estimator]:
    """Return what is rehearsed: a line for each metric and kind of campaign."""
    alone = replace(design, raters_of_one=True)
    still = replace(design, gap=0.0)
    lone = replace(alone, gap=0.0)
    drifting = replace(design, drift=0.2)
    permuted = "p_permutation"
    scale, share = simulated.scale_truth, simulated.share_truth
    one = "each rater sees one system"
    return [
        Estimator("likert", simulated.scale, design, scale),
        Estimator("likert", simulated.scale, alone, scale, one),
        Estimator("calibrated_score", simulated.scale, design, scale),
        Estimator("calibrated_score_learned", simulated.scale, design, scale),
        Estimator("calibrated_score_learned", simulated.scale, alone, scale, one),
        Estimator("ordinal_score", simulated.scale, design, scale),
        Estimator("ordinal_score", simulated.scale, alone, scale, one),
        Estimator("label_score", simulated.labels, design, share, "labels while chatting"),
        Estimator("label_score", simulated.votes, design, share, "votes on replies"),
        Estimator("system_difference", simulated.scale, still, None, "equal systems", "p"),
        Estimator("system_difference", simulated.scale, still, None, "equal, permuted", permuted),
        Estimator("system_difference", simulated.scale, lone, None, "equal, one each", "p"),
        Estimator("system_difference", simulated.scale, lone, None, "one each, permuted", permuted),
        Estimator("system_difference", simulated.scale, design, None, "a gap or more", "p"),
        Estimator("order_effect", simulated.scale, still, None, "no drift", test="p"),
        Estimator("order_effect", simulated.scale, drifting, None, "a drift of 0.2", test="p"),
    ]


def rehearse(
    chosen: Sequence[Estimator], campaigns: int, *, seed: int, jobs: int = 1
) -> pd.DataFrame:
    """Return a row per estimator: bias, coverage and width, or how often its test finds."""
    return pd.DataFrame([_summary(each, campaigns, seed, jobs) for each in chosen])


def _summary(each: Estimator, campaigns: int, seed: int, jobs: int) -> dict[str, object]:
    seeds = range(seed, seed + campaigns)
    trials = list(_all(partial(_trials, each), seeds, jobs))
    row: dict[str, object] = {"estimator": each.name, "scenario": each.scenario}
    row["campaigns"] = campaigns
    if each.test:
        share = float(np.mean([trial.found for trial in trials]))
        return {**row, "found": share, **_ends(share, campaigns)}
    errors = np.array([trial.error for trial in trials])
    coverage = float(np.mean([trial.held for trial in trials]))
    return {
        **row,
        "bias": float(errors.mean()),
        "rmse": float(np.sqrt((errors**2).mean())),
        "width": float(np.mean([trial.width for trial in trials])),
        "coverage": coverage,
        **_ends(coverage, campaigns),
        "verdict": _verdict(coverage, campaigns),
    }


def _ends(share: float, n: int) -> dict[str, float]:
    """Return Wilson's interval; n is campaigns, because systems of one depend on each other."""
    ends = wilson_interval(share * n, n)
    return {"from": ends.low, "to": ends.high}


def _verdict(coverage: float, campaigns: int) -> str:
    ends = wilson_interval(coverage * campaigns, campaigns)
    if ends.high < WANTED[0]:
        return "too narrow"
    return "too wide" if ends.low > WANTED[1] else "holds"


def _trials(each: Estimator, seed: int) -> list[Trial]:
    return list(each.trials(seed))


def _all(trial: Callable[[int], list[Trial]], seeds: Iterable[int], jobs: int) -> Iterator[Trial]:
    if jobs == 1:
        for seed in seeds:
            yield from trial(seed)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(trial, seeds, chunksize=25):
            yield from found


def main(arguments: Sequence[str]) -> int:
    """Print the table of every estimator that was asked for."""
    given = _parser().parse_args(arguments)
    changes = {
        each.name: getattr(given, each.name)
        for each in fields(Design)
        if getattr(given, each.name, None) is not None
    }
    design = Design(**changes)
    chosen = [each for each in estimators(design) if each.name in (given.only or [each.name])]
    began = time.monotonic()
    found = rehearse(chosen, given.campaigns, seed=given.seed, jobs=given.jobs)
    print(found.to_string(index=False, float_format=lambda value: f"{value:.4f}", na_rep=""))
    print(f"{design}, seed {given.seed}: {time.monotonic() - began:.0f} s")
    if given.json:
        rows = found.astype(object).where(found.notna(), None).to_dict("records")
        text = json.dumps({"design": asdict(design), "rows": rows}, indent=1)
        given.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    names = sorted({each.name for each in estimators(Design())})
    parser = argparse.ArgumentParser(prog="python -m analysis rehearse", description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--only", action="append", choices=names, metavar="ESTIMATOR",
                        help=", ".join(names))  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the table here too")
    for each in fields(Design):
        if each.name not in ("drift", "raters_of_one"):
            kind = type(each.default)
            parser.add_argument(f"--{each.name}", type=kind, help=f"default {each.default}")
    return parser
