"""Studies: campaigns that are reported together, each of them a phase.

A campaign joins and leaves whenever the requester likes: its plan stays as it was frozen, and which
campaigns are read together is no part of what its participants did.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from webapp.models import Campaign, Study
from webapp.services.accounts import projects
from webapp.services.campaign import duplicates
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyStudy, StaffStudy
from webapp.services.staff_forms.fields import Invalid, parse_all, shown, text, whole, yes_no

LONGEST_NAME, LONGEST_NOTE, LONGEST_PHASE = 120, 2_000, 60  # characters
NUMBERED = 12  # characters kept for a number after a name
FIELDS = {"name": text(most=LONGEST_NAME), "note": text(most=LONGEST_NOTE, least=0)}
MOST_REPEATS = 20
MOST_PHASES = 100
NUMBER = re.compile(r" \(([0-9]{1,6})\)$")  # of a repeat, after its phase's name
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class StudyRow:
    """One study of the list."""

    pk: int
    name: str
    owner: str
    phases: int
    project: str


def listed(user: access.User) -> list[StudyRow]:
    """Return the user's studies, the newest first."""
    rows = access.studies(user).annotate(count=Count("phases")).select_related("owner", "project")
    return [
        StudyRow(row.pk, row.name, row.owner.get_username(), row.count, row.project.name)
        for row in rows
    ]


def create(*, raw: Mapping[str, str], by: Any, now: datetime) -> Study:
    """Create a study of no phases. Raises `Invalid`."""
    values = parse_all(raw, FIELDS | {"project": projects.read(by)})
    with transaction.atomic():
        row = Study.objects.create(
            owner=by,
            created_at=now,
            project_id=values.pop("project"),
            **values,
        )
        _note(by, "study created", None, now, row)
        return row


def change(*, study: AnyStudy, raw: Mapping[str, str], by: Any, now: datetime) -> None:
    """Change name and note, and whether phases are disjoint. Raises `Invalid`."""
    values = parse_all(raw, FIELDS) | {"disjoint": yes_no(raw.get("disjoint", ""))}
    with transaction.atomic():
        row = _lock(study)
        Study.objects.filter(pk=row.pk).update(**values)
        _note(by, "study changed", None, now, row)


def phases(study: AnyStudy) -> list[Campaign]:
    """Return the campaigns of a study, in the order in which they were made."""
    return list(Campaign.objects.filter(study=study.pk).order_by("pk"))


def free(study: AnyStudy) -> list[Campaign]:
    """Return the campaigns of the study's project that are in no study, and not archived."""
    rows = Campaign.objects.filter(project=study.project_id, study=None, archived_at=None)
    return list(rows.order_by("-pk"))


def add(*, study: AnyStudy, raw: Mapping[str, str], by: Any, now: datetime) -> Campaign:
    """Make a campaign a phase of the study, under the name typed or its own. Raises `Invalid`."""
    known = {str(each.pk): each for each in free(study)}
    source = raw.get("source", "")
    if source not in known:
        complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
        raise Invalid({"source": complaint % {"value": shown(source)}})
    own = known[source].name[:LONGEST_PHASE].strip()
    phase = parse_all(raw, {"phase": text(most=LONGEST_PHASE, least=0)})["phase"] or own
    with transaction.atomic():
        _refuse_more(_lock(study), phase, 1)
        row = Campaign.objects.select_for_update().get(pk=known[source].pk)
        if row.study_id is not None:
            raise Invalid({"source": _("it has joined a study meanwhile; look at it again")})
        return _join(row, study, phase, by, now)


def remove(*, study: AnyStudy, campaign: str, by: Any, now: datetime) -> None:
    """Take a campaign out of the study; it stays as it is. A repeat changes nothing."""
    with transaction.atomic():
        row = Campaign.objects.select_for_update().filter(study=study.pk, pk=_pk(campaign)).first()
        if row is not None:
            row.study, row.phase = None, ""
            row.save(update_fields=["study", "phase"])
            _note(by, "campaign taken out of a study", row, now, study)


def repeat(*, study: AnyStudy, raw: Mapping[str, str], by: Any, now: datetime) -> list[Campaign]:
    """Add so many duplicates of a phase, each with a seed of its own, and so with other samples.

    They are numbered from `first`, which the page was drawn with: a second click makes no more.
    Raises `Invalid`.
    """
    source = Campaign.objects.filter(study=study.pk, pk=_pk(raw.get("source", ""))).first()
    if source is None:
        complaint = _("%(value)s is not a phase of this study; choose one of them")
        raise Invalid({"source": complaint % {"value": shown(raw.get("source", ""))}})
    numbers = {"times": whole(least=1, most=MOST_REPEATS), "first": whole(least=1, most=10**6)}
    times, first = parse_all(raw, numbers).values()
    with transaction.atomic():
        row = _lock(study)
        taken = set(row.phases.values_list("phase", flat=True))
        names = {
            number: f"{source.phase[: LONGEST_PHASE - NUMBERED]} ({number})"
            for number in range(first, first + times)
        }
        wanted = {number: name for number, name in names.items() if name not in taken}
        if len(taken) + len(wanted) > MOST_PHASES:
            raise Invalid({"times": _too_many()})
        return [_repeated(source, study, number, name, by, now) for number, name in wanted.items()]


def next_number(found: Iterable[Campaign]) -> int:
    """Return the number that the next repeat gets, above those of all phases."""
    numbers = [int(match[1]) for each in found if (match := NUMBER.search(each.phase))]
    return max(numbers, default=1) + 1


def _repeated(
    source: Campaign, study: AnyStudy, number: int, phase: str, by: Any, now: datetime
) -> Campaign:
    chance = random.Random(f"{source.seed}:repeat:{number}")  # noqa: S311 (to be repeated)
    name = f"{source.name[: LONGEST_NAME - NUMBERED]} ({number})"
    seed = chance.randint(0, LARGEST_SEED)
    made = duplicates.duplicate(campaign=source, name=name, seed=seed, by=by, now=now)
    return _join(made, study, phase, by, now)


def _join(row: Campaign, study: AnyStudy, phase: str, by: Any, now: datetime) -> Campaign:
    row.study_id, row.phase = study.pk, phase
    row.save(update_fields=["study", "phase"])
    _note(by, "campaign added to a study", row, now, study)
    return row


def _lock(study: AnyStudy) -> Study:
    """Return the study's row, locked, so that two who change its phases do so in turn."""
    return Study.objects.select_for_update().get(pk=study.pk)


def _refuse_more(row: Study, phase: str, count: int) -> None:
    if row.phases.filter(phase=phase).exists():
        complaint = _("%(value)s is the name of another phase here; choose another")
        raise Invalid({"phase": complaint % {"value": shown(phase)}})
    if row.phases.count() + count > MOST_PHASES:
        raise Invalid({"source": _too_many()})


def _too_many() -> str:
    return _("is too many: a study has at most %(most)d phases") % {"most": MOST_PHASES}


def _pk(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


def _note(by: Any, action: str, campaign: Any, now: datetime, study: Study | StaffStudy) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now, study=study.pk)
