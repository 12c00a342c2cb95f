"""The pay ledger: a place reserves its pay before any work; the sum never exceeds the budget (R37).

Each change is one conditional UPDATE of the campaign's row, as with a quota, and the database
refuses what would exceed the budget. It is the last row that a transaction takes before the audit
log, so that nobody waits in a circle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import (
    BigIntegerField,
    Count,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Cast, Coalesce, Round

from evaluation import Protocol
from webapp.models import (
    Bonus,
    Campaign,
    CompletionCode,
    Item,
    Participation,
    PayLedger,
    QuotaCell,
)
from webapp.services.rules.protocols import protocol_of

SPARE = 10  # one place more for so many: who is paid and does not count takes it
NOTHING = Decimal(0)
CENTS = Cast(Round(F("amount") * 100), BigIntegerField())  # whole: a sum of them is exact
# Where raters are kept to one kind of item, each kind needs batches of its own.
KINDS = {"group": "context__group", "system": "candidates__system"}


class OverBudget(Exception):
    """The budget has less left than this takes."""

    def __init__(self, free: Decimal) -> None:
        super().__init__(f"{free} left")
        self.free = free


@dataclass(frozen=True)
class Books:
    """The sums of a campaign; before its launch the budget is what it would begin with."""

    budget: Decimal
    reserved: Decimal = NOTHING
    spent: Decimal = NOTHING
    held_at: datetime | None = None
    held_because: str = ""
    looked_at: datetime | None = None  # when a person last let people in again

    @property
    def free(self) -> Decimal:
        return self.budget - self.reserved - self.spent


@dataclass(frozen=True)
class OwedPay:
    """What people are to get: of their codes, and of bonuses."""

    code: Decimal
    bonus: Decimal

    @property
    def total(self) -> Decimal:
        return self.code + self.bonus


def owed(person: str = "pk") -> dict[str, Any]:
    """Return the one rule of what is owed, as columns to annotate: `owed_code` and `owed_bonus`.

    In cents: the amount of the code that a participation was given, and all its bonuses. Every
    sheet, sum and book takes them from here. `person` names the column of the participation.
    """
    whose = {"participation": OuterRef(person)}
    return {
        "owed_code": _owed(owed_codes(), whose),
        "owed_bonus": _owed(Bonus.objects.all(), whose),
    }


def owed_codes() -> QuerySet[CompletionCode]:
    """Return the codes that stand for money: all but those whose payment a person refused."""
    return CompletionCode.objects.exclude(hold__refused=True)


def _owed(kind: Any, whose: dict[str, Any]) -> Any:
    rows = kind.filter(**whose).order_by().values("participation")
    sums = rows.annotate(cents=Sum(CENTS)).values("cents")
    return Coalesce(Subquery(sums), 0, output_field=BigIntegerField())


def owed_to(people: QuerySet[Participation]) -> OwedPay:
    """Return what is owed to all of some people."""
    rows = people.order_by().annotate(**owed())
    sums = rows.aggregate(code=Sum("owed_code"), bonus=Sum("owed_bonus"))
    return OwedPay(of_cents(sums["code"] or 0), of_cents(sums["bonus"] or 0))


def slots(campaign: Campaign, *, free: bool = False) -> int:
    """Return how many paid places all targets come to, or what is `free` of them.

    A conversation of one person is a place; where there is no chat it is a batch of items, each of
    which a person judges once.
    """
    return _slots([campaign], free=free)[campaign.pk]


def _slots(campaigns: Sequence[Campaign], *, free: bool = False) -> dict[int, int]:
    wanted = F("target") - F("reserved") - F("completed") if free else F("target")
    keys = [campaign.pk for campaign in campaigns]
    cells = QuotaCell.objects.filter(system__campaign__in=keys).values_list("system__campaign")
    wanted_of_cells = dict(cells.annotate(sum=Sum(wanted)).order_by())
    rows = Item.objects.shared().filter(campaign__in=keys, known=False).values_list("campaign")
    sums = rows.annotate(votes=Sum(wanted), most=Max(wanted), count=Count("pk")).order_by()
    votes = {key: (total, most, count) for key, total, most, count in sums}
    found = {
        each.pk: wanted_of_cells.get(each.pk, 0)
        if (protocol := protocol_of(each)).chat
        else _batches(*votes.get(each.pk, (0, 0, 1)), batch=_counting(protocol))
        for each in campaigns
    }
    for each in campaigns:
        rate = protocol_of(each).after
        if not protocol_of(each).chat and rate is not None and rate.keep:
            found[each.pk] = _by_kind(each, rate.keep, wanted)
    return found


def _by_kind(campaign: Campaign, kind: str, wanted: Any) -> int:
    rows = Item.objects.shared().filter(campaign=campaign, known=False)
    kinds = rows.values_list(KINDS[kind]).order_by()
    sums = kinds.annotate(votes=Sum(wanted), most=Max(wanted), count=Count("pk"))
    batch = _counting(protocol_of(campaign))
    return sum(_batches(votes, most, count, batch=batch) for _, votes, most, count in sums)


def _counting(protocol: Protocol) -> int:
    """Return how many items of a batch count: those with known answers are no data."""
    known = protocol.onboarding.items if protocol.onboarding else 0
    return max(1, protocol.batch - known)


def _batches(votes: int, most: int, count: int, *, batch: int) -> int:
    return max(math.ceil(votes / min(batch, count)), most)


def cost(campaign: Campaign, count: int) -> Decimal:
    """Return what so many places cost: each may pay for the work, a wait and a check."""
    return count * (campaign.pay + campaign.waiting_pay + campaign.screening_pay)


def usual_budget(campaign: Campaign) -> Decimal:
    """Return the budget of who sets none: all places, and a tenth more for who does not count."""
    return _usual_budget(campaign, slots(campaign))


def _usual_budget(campaign: Campaign, count: int) -> Decimal:
    return cost(campaign, count + math.ceil(count / SPARE))


def books(campaign: Campaign) -> Books:
    """Return the campaign's sums, from the one row that decides."""
    return books_of([campaign])[campaign.pk]


