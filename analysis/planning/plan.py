"""`python -m analysis plan`: items, raters and votes that a comparison of systems needs, and cost.

Power and interval width come from simulated campaigns. Variances are published ones, an own
estimate, or learned from a table of ratings (docs/planning.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from analysis import arguments as parsers
from analysis.planning.paired import question_of, read_ratings
from analysis.planning.power import (
    MOST_ITEMS,
    CampaignPower,
    RatingPlan,
    items_needed,
    power,
    raters_needed,
)
from analysis.planning.variances import PUBLISHED, Variances, learned
from analysis.report import many
from analysis.tables.options import BadOption
from analysis.tables.schema import BadTable

BAD = 2
STATED = ("taste", "item", "noise", "severity")
# A false positive share above this is named: 5 % and three standard errors of 2,000 campaigns.
TOO_MANY = 0.065
CLAIMED = (
    "Card et al. (2020): t > 1.96 on a maximum likelihood model, one tail; the difference "
    "put in is half of the one that they simulate."
)
SEVERITY = "an SD in points, which no publication has: with one system each it does not cancel"
USED = "the test's figures are of normal ratings; a scale's ends and steps make small changes"


@dataclass(frozen=True)
class Cost:
    """Hours of raters' work, what they are paid, with the fee, and per hour; None if not stated."""

    hours: float
    money: float | None
    wage: float | None


def cost(ratings: int, minutes: float, pay: float | None = None, fee: float = 0.0) -> Cost:
    """Return what so many ratings cost: `minutes` and `pay` are of one, `fee` is in percent."""
    hours = ratings * minutes / 60
    if pay is None:
        return Cost(hours, None, None)
    return Cost(hours, ratings * pay * (1 + fee / 100), pay * 60 / minutes)


def main(arguments: Sequence[str]) -> int:
    """Print the plan; return 2, with the reason on stderr, where an option cannot be used."""
    options = parsers.plan().parse_args(arguments)
    try:
        _check(options)
        variances = _variances(options)
        plan = _plan(options)
        found = _with_items(options, plan, variances)
        result = power(
            found or plan,
            variances,
            options.difference,
            seed=options.seed,
            campaigns=options.campaigns,
        )
    except (BadOption, BadTable) as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{error.filename}: cannot be read ({error.strerror or error})", file=sys.stderr)
        return BAD
    if found is None:
        aim = (options.difference, options.power, options.seed)
        print(out_of_reach(plan, variances, *aim), file=sys.stderr)
        return 1
    price = cost(found.ratings, options.minutes, options.pay, options.fee)
    if options.json:
        record = {
            "plan": asdict(found),
            "variances": asdict(variances),
            "power": asdict(result),
            "cost": asdict(price),
        }
        print(json.dumps(record, indent=1))
    else:
        print("\n".join(_lines(options, found, variances, result, price)))
    return 0


def _plan(options: argparse.Namespace) -> RatingPlan:
    judges = 0 if options.judges is None else options.judges
    if options.judges is not None and judges < 1:
        raise BadOption("--judges", str(judges), "1 or more systems that each rater judges")
    if judges == 1 and options.severity is None and not options.learn:
        raise BadOption("--severity", "", SEVERITY)
    usual = options.raters // options.systems if judges == 1 else options.raters
    votes = options.votes or max(usual, 1)
    return RatingPlan(options.items or 2, options.raters, votes, options.systems, judges)


def _check(options: argparse.Namespace) -> None:
    """Raise `BadOption` for numbers that the parser lets through."""
    right = {
        "difference": (options.difference > 0, "above 0"),
        "power": (0 < options.power < 1, "between 0 and 1"),
        "minutes": (options.minutes > 0, "above 0"),
        "pay": (options.pay is None or options.pay >= 0, "0 or more"),
        "fee": (options.fee >= 0, "0 or more, in percent"),
        "campaigns": (options.campaigns >= 100, "100 or more"),
        "scale": (options.scale[0] < options.scale[1], "the lower end, then the upper one"),
    }
    for name, (holds, what) in right.items():
        if not holds:
            raise BadOption(f"--{name}", str(getattr(options, name)), what)


def _variances(options: argparse.Namespace) -> Variances:
    low, high = options.scale
    if options.learn:
        ratings, _ = read_ratings("--learn", options.learn)
        question = question_of(ratings, options.question)
        found = learned(ratings, question, own_raters=options.judges == 1)
    else:
        found = PUBLISHED[options.variances].times(high - low)
    stated = {name: getattr(options, name) for name in STATED}
    for name, value in stated.items():
        if value is not None and not value >= 0:
            raise BadOption(f"--{name}", str(value), "0 or more, in points of the scale")
    found = replace(found, **{name: value for name, value in stated.items() if value is not None})
    if found.noise <= 0:
        raise BadOption("--noise", str(found.noise), "above 0: raters never repeat exactly")
    return found


