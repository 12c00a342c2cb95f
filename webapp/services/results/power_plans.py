"""Answers of the planner, by simulation: the only code of pages that plans.

Runs where no socket is served, as `computing` does.

Apart because it plans campaigns, where `computing` stores results of those that ran.
"""

from __future__ import annotations

import math
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from analysis import BadTable, RatingTable
from analysis.planning.paired import question_of
from analysis.planning.plan import USED, caveats, cost, out_of_reach, partly
from analysis.planning.power import (
    MOST_ITEMS,
    RatingPlan,
    fewest_raters,
    items_needed,
    loaded,
    loaded_raters_needed,
    power,
)
from analysis.planning.variances import PUBLISHED, Variances, learned
from analysis.report import many
from analysis.tables.columns import UNCHANGED
from analysis.tables.options import BadOption
from analysis.tables.reading import read_all
from webapp.models import Campaign, PowerPlan
from webapp.services.campaign import launch
from webapp.services.data import tables
from webapp.services.results import planner
from webapp.services.staff_forms.fields import Invalid

MOST_UNPACKED = 500_000_000  # bytes that a zip may hold
MOST_FILES = 100  # an export has some thirty
VARIANCES = tuple(each.name for each in fields(Variances))
OWN = "own"  # variances where raters judge one system each
MOST_TRIES = 5  # somebody asks something else while it is computed


def compute(campaign: Campaign) -> None:
    """Answer what is asked of a draft's planner now; what is asked meanwhile is answered too."""
    for _try in range(MOST_TRIES):
        row = PowerPlan.objects.get(campaign=campaign)
        basis = launch.power_basis(campaign)
        try:
            found: dict[str, Any] = {"plan": _answer(row, basis)}
        except Invalid as problem:
            found = {"plan": None, "problems": problem.problems}
        rows = PowerPlan.objects.filter(pk=row.pk, revision=row.revision)
        if rows.update(found=found | {"basis": basis}):
            return


def _answer(row: PowerPlan, basis: Mapping[str, Any]) -> dict[str, Any]:
    params = row.params
    variances, source = _variances(row)
    seed, each = basis["seed"], params["each"]
    aim = (params["difference"], params["power"])
    try:
        plan = _design(params, basis["systems"])
        found = _found(plan, params, variances, seed)
    except BadOption as problem:
        raise Invalid({problem.option: _complaint(problem)}) from None
    about = {
        "source": source,
        "systems": plan.systems,
        "variances": asdict(variances),
        "params": params,
    }
    if found is None and params["raters"] is None:
        return {**about, "problem": _too_small(*aim, each)}
    if found is None:
        return {**about, "problem": out_of_reach(plan, variances, *aim, seed)}
    return {**about, **_numbers(found, variances, params, basis)}


def _design(params: Mapping[str, Any], systems: int) -> RatingPlan:
    """Return what is asked, with the fewest items and raters for those that are left open."""
    votes, judges = params["votes"], params.get("judges") or 0
    if judges > systems:  # before raters are counted for it
        raise BadOption("judges", str(judges), f"1 to {systems}, the systems")
    raters = params["raters"] or fewest_raters(votes, systems, judges)
    return RatingPlan(params["items"] or 2, raters, votes, systems, judges)


def _found(
    plan: RatingPlan, params: Mapping[str, Any], variances: Variances, seed: int
) -> RatingPlan | None:
    """Return the plan with what was left open filled in; None where nothing reaches the power."""
    each, aim = params["each"], (params["difference"], params["power"])
    if params["items"] and params["raters"]:
        return plan
    if params["raters"]:
        return items_needed(plan, variances, *aim, seed=seed)
    if params["items"]:
        loaded(plan, plan.raters, each)  # refuses what nobody can give
        return replace(plan, raters=max(plan.fewest, math.ceil(plan.ratings / each)))
    return loaded_raters_needed(plan, each, variances, *aim, seed=seed)


