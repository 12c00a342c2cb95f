"""Monitor of a running campaign: a funnel, pace, the systems, the bots, the money, and alarms."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import reduce
from operator import or_
from statistics import median
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.models import (
    Assignment,
    Campaign,
    Item,
    Participation,
    Seat,
    System,
)
from webapp.services.monitoring import pay_holds, problem_reports
from webapp.services.participation import overload
from webapp.services.replies import allowances, calls, load
from webapp.services.rules import audit, endings, ledger
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of

P = Participation.State
BUDGET_SHARES = (50, 80, 95)  # percent of the budget from which the live page says so
UNUSUAL = {
    "quit": gettext_lazy("stopped early"),
    "idle": gettext_lazy("were paid without any work"),
    "one_word": gettext_lazy("wrote single words only"),
}
COUNTS = ("reserved", "completed", "target")
DONE = (Participation.Outcome.COMPLETED, Participation.Outcome.PARTNER_LEFT)
LATE = timedelta(seconds=10)  # a reply owed for longer is an alarm
LEAST_FREE = 500_000_000  # bytes; below it, or below 5 %, new joins stop (R23)
LEAST_SHARE = 0.05
NAMED = 5  # numbers that an alarm names
COMPLETED = Participation.Outcome.COMPLETED
HERE = Q(state__in=(P.WAITING, P.MATCHED, P.CHATTING, P.RATING, P.WRITING))
# Conversations that count towards their targets.
COUNTED = Q(outcome=COMPLETED) | Q(
    outcome=Participation.Outcome.PARTNER_LEFT,
    participation__campaign__partner_left_counts=True,
)
# Pages that wait or chat give signs of life by themselves; who reads, rates or writes may take
# their time.
SILENT_AFTER = {
    **dict.fromkeys((P.WAITING, P.MATCHED, P.CHATTING), timedelta(minutes=2)),
    **dict.fromkeys((P.ADMISSION, P.READY, P.RATING, P.WRITING), timedelta(minutes=10)),
}
HOUR = timedelta(hours=1)
MOST_TIMED = 500  # of the people who completed, the last ones


@dataclass(frozen=True)
class FunnelStep:
    """A step of the funnel; `state` and `outcome` filter the list of people that it leads to."""

    name: str
    label: str
    count: int
    query: str
    silent: int = 0  # of the count; their browsers have given no sign of life for a while


@dataclass(frozen=True)
class Pace:
    """How fast the campaign goes.

    minutes: what half of the last people who completed took from their consent, None before the
    first. completed: conversations, or answers to items where there is no chat, of the last hour.
    """

    minutes: float | None
    completed: int
    has_chat: bool
    left: int

    @property
    def hours_left(self) -> float | None:
        """Hours to the targets at this rate, None where nothing comes in or nothing is left."""
        return self.left / self.completed if self.completed and self.left else None


@dataclass(frozen=True)
class Progress:
    """How far a system, or writing as a whole, is; `page` lists what there is."""

    name: str
    reserved: int
    completed: int
    target: int
    query: str
    page: str

    @property
    def percent(self) -> int:
        return round(100 * self.completed / self.target) if self.target else 0


@dataclass(frozen=True)
class Money:
    """Money paid, and held for those who are at work, of the budget."""

    spent: Decimal
    budget: Decimal
    currency: str
    reserved: Decimal = Decimal(0)

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
    funnel: tuple[FunnelStep, ...]
    pace: Pace
    progress: tuple[Progress, ...]
    bots: tuple[load.BotState, ...]
    replies: tuple[calls.ReplyCounts, ...]
    money: Money
    alarms: tuple[Alarm, ...]
    tokens: tuple[allowances.TokenBooks, ...] = ()
    has_tokens: bool = False  # are limited, the campaign's or each conversation's
    no_tokens: int = 0  # conversations that ended because none were left


def live(campaign: AnyCampaign, now: datetime) -> Live:
    """Look at the campaign; the number of queries does not grow with its size."""
    campaign = row_of(campaign)
    campaign.refresh_from_db()
    systems = list(campaign.systems.select_related("cell"))
    bots = load.look(campaign, systems, now)
    progress = tuple(_progress(campaign, systems))
    replies = tuple(calls.counts(campaign))
    books = ledger.books(campaign)
    tokens, has_tokens = tuple(allowances.books(campaign)), bool(allowances.limits(campaign))
    ended = campaign.conversations.filter(ended_because="no_tokens")
    return Live(
        state=campaign.state,
        funnel=tuple(funnel(campaign, now)),
        pace=pace(campaign, sum(max(0, row.target - row.completed) for row in progress), now),
        progress=progress,
        bots=bots,
        replies=replies,
        money=money(books, campaign.currency),
        alarms=(
            *_alarms(campaign, bots, replies),
            *_load_alarms(now),
            *_other_alarms(campaign, books, tokens),
        ),
        tokens=tokens,
        has_tokens=has_tokens,
        no_tokens=ended.count() if has_tokens else 0,
    )


def alarms(campaign: Campaign, now: datetime) -> tuple[Alarm, ...]:
    """Return the alarms of the live page alone."""
    systems = list(campaign.systems.select_related("cell"))
    bots, replies = load.look(campaign, systems, now), tuple(calls.counts(campaign))
    books, tokens = ledger.books(campaign), tuple(allowances.books(campaign))
    others = _other_alarms(campaign, books, tokens)
    return (*_alarms(campaign, bots, replies), *_load_alarms(now), *others)


def _other_alarms(
    campaign: Campaign, books: ledger.Books, tokens: Sequence[allowances.TokenBooks]
) -> Iterator[Alarm]:
    yield from _report_alarms(campaign)
    yield from _money_alarms(campaign, books)
    yield from _hold_alarms(campaign)
    yield from _token_alarms(tokens)


def _token_alarms(tokens: Sequence[allowances.TokenBooks]) -> Iterator[Alarm]:
    """Say how much of the models' allowance is used, at the same shares as of the pay."""
    words = {"tokens": _("tokens"), "cost": _("cost of tokens")}
    for each in tokens:
        share = 100 * each.used / each.most if each.most else 0
        passed = [percent for percent in BUDGET_SHARES if share >= percent]
        if passed:
            text = _("%(percent)d %% of the %(what)s is used: %(used)s of %(most)s.")
            about = {"percent": passed[-1], "what": words[each.unit]}
            about |= {"used": each.used, "most": each.most}
            level = "danger" if passed[-1] == BUDGET_SHARES[-1] else "warning"
            yield Alarm(f"{each.unit}-used", level, text % about)