def _with_items(
    options: argparse.Namespace, plan: RatingPlan, variances: Variances
) -> RatingPlan | None:
    if options.items:
        return plan
    return items_needed(plan, variances, options.difference, options.power, seed=options.seed)


def out_of_reach(
    plan: RatingPlan, variances: Variances, difference: float, target: float, seed: int
) -> str:
    """Say that no number of items reaches the power `target`, and how many raters do."""
    many_items = replace(plan, items=200)
    enough = raters_needed(many_items, variances, difference, target, seed=seed)
    sentence = (
        f"With {many(plan.raters, 'rater')} not even {MOST_ITEMS:,} items find a difference of "
        f"{difference:g} with power {target:g}: their tastes do not average out."
    )
    if enough is None:
        return f"{sentence} No number of raters does with 200 items either."
    return f"{sentence} With 200 items {many(enough.raters, 'rater')} do."


def _lines(
    options: argparse.Namespace,
    plan: RatingPlan,
    variances: Variances,
    result: CampaignPower,
    price: Cost,
) -> Iterator[str]:
    yield (
        f"{many(plan.items, 'item')} for each of {plan.systems} systems, "
        f"{many(plan.raters, 'rater')}, {many(plan.votes, 'vote')} per item: "
        f"{many(plan.ratings, 'rating')}."
    )
    yield from partly(plan)
    severity = f", severity {variances.severity:.3f}" if variances.severity else ""
    yield (
        f"Standard deviations in points: taste {variances.taste:.3f}, item {variances.item:.3f}, "
        f"noise {variances.noise:.3f}{severity} ({_source(options)})."
    )
    yield ""
    yield f"{'':34}{'holds':>8}{'Card et al.':>14}"
    claims = [
        (f"power for a difference of {options.difference:g}", result.power, result.claimed),
        ("claims among equal systems", result.false, result.claimed_false),
    ]
    for name, ours, theirs in claims:
        yield f"{name:34}{ours:8.3f}{'-' if theirs is None else f'{theirs:.3f}':>14}"
    yield f"{'width of the 95 % interval':34}{result.width:8.3f}{'-':>14}"
    yield ""
    yield (
        f"{result.campaigns} simulated campaigns each; Monte Carlo error of the power "
        f"{result.error:.3f}; {USED}."
    )
    yield from caveats(plan, result)
    yield _cost_line(options, price)


def partly(plan: RatingPlan) -> Iterator[str]:
    """Yield what the test of a pair rests on, where a rater does not judge every system."""
    if plan.judges == 1:
        yield f"Each rater judges one system: {plan.of_pair} raters of each are compared."
    elif not plan.all_judged:
        tested = plan.tested
        yield (
            f"Each rater judges {plan.judges} of the systems: a pair is compared by the "
            f"{many(plan.of_pair, 'rater')} who judge both, on {many(tested.items, 'item')} with "
            f"{many(tested.votes, 'vote')} each."
        )


def caveats(plan: RatingPlan, result: CampaignPower) -> Iterator[str]:
    """Yield what the published claim rests on, and whether the raters are too few for the test."""
    if result.claimed is not None:
        yield CLAIMED
    if result.false > TOO_MANY:
        yield f"{many(plan.raters, 'rater')} are too few for the test to hold its 5 %."


def _source(options: argparse.Namespace) -> str:
    stated = [name for name in STATED if getattr(options, name) is not None]
    if {*STATED[:3]} <= {*stated}:
        return "as stated"
    source = (
        f"learned from {options.learn[0].name}"
        if options.learn
        else f"{options.variances}, times {options.scale[1] - options.scale[0]:g} for the scale"
    )
    return source + (f"; as stated: {', '.join(stated)}" if stated else "")


def _cost_line(options: argparse.Namespace, price: Cost) -> str:
    hours = f"{price.hours:.1f} hours at {options.minutes:g} minutes a rating"
    if price.money is None:
        return f"Cost: {hours}; --pay adds money and the hourly wage."
    fee = f" with a fee of {options.fee:g} %" if options.fee else ""
    return f"Cost: {hours}; {price.money:.2f} in pay{fee}; {price.wage:.2f} an hour."
