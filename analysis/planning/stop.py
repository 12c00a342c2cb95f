"""`python -m analysis stop`: whether a campaign may stop, by intervals that hold at every look.

Look as often as you like and stop when you like: the probability that any of these intervals is
ever wrong stays at --alpha (5 %), over all pairs of systems together. A pair is decided where its
interval leaves out 0, or lies within --margin; with --budget it is also said when no decision is
likely any more. A pair is compared by the raters who judged both; where each rater judged one
system (--own-raters) by the means of the two systems' raters. Settle these options before the first
look (docs/planning.md). Of an export whose plan froze a stop rule it is that rule, and an option
that differs from it is told.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import pandas as pd

from analysis import arguments as parsers
from analysis.output.terminal import table
from analysis.planning.components import ClusteredMean, OwnRaters, cluster_sums, clustered_mean
from analysis.planning.paired import Rated, of_system, paired, question_of, read_ratings
from analysis.planning.sequential import LEAST_ITEMS, LEAST_RATERS, Look, StopRule, look
from analysis.scores.allocation import HUMAN, PEOPLE
from analysis.stats.intervals import NONE
from analysis.tables.options import BadOption
from analysis.tables.schema import BadTable, RatingTable

BAD = 2
# The sequence is shortest for an eighth of the scale, half a point of 1 to 5, unless stated.
PART = 1 / 8
ALPHA = 0.05
NOBODY_OF_BOTH = "no rater judged both"
# Options of the command, and what the plan calls them.
OF_PLAN = {
    "question": "question",
    "expected": "difference",
    "margin": "margin",
    "budget": "items",
    "alpha": "alpha",
    "own_raters": "own_raters",
}
Pair = tuple[str, str]


@dataclass(frozen=True)
class PlannedStop:
    """The stop rule that a plan froze: its question, the rule, and the systems of its pairs.

    With `own_raters` each rater judges one system.
    """

    question: str
    rule: StopRule
    systems: tuple[str, ...]
    own_raters: bool = False


def planned_stop(plan: Mapping[str, Any]) -> PlannedStop | None:
    """Return a plan's stop rule; None where it has none."""
    frozen = plan.get("stop_rule")
    if frozen is None:
        return None
    rule = StopRule(frozen["difference"], frozen["margin"], frozen["items"], error=frozen["alpha"])
    compared = [each for each in plan["systems"] if not each.get("control")]
    names = (HUMAN if each["bot"] == PEOPLE else str(each["name"]) for each in compared)
    own_raters = bool(frozen.get("own_raters"))  # plans before schema 9 had none of these
    return PlannedStop(str(frozen["question"]), rule, tuple(names), own_raters)


def looks(ratings: RatingTable, settled: PlannedStop) -> dict[Pair, Look]:
    """Return the look at each pair of systems; the first of a pair is compared with the second.

    The rule's error is shared out among all pairs, whatever its own number of pairs: those of the
    planned systems, which may not all have ratings yet, else of those that the table has. Only
    the planned ones have shares that stay the same from look to look.
    """
    rated = ratings.loc[ratings["question"] == settled.question, "system"].astype(str).unique()
    pairs = list(combinations(sorted(settled.systems or rated), 2))
    shared = replace(settled.rule, pairs=max(len(pairs), 1))
    compared = _by_own_raters if settled.own_raters else _by_raters_of_both
    return {pair: compared(ratings, settled.question, pair, shared) for pair in pairs}


def _by_raters_of_both(ratings: RatingTable, question: str, pair: Pair, rule: StopRule) -> Look:
    values = paired(ratings, question, *pair)
    return look(_mean(values), rule) if len(values.value) else _nothing(NOBODY_OF_BOTH)


def _by_own_raters(ratings: RatingTable, question: str, pair: Pair, rule: StopRule) -> Look:
    one, other = (of_system(ratings, question, system) for system in pair)
    if not len(one.value) or not len(other.value):
        return _nothing("a system has no rating")
    return look(OwnRaters(_mean(one), _mean(other)), rule)


def _mean(values: Rated) -> ClusteredMean:
    return clustered_mean(cluster_sums(values.value, values.rater, values.item))


def _nothing(reason: str) -> Look:
    return Look(math.nan, NONE, "not yet", reason, chance=None, items=0, raters=0)


