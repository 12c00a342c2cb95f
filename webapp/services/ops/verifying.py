"""Checks of a live installation, reading only: each names the campaign and the value (R42).

A check that compares a counter with rows is one statement, so that work which goes on meanwhile is
in both or in neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    Subquery,
    Sum,
)
from django.db.models.functions import Cast, Coalesce, Round

from webapp.models import (
    Assignment,
    Bonus,
    Campaign,
    CompletionCode,
    Contribution,
    ExternalId,
    Item,
    Participation,
    PayLedger,
    QuotaCell,
    Rating,
    Seat,
)
from webapp.services.ops import host_clocks
from webapp.services.receipts import checking
from webapp.services.rules import audit, ledger, payment, rounds, tally
from webapp.services.rules.protocols import protocol_of

Outcome, State = Participation.Outcome, Participation.State
RESERVED, DONE = Assignment.State.RESERVED, Assignment.State.DONE
LATE = timedelta(days=1)  # within which the sweeper has surely deleted ids
Fault = tuple[int | None, str]  # a campaign's number, and what is wrong
HELD = Cast(Round(F("reserved_pay") * 100), BigIntegerField())
# Whose end earns a code whatever was done before; a stopped campaign may have no money left.
ALWAYS_PAID = [
    outcome
    for outcome, rule in payment.RULES.items()
    if rule.code == CompletionCode.Kind.FULL and outcome != Outcome.STOPPED
]


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: which check found it, in which campaign, and the values."""

    check: str
    campaign: str
    words: str

    def __str__(self) -> str:
        return f"{self.campaign}: {self.check}: {self.words}"


def findings(now: datetime) -> Iterator[Finding]:
    """Yield what all checks find; nothing is changed."""
    names = dict(Campaign.objects.values_list("pk", "name"))
    for name, check in CHECKS.items():
        for campaign, words in check(now):
            whose = f"campaign {campaign} ({names.get(campaign)})" if campaign else "this server"
            yield Finding(name, whose, words)


def _conversations(now: datetime) -> Iterator[Fault]:
    for campaign in Campaign.objects.order_by("pk").values_list("pk", flat=True):
        yield from ((campaign, words) for words in tally.faults(campaign))


def _slots(now: datetime) -> Iterator[Fault]:
    people = Participation.objects.filter(system=OuterRef("system"))
    rows = QuotaCell.objects.annotate(
        held=_count(people.filter(holds_slot=True), "system"),
        partners=_count(people.filter(holds_partners_slot=True), "system"),
    ).exclude(reserved=F("held") + F("partners"))
    for row in rows.select_related("system").order_by("pk"):
        found: Any = row
        held = found.held + found.partners
        yield (
            row.system.campaign_id,
            f"system {row.system.name}: reserved is {row.reserved}, {held} are held by people",
        )


def _items(now: datetime) -> Iterator[Fault]:
    rows = Assignment.objects.filter(item=OuterRef("pk"))
    done = rows.filter(state=DONE, participation__withdrawn_at=None)
    done = done.exclude(contribution__state=Contribution.State.REFUSED)
    items = Item.objects.filter(known=False).annotate(
        held=_count(rows.filter(state=RESERVED), "item"), judged=_count(done, "item")
    )
    wrong = items.exclude(reserved=F("held"), completed=F("judged"))
    for row in wrong.order_by("pk"):
        found: Any = row
        counts = f"{row.reserved} reserved and {row.completed} completed"
        yield (
            row.campaign_id,
            f"item {row.key}: has {counts}, its forms say {found.held} and {found.judged}",
        )


def _held_pay(now: datetime) -> Iterator[Fault]:
    people = Participation.objects.filter(campaign=OuterRef("campaign"))
    rows = PayLedger.objects.annotate(found=_sum(people, "campaign", HELD))
    yield from _differences(rows, "reserved", "people at work hold")


def _spent_pay(now: datetime) -> Iterator[Fault]:
    whose = {"participation__campaign": OuterRef("campaign")}
    codes, bonuses = (
        _sum(rows.filter(**whose), "participation__campaign", ledger.CENTS)
        for rows in (ledger.owed_codes(), Bonus.objects.all())
    )
    rows = PayLedger.objects.annotate(codes=codes, bonuses=bonuses)
    rows = rows.annotate(found=F("codes") + F("bonuses"))
    yield from _differences(rows, "spent", "codes and bonuses are")


def _differences(rows: Any, name: str, others: str) -> Iterator[Fault]:
    for row in rows.exclude(**{name: F("found")}).order_by("pk"):
        stated, found = ledger.of_cents(getattr(row, name)), ledger.of_cents(row.found)
        yield row.campaign_id, f"the ledger has {name} {stated}, {others} {found}"