def _numbers(
    plan: RatingPlan, variances: Variances, params: Mapping[str, Any], basis: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the numbers of a plan; whole participations are paid."""
    result = power(plan, variances, params["difference"], seed=basis["seed"])
    each = params["each"]
    people = math.ceil(plan.ratings / each)
    minutes, pay = basis["minutes"] / each, float(basis["pay"]) / each
    price = cost(people * each, minutes, pay, params["fee"])
    return {
        **asdict(plan),
        "ratings": plan.ratings,
        "participations": people,
        **asdict(result),
        "error": result.error,
        **asdict(price),
        "currency": basis["currency"],
        "notes": [
            *partly(plan),
            *_departs(each, basis["each"]),
            *_other_systems(plan, basis["judges"]),
            *_load(plan, each),
            *caveats(plan, result),
            f"{USED[0].upper()}{USED[1:]}.",
        ],
    }


def _too_small(difference: float, target: float, each: int) -> str:
    return (
        f"Not even {MOST_ITEMS:,} items find a difference of {difference:g} with power {target:g}, "
        f"with as many raters of {many(each, 'rating')} each as they take."
    )


def _departs(each: int, own: int) -> list[str]:
    """Say where the plan rests on other participants than the campaign's settings make."""
    if each == own:
        return []
    return [
        f"Participants give {many(each, 'rating')} each here, and {own} by the campaign's "
        "settings: change the conversations or items per participant, or the plan does not hold."
    ]


def _other_systems(plan: RatingPlan, own: int) -> list[str]:
    """Say where a rater of the plan judges more or fewer systems than a participant does."""
    if plan.judged == own:
        return []
    return [
        f"Participants judge {many(plan.judged, 'system')} each here, and {own} by the campaign's "
        "settings: change the conversations or items per participant, or the plan does not hold."
    ]


def _load(plan: RatingPlan, each: int) -> list[str]:
    """Say where a rater of the plan gives more ratings than a participant of the campaign does."""
    own = math.ceil(plan.ratings / plan.raters)
    if own <= each:
        return []
    return [
        f"Each of the {plan.raters} raters gives {many(own, 'rating')}, and a participant of this "
        f"campaign {each}: raise the items or conversations per participant, or plan more raters."
    ]


# --- variances ------------------------------------------------------------------------------------


def _variances(row: PowerPlan) -> tuple[Variances, str]:
    """Return the variances and where they come from. Raises `Invalid`."""
    found, source = _from_source(row)
    severity = row.params.get("severity")
    return (found if severity is None else replace(found, severity=severity)), source


def _from_source(row: PowerPlan) -> tuple[Variances, str]:
    params = row.params
    source = params["source"]
    if source in PUBLISHED:
        width = params["high"] - params["low"]
        return PUBLISHED[source].times(width), f"{source}, times {width:g} for the scale"
    if source == planner.PILOT:
        if row.pilot is not None:
            rows = PowerPlan.objects.filter(pk=row.pk, revision=row.revision)
            try:
                row.learned = _of_pilot(row)
            finally:  # a table that cannot be used is not kept either
                rows.update(learned=row.learned, pilot=None)
        return _chosen(row.learned, params), row.pilot_name
    campaign = Campaign.objects.get(pk=source.removeprefix(planner.CAMPAIGN))
    ratings = tables.ratings(campaign)
    return _chosen(_of_questions(ratings), params), f"campaign “{campaign.name}”"


def _chosen(learned_of: Mapping[str, Any], params: Mapping[str, Any]) -> Variances:
    """Return the variances of the question that is meant: the one named, or the only one."""
    question = params["question"]
    name = question or (next(iter(learned_of)) if len(learned_of) == 1 else "")
    if name not in learned_of:
        names = ", ".join(learned_of)
        right = f"one of {names}" if names else "one with numbers as answers"
        raise Invalid({"question": _complaint(BadOption("question", name, right))})
    found = learned_of[name]
    if params.get("judges") == 1:
        if OWN not in found:  # learned before raters of one system could be planned for
            raise Invalid({"file": _("choose it once more; raters of one system are new here")})
        found = found[OWN]
    if "problem" in found:
        raise Invalid({"question": found["problem"]})
    return Variances(**{name: found[name] for name in VARIANCES})


def _of_pilot(row: PowerPlan) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(row.pilot_name).name or "pilot.csv")
        path.write_bytes(bytes(row.pilot or b""))
        try:
            _check_size(path)
            ratings = read_all([path], labels=UNCHANGED).ratings
        except BadTable as problem:
            raise Invalid({"file": str(problem)}) from None
    if ratings is None:
        raise Invalid({"file": f"{row.pilot_name}: right would be a table of ratings"})
    return _of_questions(ratings)


def _check_size(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        files = archive.infolist()
    size = sum(each.file_size for each in files)
    if len(files) > MOST_FILES:
        right = f"at most {MOST_FILES}; take its ratings.csv alone"
        raise Invalid({"file": f"{path.name} holds {len(files)} files; right would be {right}"})
    if size > MOST_UNPACKED:
        most = f"at most {MOST_UNPACKED // 1_000_000} MB; take its ratings.csv alone"
        raise Invalid(
            {"file": f"{path.name} unpacks to {size // 1_000_000} MB; right would be {most}"}
        )


def _of_questions(ratings: RatingTable) -> dict[str, Any]:
    """Return the variances of each question with numbers, or why there are none.

    Those of raters of one system each stand within them.
    """
    found: dict[str, Any] = {}
    for name in sorted(ratings["question"].astype(str).unique()):
        try:
            question = question_of(ratings, name)
        except BadOption:
            continue
        own = _learned(ratings, question, own_raters=True)
        found[name] = {**_learned(ratings, question, own_raters=False), OWN: own}
    return found


def _learned(ratings: RatingTable, question: str, *, own_raters: bool) -> dict[str, Any]:
    try:
        variances = learned(ratings, question, own_raters=own_raters)
    except BadOption as problem:
        return {"problem": _complaint(problem)}
    if variances.noise <= 0:
        return {"problem": _("%(name)s has no noise: its raters never differ") % {"name": question}}
    return asdict(variances)


def _complaint(problem: BadOption) -> str:
    return f"“{problem.value}”: right would be {problem.right}"
