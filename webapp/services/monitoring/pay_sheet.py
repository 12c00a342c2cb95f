"""The pay sheet of a campaign: id, code, outcome, amount, bonus and status of everybody in it.

Page and file are made of the same rows, and each look at them is logged. The ids of the panel are
in no address and no entry of the log: they stand in one table only (S14).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import Participation
from webapp.services.rules import audit, identity, ledger
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.staff_forms.fields import storable

PAGE = 50
CHUNK = 500
LONGEST_SEARCH = 128
COLUMNS = (
    "id",
    "platform",
    "pseudonym",
    "code",
    "outcome",
    "amount",
    "bonus",
    "total",
    "currency",
    "status",
)


@dataclass(frozen=True, kw_only=True)
class PayLine:
    """One person; `id` is that of the panel, "" for volunteers and where it was deleted."""

    pk: int
    id: str
    platform: str
    pseudonym: str
    code: str
    outcome: str
    amount: Decimal
    bonus: Decimal
    currency: str
    status: str

    @property
    def total(self) -> Decimal:
        return self.amount + self.bonus

    def cells(self) -> tuple[object, ...]:
        """Return the line as the file has it."""
        return tuple(getattr(self, name) for name in COLUMNS)


@dataclass(frozen=True)
class OutcomeSum:
    """All people of one outcome."""

    outcome: str
    people: int
    owed: ledger.OwedPay


@dataclass(frozen=True)
class PaySums:
    """What everybody is owed, by outcome and in all, beside the one row that decides."""

    by_outcome: list[OutcomeSum]
    owed: ledger.OwedPay
    books: ledger.Books

    @property
    def people(self) -> int:
        return sum(each.people for each in self.by_outcome)

    @property
    def agrees(self) -> bool:
        return self.owed.total == self.books.spent


def sums(campaign: AnyCampaign) -> PaySums:
    """Return the sums of the sheet, which name nobody."""
    rows = Participation.objects.filter(campaign=campaign.pk)
    counts = rows.values_list("outcome").annotate(count=Count("pk")).order_by("outcome")
    found = [
        OutcomeSum(_outcome(outcome), count, ledger.owed_to(rows.filter(outcome=outcome)))
        for outcome, count in counts
    ]
    return PaySums(found, ledger.owed_to(rows), ledger.books(row_of(campaign)))


def _outcome(outcome: str) -> str:
    return str(Participation.Outcome(outcome).label) if outcome else _("not ended yet")


def look(
    *, campaign: AnyCampaign, search: str, page: str | None, by: str, now: datetime
) -> Page[Any]:
    """Return a page of `PayLine`, the latest first; who looked at whom is logged."""
    wanted = search.strip()[:LONGEST_SEARCH]
    rows = _rows(campaign, wanted).order_by("-pk")
    found: Page[Any] = Paginator(rows, PAGE).get_page(page)
    found.object_list = [_line(row) for row in found.object_list]
    whom = {"people": [line.pk for line in found.object_list]} if wanted else {}
    audit.append(
        actor=by,
        action="pay sheet searched" if wanted else "pay sheet looked at",
        campaign=campaign,
        now=now,
        rows=len(found.object_list),
        **whom,
    )
    return found


def taken(*, campaign: AnyCampaign, by: str, now: datetime) -> Iterator[PayLine]:
    """Return all lines in the order of joining, for a file; that it was taken is logged."""
    rows = _rows(campaign, "").order_by("pk")
    audit.append(actor=by, action="pay sheet taken", campaign=campaign, now=now, rows=rows.count())
    return map(_line, rows.iterator(chunk_size=CHUNK))


def _rows(campaign: AnyCampaign, search: str) -> QuerySet[Any]:
    """Return the people of the sheet: all, or those whose id or code has what is searched for."""
    rows = Participation.objects.filter(campaign=campaign.pk)
    if search:
        is_text = storable(search)
        by_id, by_code = Q(external__value__icontains=search), Q(code__code__icontains=search)
        rows = rows.filter(by_id | by_code) if is_text else rows.none()
    rows = rows.select_related("external", "code__hold", "panel_submission")
    return rows.annotate(**ledger.owed())


def _line(row: Any) -> PayLine:
    known: Any = getattr(row, "external", None)
    code = getattr(row, "code", None)
    is_volunteer = known is None or known.platform == identity.VOLUNTEER
    return PayLine(
        pk=row.pk,
        id="" if is_volunteer else known.value,
        platform=known.platform if known else "",
        pseudonym=str(row),
        code=code.code if code else "",
        outcome=_outcome(row.outcome),
        amount=ledger.of_cents(row.owed_code),
        bonus=ledger.of_cents(row.owed_bonus),
        currency=row.currency,
        status=_status(row),
    )


def _status(row: Any) -> str:
    """Return how the pay stands: as the panel says where there is one, else as is known here."""
    there = getattr(row, "panel_submission", None)
    hold = getattr(getattr(row, "code", None), "hold", None)
    if hold is not None and (hold.refused or hold.decided_at is None):
        status = _("refused") if hold.refused else _("held until somebody has looked")
    elif there is not None:
        status = _("at Prolific: %(status)s") % {"status": there.status.lower()}
    elif not row.outcome:
        status = _("at work")
    else:
        status = _("to be paid") if row.owed_code + row.owed_bonus else _("nothing owed")
    return status if row.withdrawn_at is None else f"{status}; {_('withdrew')}"
