"""The books of a study at the panel: owed, approved, bonus, difference, to the cent."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from webapp.models import PanelStudy
from webapp.services.recruiting import paying
from webapp.services.rules import audit

CENT = Decimal("0.01")
COLUMNS = (
    "submission_id",
    "outcome",
    "own_code",
    "status",
    "owed",
    "approved",
    "bonus",
    "difference",
    "note",
)


@dataclass(frozen=True)
class PanelLine:
    """One submission, in the campaign's currency. The difference is paid less owed."""

    submission_id: str
    outcome: str
    own_code: str
    status: str
    owed: Decimal
    approved: Decimal
    bonus: Decimal
    difference: Decimal
    note: str


@dataclass(frozen=True)
class NumberedLine:
    """A line with the number of its submission here, by which pages name it."""

    pk: int
    line: PanelLine


@dataclass(frozen=True)
class PanelBooks:
    """All lines and their sums."""

    lines: list[NumberedLine]
    owed: Decimal
    approved: Decimal
    bonus: Decimal

    @property
    def difference(self) -> Decimal:
        return self.approved + self.bonus - self.owed


def of(study: PanelStudy) -> PanelBooks:
    """Return the books, from what the panel was last seen to have paid and nothing else."""
    found = paying.accounts(study)
    codes = dict(
        study.submissions.exclude(participation__code=None).values_list(
            "pk", "participation__code__code"
        )
    )
    lines = [NumberedLine(each.submission.pk, _line(each, codes)) for each in found]
    rows = [each.line for each in lines]
    sums = (sum((getattr(row, name) for row in rows), Decimal(0)) for name in SUMMED)
    return PanelBooks(lines, *sums)


SUMMED = ("owed", "approved", "bonus")


def _line(each: paying.Account, codes: dict[int, str]) -> PanelLine:
    one, person = each.submission, each.submission.participation
    return PanelLine(
        submission_id=one.submission_id,
        outcome=person.get_outcome_display() if person else "",
        own_code=codes.get(one.pk, ""),
        status=one.status,
        owed=each.owed * CENT,
        approved=each.rewarded * CENT,
        bonus=one.bonus_seen * CENT,
        difference=(each.rewarded + one.bonus_seen - each.owed) * CENT,
        note=_note(each),
    )


def _note(each: paying.Account) -> str:
    one = each.submission
    if each.refused:
        return "rejected by a person, for a stated reason"
    if each.held:
        return "it waits on the pay sheet for a payer"
    if one.participation_id is None:
        return "nobody here has this id, or it is a second submission: look into it"
    if one.status == paying.REVIEW and not each.owed:
        return "it awaits review, but nothing is owed: look into it"
    if each.part is None and one.status not in ("RESERVED", "ACTIVE"):
        return "look into it at the panel"
    if each.intended > one.bonus_seen:
        return "a bonus is on its way"
    return ""


def taken(*, study: PanelStudy, by: Any, now: datetime) -> list[tuple[object, ...]]:
    """Return the rows of the CSV file, and log who took them: they have the panel's ids."""
    audit.append(
        actor=by.get_username(), action="panel: books taken", campaign=study.campaign, now=now
    )
    return [astuple(each.line) for each in of(study).lines]