def silent(now: datetime) -> Q:
    """Return what people are silent by: their pages should have given a sign of life by now."""
    return reduce(or_, (Q(state=s, seen_at__lt=now - after) for s, after in SILENT_AFTER.items()))


def pace(campaign: Campaign, left: int, now: datetime) -> Pace:
    """Return how fast people are, and how fast the `left` slots are taken."""
    people = campaign.participations.filter(outcome=COMPLETED)
    times = people.order_by("-ended_at").values_list("joined_at", "ended_at")[:MOST_TIMED]
    minutes = [(ended - joined).total_seconds() / 60 for joined, ended in times if ended]
    has_chat = protocol_of(campaign).chat is not None
    lately: QuerySet[Any] = Assignment.objects.filter(
        item__campaign=campaign, state=Assignment.State.DONE, done_at__gt=now - HOUR
    )
    if has_chat:
        seats = Seat.objects.filter(COUNTED, participation__campaign=campaign)
        lately = seats.filter(conversation__ended_at__gt=now - HOUR)
    return Pace(median(minutes) if minutes else None, lately.count(), has_chat, left)


def funnel(campaign: Campaign, now: datetime) -> Iterator[FunnelStep]:
    """Count people by step; "joined" is everybody."""
    rows = campaign.participations.values_list("state", "outcome").annotate(
        Count("pk"), silent=Count("pk", filter=silent(now))
    )
    states: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    quiet: Counter[str] = Counter()
    for state, outcome, count, silent_count in rows.order_by():
        states[state] += count
        outcomes[outcome] += count
        quiet[state] += silent_count
    ended = states[P.ENDED]
    done = sum(outcomes[outcome] for outcome in DONE)
    waiting = states[P.WAITING] + states[P.MATCHED]
    away = quiet[P.WAITING] + quiet[P.MATCHED]
    chatting, rating = states[P.CHATTING], states[P.RATING]
    yield FunnelStep("joined", _("Joined"), sum(states.values()), "")
    reading, still = states[P.ADMISSION] + states[P.READY], quiet[P.ADMISSION] + quiet[P.READY]
    yield FunnelStep("ready", _("Reading"), reading, "step=ready", still)
    protocol = protocol_of(campaign)
    if waiting or protocol.chat:
        yield FunnelStep("waiting", _("Waiting"), waiting, "step=waiting", away)
    if chatting or protocol.chat:
        yield FunnelStep("chatting", _("Chatting"), chatting, "step=chatting", quiet[P.CHATTING])
    if rating or protocol.rates:
        yield FunnelStep("rating", _("Rating"), rating, "step=rating", quiet[P.RATING])
    if (writing := states[P.WRITING]) or protocol.write:
        yield FunnelStep("writing", _("Writing"), writing, "step=writing", quiet[P.WRITING])
    yield FunnelStep("done", _("Done"), done, "step=done")
    yield FunnelStep("lost", _("Lost"), ended - done, "step=lost")