def _codes(now: datetime) -> Iterator[Fault]:
    over = _count(Seat.objects.filter(participation=OuterRef("pk"), outcome__in=rounds.OVER))
    rows = Participation.objects.select_related("code").annotate(over=over).order_by("pk")
    coded = Q(code__isnull=False)
    owed_none = Q(outcome__in=(Outcome.FULL, Outcome.DECLINED), over=0)
    for row in rows.filter(coded & (~Q(state=State.ENDED) | owed_none)):
        ended = row.outcome or "at work"
        yield row.campaign_id, f"participation {row.pk} is {ended} and has code {row.code.code}"
    for row in rows.filter(~coded, outcome__in=ALWAYS_PAID, pay__gt=0):
        yield row.campaign_id, f"participation {row.pk} ended as {row.outcome} and has no code"
    for row in rows.filter(coded):
        found: Any = row
        most = max(row.pay, row.waiting_pay, row.screening_pay) + row.pay * found.over
        if row.code.amount > most:
            words = f"participation {row.pk} has a code of {row.code.amount}"
            yield row.campaign_id, f"{words}, and was promised {most} at most"


def _ratings(now: datetime) -> Iterator[Fault]:
    people = Participation.objects.filter(outcome=Outcome.COMPLETED, withdrawn_at=None)
    forms = Assignment.objects.filter(participation__in=people).order_by("pk")
    for row in forms.filter(state=RESERVED).select_related("participation", "item"):
        person = row.participation
        yield person.campaign_id, f"participation {person.pk} was paid and owes {row.item.key}"
    answers = Rating.objects.filter(assignment=OuterRef("pk"))
    written = Contribution.objects.filter(assignment=OuterRef("pk"))
    empty = forms.filter(state=DONE).exclude(Exists(answers)).exclude(Exists(written))
    for row in empty.select_related("participation__campaign", "item"):
        person, key = row.participation, row.item.key
        live = protocol_of(person.campaign).live
        if live is None or not live.optional or not key.endswith(":live"):
            yield person.campaign_id, f"participation {person.pk} judged {key}: no answer"


def _left_behind(now: datetime) -> Iterator[Fault]:
    held = Q(holds_slot=True) | Q(holds_partners_slot=True) | Q(reserved_pay__gt=0)
    rows = Participation.objects.filter(held, state=State.ENDED).order_by("pk")
    for row in rows:
        slots = row.holds_slot + row.holds_partners_slot
        words = f"participation {row.pk} ended and holds {slots} slots and {row.reserved_pay}"
        yield row.campaign_id, words


def _ids(now: datetime) -> Iterator[Fault]:
    rows = ExternalId.objects.select_related("participation__campaign").order_by("pk")
    for row in rows.filter(participation__withdrawn_at__isnull=False):
        person = row.participation
        yield person.campaign_id, f"participation {person.pk} withdrew and its id is kept"
    late = now - timedelta(days=settings.KEEP_IDS_DAYS) - LATE
    old = rows.filter(participation__campaign__ended_at__lt=late)
    counts = old.order_by().values_list("participation__campaign")
    for campaign, count, at in counts.annotate(
        Count("pk"), Max("participation__campaign__ended_at")
    ):
        yield campaign, f"{count} ids are kept of a campaign that ended on {at:%Y-%m-%d}"


def _log(now: datetime) -> Iterator[Fault]:
    yield from ((None, f"entry {fault.number}: {fault.why}") for fault in audit.faults())


def _receipts(now: datetime) -> Iterator[Fault]:
    yield from checking.faults()


def _clocks(now: datetime) -> Iterator[Fault]:
    for one in host_clocks.known(now):
        if one.is_off:
            way = "ahead of" if one.ahead > 0 else "behind"
            yield (
                None,
                f"the clock of host {one.host} was {abs(one.ahead):.0f} s {way} the database's "
                f"at {one.at:%Y-%m-%d %H:%M} UTC: set it by NTP",
            )


CHECKS: Mapping[str, Callable[[datetime], Iterator[Fault]]] = {
    "conversations": _conversations,
    "slots": _slots,
    "items": _items,
    "pay held": _held_pay,
    "pay spent": _spent_pay,
    "codes": _codes,
    "ratings": _ratings,
    "left behind": _left_behind,
    "ids": _ids,
    "audit log": _log,
    "receipts": _receipts,
    "clocks": _clocks,
}


def _count(rows: Any, by: str = "participation") -> Any:
    counts = rows.order_by().values(by).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts), 0, output_field=IntegerField())


def _sum(rows: Any, by: str, cents: Any) -> Any:
    sums = rows.order_by().values(by).annotate(cents=Sum(cents)).values("cents")
    return Coalesce(Subquery(sums), 0, output_field=BigIntegerField())