def books_of(campaigns: Sequence[Campaign]) -> dict[int, Books]:
    """Return the sums of several campaigns; the number of queries does not grow with them."""
    rows = PayLedger.objects.filter(campaign__in=[each.pk for each in campaigns])
    found = {row.campaign_id: _books(row) for row in rows}
    new = [each for each in campaigns if each.pk not in found]
    counts = _slots([each for each in new if each.budget is None]) if new else {}
    for each in new:
        usual = _usual_budget(each, counts[each.pk]) if each.budget is None else each.budget
        found[each.pk] = Books(usual)
    return found


def _books(row: PayLedger) -> Books:
    return Books(
        of_cents(row.budget),
        of_cents(row.reserved),
        of_cents(row.spent),
        held_at=row.held_at,
        held_because=row.held_because,
        looked_at=row.looked_at,
    )


def begin(campaign: Campaign) -> PayLedger:
    """Open the campaign's ledger; a repeat returns the first. Codes before it count as spent."""
    row = PayLedger.objects.filter(campaign=campaign.pk).first()
    if row is not None:
        return row
    spent = owed_to(Participation.objects.filter(campaign=campaign.pk)).total
    budget = usual_budget(campaign) if campaign.budget is None else campaign.budget
    row, _made = PayLedger.objects.get_or_create(  # one ledger a campaign decides between two
        campaign_id=campaign.pk,
        defaults={"budget": _cents(max(budget, spent)), "spent": _cents(spent)},
    )
    return row


def can_reserve(campaign: Campaign, amount: Decimal) -> bool:
    """Tell whether a place of this pay could be reserved now."""
    return amount <= books(campaign).free