def money(books: ledger.Books, currency: str) -> Money:
    """Return the money of a campaign, without a panel's fees."""
    return Money(books.spent, books.budget, currency, books.reserved)


def _items(campaign: Campaign) -> QuerySet[Item]:
    return Item.objects.shared().filter(campaign=campaign)


def _progress(campaign: Campaign, systems: Sequence[System]) -> Iterator[Progress]:
    if protocol_of(campaign).chat is not None:
        for system in systems:
            cell = system.cell
            query = f"system={system.pk}"
            counts = (cell.reserved, cell.completed, cell.target)
            yield Progress(system.name, *counts, query, "conversations")
        return
    is_static = any(rate.over == "contexts" for rate in protocol_of(campaign).rates)
    sums: defaultdict[int | None, Counter[str]] = defaultdict(Counter)
    judged = Coalesce("candidates__system", "conversation__system")
    rows = _items(campaign).values_list(judged, *COUNTS)
    for system_pk, *counts in rows.order_by():
        sums[system_pk].update(dict(zip(COUNTS, counts, strict=True)))
    write = protocol_of(campaign).write
    if write and not write.of_conversations:
        yield _counted(_("Contributions"), sums[None], "state=", "contributions")
    for system in systems:
        query = f"system={system.pk}{'&purpose=CONTEXT' if is_static else ''}"
        where = ("state=", "contributions") if write else (query, "conversations")
        yield _counted(system.name, sums[system.pk], *where)


def _counted(name: str, sums: Mapping[str, int], query: str, page: str) -> Progress:
    reserved, completed, target = (sums[each] for each in COUNTS)
    return Progress(name, reserved, completed, target, query, page)


