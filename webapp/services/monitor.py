"""What happens in a campaign now: a funnel, the systems, the bots, the money, and alarms."""

from __future__ import annotations

import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.models import (
    Bonus,
    Campaign,
    CompletionCode,
    Item,
    Participation,
    System,
)
from webapp.services import queues
from webapp.services.plans import protocol_of

P = Participation.State
COUNTS = ("reserved", "completed", "target")
DONE = (Participation.Outcome.COMPLETED, Participation.Outcome.PARTNER_LEFT)
LATE = timedelta(seconds=10)  # a reply owed for longer is an alarm
LEAST_FREE = 500_000_000  # bytes; below it, or below 5 %, new joins stop (R23)
LEAST_SHARE = 0.05


@dataclass(frozen=True)
class Step:
    """A step of the funnel; `state` and `outcome` filter the list of people that it leads to."""

    name: str
    label: str
    count: int
    query: str


@dataclass(frozen=True)
class Progress:
    """How far a system, or a static campaign as a whole, is."""

    name: str
    reserved: int
    completed: int
    target: int
    query: str

    @property
    def percent(self) -> int:
        return round(100 * self.completed / self.target) if self.target else 0


@dataclass(frozen=True)
class Money:
    """What was paid, and what all that is wanted would cost."""

    spent: Decimal
    budget: Decimal
    currency: str

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.spent / self.budget)) if self.budget else 0


@dataclass(frozen=True)
class Alarm:
    """Something that a person should look at; `where` is the page that shows it."""

    name: str
    level: str  # danger, warning
    text: str
    where: str = ""


@dataclass(frozen=True)
class Live:
    """Everything that the live page shows."""

    state: str
    funnel: tuple[Step, ...]
    progress: tuple[Progress, ...]
    bots: tuple[queues.BotState, ...]
    money: Money
    alarms: tuple[Alarm, ...]


def live(campaign: Campaign, now: datetime) -> Live:
    """Look at the campaign; the number of queries does not grow with its size."""
    campaign.refresh_from_db()
    systems = list(campaign.systems.select_related("cell"))
    bots = queues.look(campaign, systems, now)
    return Live(
        state=campaign.state,
        funnel=tuple(funnel(campaign)),
        progress=tuple(_progress(campaign, systems)),
        bots=bots,
        money=money(campaign, systems),
        alarms=tuple(_alarms(campaign, bots)),
    )


def funnel(campaign: Campaign) -> Iterator[Step]:
    """Count people by step; "joined" is everybody."""
    rows = campaign.participations.values_list("state", "outcome").annotate(Count("pk"))
    states: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for state, outcome, count in rows.order_by():
        states[state] += count
        outcomes[outcome] += count
    ended = states[P.ENDED]
    done = sum(outcomes[outcome] for outcome in DONE)
    waiting = states[P.WAITING] + states[P.MATCHED]
    yield Step("joined", _("Joined"), sum(states.values()), "")
    yield Step("ready", _("Reading"), states[P.READY], "step=ready")
    yield Step("waiting", _("Waiting"), waiting, "step=waiting")
    yield Step("chatting", _("Chatting"), states[P.CHATTING], "step=chatting")
    yield Step("rating", _("Rating"), states[P.RATING], "step=rating")
    yield Step("done", _("Done"), done, "step=done")
    yield Step("lost", _("Lost"), ended - done, "step=lost")


def money(campaign: Campaign, systems: Sequence[System]) -> Money:
    """Return what was spent and what everything wanted costs, without a panel's fees."""
    codes = CompletionCode.objects.filter(participation__campaign=campaign)
    bonuses = Bonus.objects.filter(participation__campaign=campaign)
    spent = _total(codes.aggregate(Sum("amount"))) + _total(bonuses.aggregate(Sum("amount")))
    return Money(spent, campaign.pay * wanted(campaign, systems), campaign.currency)


def wanted(campaign: Campaign, systems: Sequence[System]) -> int:
    """Return how many participations all targets come to."""
    protocol = protocol_of(campaign)
    if protocol.chat is not None:
        return sum(system.cell.target for system in systems)
    votes = _total(_items(campaign).aggregate(Sum("target")))
    batch = max((rate.batch for rate in protocol.rates), default=1)
    return math.ceil(votes / batch)


def _items(campaign: Campaign) -> QuerySet[Item]:
    return Item.objects.shared().filter(campaign=campaign)


def _total(sums: dict[str, Decimal | int | None]) -> Decimal:
    return Decimal(next(iter(sums.values())) or 0)


def _progress(campaign: Campaign, systems: Sequence[System]) -> Iterator[Progress]:
    if protocol_of(campaign).chat is not None:
        for system in systems:
            cell = system.cell
            query = f"system={system.pk}"
            yield Progress(system.name, cell.reserved, cell.completed, cell.target, query)
        return
    sums: defaultdict[int, Counter[str]] = defaultdict(Counter)
    judged = Coalesce("candidates__system", "conversation__system")
    rows = _items(campaign).values_list(judged, *COUNTS)
    for system_pk, *counts in rows.order_by():
        sums[system_pk].update(dict(zip(COUNTS, counts, strict=True)))
    for system in systems:
        reserved, completed, target = (sums[system.pk][name] for name in COUNTS)
        query = f"system={system.pk}&purpose=CONTEXT"
        yield Progress(system.name, reserved, completed, target, query)


def _alarms(campaign: Campaign, bots: Sequence[queues.BotState]) -> Iterator[Alarm]:
    running = campaign.state in (Campaign.State.OPEN, Campaign.State.PAUSED)
    unhosted = [state.bot for state in bots if not (state.workers or state.warming)]
    if running and unhosted:
        text = _("No reply worker is alive for %(bots)s: nobody gets an answer.")
        yield Alarm("workers", "danger", text % {"bots": ", ".join(unhosted)})
    late = [state.bot for state in bots if (state.oldest or 0) > LATE.total_seconds()]
    if late:
        text = _("Replies of %(bots)s are owed for more than 10 seconds.")
        yield Alarm("late", "warning", text % {"bots": ", ".join(late)}, "jobs")
    failed = queues.given_up(campaign)
    if failed:
        text = ngettext(
            "%(count)d reply was given up.", "%(count)d replies were given up.", failed
        ) % {"count": failed}
        yield Alarm("failed", "danger", text, "jobs")
    if campaign.state == Campaign.State.PAUSED:
        yield Alarm("paused", "warning", _("The campaign is paused: nobody can join."))
    if low_disk():
        yield Alarm("disk", "danger", _("The disk is nearly full: nobody new can join."))


def low_disk() -> bool:
    """Tell whether so little is free that new joins must stop."""
    usage = shutil.disk_usage(settings.BASE_DIR)
    return usage.free < LEAST_FREE or usage.free < LEAST_SHARE * usage.total
