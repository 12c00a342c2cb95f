"""`python -m analysis stop`: whether a campaign may stop, by intervals that hold at every look.

Look as often as you like and stop when you like: the probability that any of these intervals is
ever wrong stays at --alpha (5 %), over all pairs of systems together. A pair is decided where its
interval leaves out 0, or lies within --margin; with --budget it is also said when no decision is
likely any more. Settle these options before the first look (docs/planning.md).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations

import pandas as pd

from analysis import arguments as parsers
from analysis.output.terminal import table
from analysis.planning.components import cluster_sums, clustered_mean
from analysis.planning.paired import paired, question_of
from analysis.planning.sequential import LEAST_ITEMS, LEAST_RATERS, Look, StopRule, look
from analysis.stats.intervals import NONE
from analysis.tables.options import BadOption
from analysis.tables.reading import read_all
from analysis.tables.schema import BadTable, RatingTable

BAD = 2
# The sequence is shortest for an eighth of the scale, half a point of 1 to 5, unless stated.
PART = 1 / 8
Pair = tuple[str, str]


def looks(
    ratings: RatingTable, question: str, rule: StopRule, *, systems: Sequence[str] = ()
) -> dict[Pair, Look]:
    """Return the look at each pair of systems; the first of a pair is compared with the second.

    The rule's error is shared out among all pairs, whatever its own number of pairs: those of the
    planned `systems`, which may not all have ratings yet, else of those that the table has. Only
    the planned ones have shares that stay the same from look to look.
    """
    rated = ratings.loc[ratings["question"] == question, "system"].astype(str).unique()
    pairs = list(combinations(sorted(systems or rated), 2))
    shared = replace(rule, pairs=max(len(pairs), 1))
    return {pair: _look(ratings, question, pair, shared) for pair in pairs}


def _look(ratings: RatingTable, question: str, pair: Pair, rule: StopRule) -> Look:
    values = paired(ratings, question, *pair)
    if len(values.value) == 0:
        reason = "no rater judged both"
        return Look(math.nan, NONE, "not yet", reason, chance=None, items=0, raters=0)
    return look(clustered_mean(cluster_sums(values.value, values.rater, values.item)), rule)


def overall(found: dict[Pair, Look]) -> str:
    """Return the campaign's verdict: that of its least decided pair that still can be decided."""
    verdicts = {each.verdict for each in found.values()}
    order = ("not yet", "cannot be decided with this budget", "decided")
    return next((each for each in order if each in verdicts), "not yet")


def main(arguments: Sequence[str]) -> int:
    """Print the pairs and the verdict; return 2 where a file or an option cannot be used."""
    options = parsers.stop().parse_args(arguments)
    try:
        ratings = read_all(options.file).ratings
        if ratings is None:
            raise BadOption("file", str(options.file[0]), "a table of ratings")
        question = question_of(ratings, options.question)
        rule = _rule(options, ratings, question)
    except (BadOption, BadTable) as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{error.filename}: cannot be read ({error.strerror or error})", file=sys.stderr)
        return BAD
    found = looks(ratings, question, rule)
    if options.json:
        records = [{"systems": pair, **_record(each)} for pair, each in found.items()]
        print(json.dumps({"verdict": overall(found), "pairs": records}, indent=1))
        return 0
    print(f"{question}: {overall(found)}\n")
    print(table(pd.DataFrame([_row(pair, each) for pair, each in found.items()])))
    print(
        f"\nIntervals hold together at every look; the shortest for differences of "
        f"{rule.expected:g}. There is none with fewer than {LEAST_ITEMS} items or {LEAST_RATERS} "
        "raters who judged both."
    )
    return 0


def _rule(options: argparse.Namespace, ratings: RatingTable, question: str) -> StopRule:
    rows = ratings[ratings["question"] == question]
    expected = options.expected
    if expected is None:
        if "scale_low" not in rows or rows[["scale_low", "scale_high"]].isna().all(axis=None):
            raise BadOption("--expected", "", "a difference: the table has no ends of the scale")
        expected = PART * float((rows["scale_high"] - rows["scale_low"]).max())
    return StopRule(expected, options.margin, options.budget, error=options.alpha)


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