def is_held(campaign: Campaign) -> bool:
    """Tell whether odd rates of stopping keep new people out until a person has looked."""
    return PayLedger.objects.filter(campaign=campaign.pk).exclude(held_at=None).exists()


def hold(person: Participation, amount: Decimal) -> bool:
    """Reserve so much in all for a person whose row is locked; False where the budget lacks it."""
    before = person.reserved_pay
    more = amount - before
    if more > 0:
        if not _take(person.campaign, reserved=more):
            return False
        Participation.objects.filter(pk=person.pk).update(reserved_pay=before + more)
        person.reserved_pay = before + more
    return True


def release(person: Participation) -> None:
    """Give back all that is reserved for a person who has no place any more, and is owed nothing.

    Their row is locked.
    """
    held = person.reserved_pay
    if held:
        rows = PayLedger.objects.filter(campaign=person.campaign_id)
        rows.update(reserved=F("reserved") - _cents(held))
        Participation.objects.filter(pk=person.pk).update(reserved_pay=0)
        person.reserved_pay = NOTHING


def settle(person: Participation, owed: Decimal) -> Decimal:
    """Turn a person's reservation into what is owed, and release the rest; return what is paid.

    What is owed is reserved but for people without a place, whose campaign was stopped: they get
    what the budget has left for them, or nothing. Their row is locked.
    """
    paid = owed if hold(person, owed) else person.reserved_pay
    held = person.reserved_pay
    if held:
        rows = PayLedger.objects.filter(campaign=person.campaign_id)
        rows.update(reserved=F("reserved") - _cents(held), spent=F("spent") + _cents(paid))
        Participation.objects.filter(pk=person.pk).update(reserved_pay=0)
        person.reserved_pay = NOTHING
    return paid


def spend(campaign: Campaign, amount: Decimal) -> None:
    """Pay what nobody reserved, a bonus. Raises `OverBudget`."""
    if not _take(campaign, spent=amount):
        raise OverBudget(books(campaign).free)


def take_back(campaign: Campaign, amount: Decimal) -> None:
    """Count as not spent what a person refused to pay."""
    rows = PayLedger.objects.filter(campaign=campaign.pk)
    rows.update(spent=F("spent") - _cents(amount))


def grow(campaign: Campaign, more: Decimal) -> Books:
    """Raise the budget by an amount."""
    begin(campaign)
    PayLedger.objects.filter(campaign=campaign.pk).update(budget=F("budget") + _cents(more))
    return books(campaign)


def keep_new_people_out(campaign: Campaign, because: str, now: datetime) -> bool:
    """Let nobody new have a place until a person says so; False where that is so already."""
    begin(campaign)
    rows = PayLedger.objects.filter(campaign=campaign.pk, held_at=None)
    return rows.update(held_at=now, held_because=because) == 1


def let_new_people_in(campaign: Campaign, now: datetime) -> bool:
    """Let people have places again; False where nothing was held. Endings count from now on."""
    rows = PayLedger.objects.filter(campaign=campaign.pk).exclude(held_at=None)
    return rows.update(held_at=None, held_because="", looked_at=now) == 1


def _take(campaign: Campaign, **sums: Decimal) -> bool:
    """Add to the sums where the budget has enough left; without a ledger one is begun first."""
    ((name, amount),) = sums.items()
    cents = _cents(amount)
    left = Q(budget__gte=F("reserved") + F("spent") + cents)
    rows = PayLedger.objects.filter(left, campaign=campaign.pk)
    added = {name: F(name) + cents}
    if rows.update(**added):
        return True
    begin(campaign)
    return rows.update(**added) == 1


def _cents(amount: Decimal) -> int:
    return int(amount * 100)


def of_cents(cents: int) -> Decimal:
    """Return whole cents as an amount."""
    return (Decimal(cents) / 100).quantize(Decimal("0.01"))