def overall(found: Mapping[Pair, Look]) -> str:
    """Return the campaign's verdict: that of its least decided pair that still can be decided."""
    verdicts = {each.verdict for each in found.values()}
    order = ("not yet", "cannot be decided with this budget", "decided")
    return next((each for each in order if each in verdicts), "not yet")


def main(arguments: Sequence[str]) -> int:
    """Print the pairs and the verdict; return 2 where a file or an option cannot be used."""
    options = parsers.stop().parse_args(arguments)
    try:
        ratings, tables = read_ratings("file", options.file)
        plan = {} if tables.study is None else tables.study.plan
        chosen, unlike = _chosen(options, ratings, plan)
    except (BadOption, BadTable) as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{error.filename}: cannot be read ({error.strerror or error})", file=sys.stderr)
        return BAD
    if unlike:
        print(f"Caution: {unlike}", file=sys.stderr)
    found = looks(ratings, chosen)
    if {each.reason for each in found.values()} == {NOBODY_OF_BOTH}:
        print(f"{NOBODY_OF_BOTH}; --own-raters compares raters of one system each", file=sys.stderr)
    if options.json:
        records = [{"systems": pair, **_record(each)} for pair, each in found.items()]
        print(json.dumps({"verdict": overall(found), "pairs": records}, indent=1))
        return 0
    _print(chosen, found, by_plan=bool(chosen.systems) and not unlike)
    return 0


def _print(chosen: PlannedStop, found: Mapping[Pair, Look], *, by_plan: bool) -> None:
    start = "By the stop rule of the plan: intervals" if by_plan else "Intervals"
    print(f"{chosen.question}: {overall(found)}\n")
    print(table(pd.DataFrame([_row(pair, each) for pair, each in found.items()])))
    print(
        f"\n{start} hold together at every look; the shortest for differences of "
        f"{chosen.rule.expected:g}. There is none with fewer than {LEAST_ITEMS} items or "
        f"{LEAST_RATERS} raters {'of each system' if chosen.own_raters else 'who judged both'}."
    )


def _chosen(
    options: argparse.Namespace, ratings: RatingTable, plan: Mapping[str, Any]
) -> tuple[PlannedStop, str]:
    """Return the rule of the plan, else of the options, and what of the plan's was not kept."""
    frozen = planned_stop(plan)
    if frozen is None:
        question = question_of(ratings, options.question)
        own_raters = bool(options.own_raters)
        return PlannedStop(question, _rule(options, ratings, question), (), own_raters), ""
    of_plan = {"own_raters": False} | plan["stop_rule"]
    settled = {name: of_plan[key] for name, key in OF_PLAN.items()}
    typed = {name: getattr(options, name) for name in OF_PLAN}
    kept = {name: settled[name] if value is None else value for name, value in typed.items()}
    unlike = [name for name, value in kept.items() if value != settled[name]]
    rule = StopRule(kept["expected"], kept["margin"], kept["budget"], error=kept["alpha"])
    question = question_of(ratings, kept["question"])
    found = PlannedStop(question, rule, frozen.systems, kept["own_raters"])
    changed = ", ".join(f"--{name.replace('_', '-')} is {settled[name]}" for name in unlike)
    caution = f"by the plan {changed}; a rule that is changed after a look promises nothing"
    return found, caution * bool(unlike)


def _rule(options: argparse.Namespace, ratings: RatingTable, question: str) -> StopRule:
    rows = ratings[ratings["question"] == question]
    expected = options.expected
    if expected is None:
        if "scale_low" not in rows or rows[["scale_low", "scale_high"]].isna().all(axis=None):
            raise BadOption("--expected", "", "a difference: the table has no ends of the scale")
        expected = PART * float((rows["scale_high"] - rows["scale_low"]).max())
    error = ALPHA if options.alpha is None else options.alpha
    return StopRule(expected, options.margin, options.budget, error=error)


def _record(each: Look) -> dict[str, object]:
    record = asdict(each)
    record["interval"] = None if math.isnan(each.interval.low) else list(each.interval)
    record["estimate"] = None if math.isnan(each.estimate) else each.estimate
    return record


def _row(pair: Pair, each: Look) -> dict[str, object]:
    reason = f" ({each.reason})" if each.reason else ""
    return {
        "system": pair[0],
        "less": pair[1],
        "items": each.items,
        "raters": each.raters,
        "difference": each.estimate,
        "low": each.interval.low,
        "high": each.interval.high,
        "verdict": each.verdict + reason,
        "chance": each.chance,
    }