def _alarms(
    campaign: Campaign, bots: Sequence[load.BotState], replies: Sequence[calls.ReplyCounts]
) -> Iterator[Alarm]:
    running = campaign.state in (Campaign.State.OPEN, Campaign.State.PAUSED)
    unhosted = [state.bot for state in bots if not (state.workers or state.warming)]
    if running and unhosted:
        text = _("No reply worker is alive for %(bots)s: nobody gets an answer.")
        yield Alarm("workers", "danger", text % {"bots": ", ".join(unhosted)})
    late = [state.bot for state in bots if (state.oldest or 0) > LATE.total_seconds()]
    if late:
        text = _("Replies of %(bots)s have been pending for more than 10 seconds.")
        yield Alarm("late", "warning", text % {"bots": ", ".join(late)}, "jobs")
    failed = load.given_up(campaign)
    if failed:
        text = ngettext("%(count)d reply failed.", "%(count)d replies failed.", failed) % {
            "count": failed
        }
        yield Alarm("failed", "danger", text, "jobs")
    troubled = [each.system for each in replies if 100 * each.share > campaign.troubled_percent]
    if troubled:
        text = _("More replies of %(systems)s are empty, cut, filtered or failed than planned.")
        yield Alarm("troubled", "warning", text % {"systems": ", ".join(troubled)})
    if campaign.state == Campaign.State.PAUSED:
        yield Alarm("paused", "warning", _("The campaign is paused: nobody can join."))
    if low_disk():
        yield Alarm("disk", "danger", _("The disk is nearly full: nobody new can join."))
    changed = audit.known_faults()
    if changed:
        text = ngettext(
            "The audit log was changed in the database (entry %(numbers)s): run manage.py audit.",
            "The audit log was changed in the database (entries %(numbers)s): run manage.py audit.",
            len(changed),
        )
        more = ", ..." if len(changed) > NAMED else ""
        numbers = ", ".join(map(str, changed[:NAMED])) + more
        yield Alarm("audit", "danger", text % {"numbers": numbers})


def _load_alarms(now: datetime) -> Iterator[Alarm]:
    """Yield the hosts that could not keep up lately."""
    if slow := overload.hosts(now):
        text = _("The server is overloaded (%(hosts)s): nobody new can join until it keeps up.")
        yield Alarm("overload", "danger", text % {"hosts": ", ".join(slow)})


def _report_alarms(campaign: Campaign) -> Iterator[Alarm]:
    """Yield what participants reported, or wrote, that nobody has settled."""
    counts = problem_reports.unsettled(campaign)
    if crises := counts["crisis"]:
        text = ngettext(
            "The words of a participant suggest a crisis: %(count)d message is to be read now.",
            "The words of participants suggest a crisis: %(count)d messages are to be read now.",
            crises,
        )
        yield Alarm("crisis", "danger", text % {"count": crises}, "problem-reports")
    if reported := counts["reported"]:
        text = ngettext(
            "A participant reported a problem: %(count)d report is to be read.",
            "Participants reported problems: %(count)d reports are to be read.",
            reported,
        )
        yield Alarm("reports", "warning", text % {"count": reported}, "problem-reports")


def _money_alarms(campaign: Campaign, books: ledger.Books) -> Iterator[Alarm]:
    """Yield what may use up the money: stated shares of the budget, and odd endings (R37)."""
    if campaign.state not in (Campaign.State.OPEN, Campaign.State.PAUSED):
        return
    percent = 100 * (books.reserved + books.spent) / books.budget if books.budget else 0
    shares = [share for share in BUDGET_SHARES if percent >= share]
    if books.free < campaign.pay:
        text = _("The budget is used up: nobody new gets a place. Raise it to go on.")
        yield Alarm("budget", "danger", text, "budget")
    elif shares:
        text = _("At least %(share)d %% of the budget is spent or held for people at work.")
        yield Alarm("budget", "warning", text % {"share": max(shares)}, "budget")
    if books.held_at is not None:
        text = _(
            "Nobody new gets a place until you have looked: most of the latest people %(what)s."
        )
        yield Alarm("held", "danger", text % {"what": UNUSUAL[books.held_because]}, "budget")
    elif kind := endings.unusual(campaign.pk, books.looked_at):
        text = _("Most of the latest people %(what)s.") % {"what": UNUSUAL[kind]}
        yield Alarm("endings", "warning", text, "people")


def _hold_alarms(campaign: Campaign) -> Iterator[Alarm]:
    """Yield what waits for a payer, also after the campaign has ended."""
    if count := pay_holds.waiting(campaign).count():
        text = ngettext(
            "A payment looks wrong and waits for a payer.",
            "%(count)d payments look wrong and wait for a payer.",
            count,
        )
        yield Alarm("holds", "danger", text % {"count": count}, "pay-sheet")


def low_disk() -> bool:
    """Tell whether so little is free that new joins must stop."""
    usage = shutil.disk_usage(settings.BASE_DIR)
    return usage.free < LEAST_FREE or usage.free < LEAST_SHARE * usage.total
