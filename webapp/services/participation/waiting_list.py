"""People who wait for a place that somebody holds who has not begun: in order, with a time (R40).

A place is a person's own with the first thing that they do in it. Before that it goes to whoever
waits, after minutes, and not before its holder's page could say so; without anybody waiting it
stays theirs. A place of who was proven by a signature goes to nobody, and they are first on the
list: made-up ids cannot keep them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from webapp.models import Assignment, Campaign, Event, Participation, Seat
from webapp.services.conversation import chat, matching
from webapp.services.participation import stopping
from webapp.services.rules import events, payment, protocols

P = Participation.State
FORM = timedelta(minutes=10)  # to answer, or change, something: long texts are read before
FIRST_WORK = {P.CHATTING: timedelta(minutes=3), P.RATING: FORM, P.WRITING: FORM}
SOONER = 3  # times, where somebody waits who is proven
WARNED = timedelta(seconds=30)  # at least, from when somebody waits until a place is given back
ABSENT = timedelta(minutes=1)  # of who waits for a partner, and whose page asks nothing
FEW = 1_000  # places that are looked at


@dataclass(frozen=True)
class Position:
    """Where somebody is on the list; `seconds_left` until a place is free at the latest.

    It is None where nobody can say: it is the turn of a partner. Who has the place may begin
    before, and keeps it then.
    """

    position: int
    seconds_waiting: float
    seconds_left: float | None


def is_on(person: Participation) -> bool:
    """Tell whether a person is on the list."""
    return person.state == P.READY and person.waiting_at is not None


def enter(person: Participation, now: datetime) -> None:
    """Put a person who is ready on the list; who is on it keeps the position."""
    rows = Participation.objects.filter(pk=person.pk, state=P.READY, waiting_at=None)
    rows.update(waiting_at=now, seen_at=now, notice="")


def present(campaign: Campaign, now: datetime) -> QuerySet[Participation]:
    """Return who is on the list and there now, first who is first."""
    rows = Participation.objects.filter(campaign=campaign, state=P.READY)
    rows = rows.filter(waiting_at__isnull=False, seen_at__gte=now - matching.PRESENT)
    return rows.order_by("-is_proven", "waiting_at", "pk")


def is_first(person: Participation, now: datetime) -> bool:
    """Tell whether nobody who is there comes before a person."""
    return not _before(person, now).exists()


def _before(person: Participation, now: datetime) -> QuerySet[Participation]:
    since = person.waiting_at or now
    earlier = Q(waiting_at__lt=since) | Q(waiting_at=since, pk__lt=person.pk)
    rank = Q(is_proven=True) if not person.is_proven else Q(pk__in=())
    rows = present(person.campaign, now).exclude(pk=person.pk)
    return rows.filter(rank | (Q(is_proven=person.is_proven) & earlier))


def position(person: Participation, now: datetime) -> Position:
    """Return where a person on the list is."""
    ahead = _before(person, now).count()
    times = sorted(_seconds_left(person.campaign, now).values())
    since = person.waiting_at or now
    left = times[min(ahead, len(times) - 1)] if times else None
    return Position(ahead + 1, max(0.0, (now - since).total_seconds()), left)


def is_kept(person: Participation) -> bool:
    """Tell whether the place that a person has stays theirs, whoever comes."""
    return person.is_proven or not _unbegun(person.campaign).filter(pk=person.pk).exists()


def seconds_kept(person: Participation, now: datetime) -> float | None:
    """Return for how long a person keeps a place who has done nothing in it, where others wait.

    None where nobody waits, the place is theirs, or it is not their turn.
    """
    if not present(person.campaign, now).exists():
        return None
    return _seconds_left(person.campaign, now, only=person.pk).get(person.pk)


def may_wait(campaign: Campaign, now: datetime) -> bool:
    """Tell whether a place of the campaign can come free before its holder has done anything.

    Who is there and waits for a partner keeps theirs.
    """
    if campaign.state != Campaign.State.OPEN or protocols.is_endless(campaign):
        return False
    there = Q(state=P.WAITING, seen_at__gte=now - matching.PRESENT)
    return _unbegun(campaign).exclude(there).exists()


def free_one(campaign: Campaign, now: datetime) -> bool:
    """Give back the place that was longest not begun, where its time is over; False for none."""
    left = _seconds_left(campaign, now)
    over = sorted((seconds, pk) for pk, seconds in left.items() if seconds <= 0)
    return any(_give_back(campaign, pk, now) for _, pk in over)


def _unbegun(campaign: Campaign) -> QuerySet[Participation]:
    """Return who holds a place, is not proven, and has done nothing in it."""
    theirs = {"participation": OuterRef("pk")}
    wrote = Event.objects.filter(
        conversation__seats__participation=OuterRef("pk"), side=F("conversation__seats__side")
    )
    answered = Assignment.objects.filter(**theirs, done_at__isnull=False)
    holding = (P.WAITING, P.MATCHED, *FIRST_WORK)
    rows = Participation.objects.filter(campaign=campaign, is_proven=False, state__in=holding)
    return rows.filter(drafted_at=None).exclude(Exists(wrote)).exclude(Exists(answered))


def _seconds_left(
    campaign: Campaign, now: datetime, *, only: int | None = None
) -> dict[int, float]:
    """Return of each place that is not begun, or of one, how long it is kept for its holder."""
    if not may_wait(campaign, now):
        return {}
    listed = list(present(campaign, now).values_list("is_proven", "waiting_at"))
    hurry = SOONER if any(is_proven for is_proven, _ in listed) else 1
    up = stopping.served(now)
    warned = min((WARNED - up.since(at) for _, at in listed if at), default=WARNED)
    unbegun = _unbegun(campaign).filter(**({} if only is None else {"pk": only}))
    rows = list(unbegun.order_by("state_at", "pk")[:FEW])
    active = Seat.objects.filter(active=True, participation__in=[row.pk for row in rows])
    seats = {seat.participation_id: seat for seat in active.select_related("conversation")}
    found: dict[int, float] = {}
    for row in rows:
        for span, since in _kept(row, seats.get(row.pk), now):
            found[row.pk] = max(span / hurry - up.since(since), warned).total_seconds()
    return found


def _kept(
    person: Participation, seat: Seat | None, now: datetime
) -> Iterator[tuple[timedelta, datetime]]:
    """Yield for how long a place is kept, and since when; nothing where it is not theirs to act."""
    state = P(person.state)
    if state == P.WAITING and person.seen_at < now - matching.PRESENT:
        yield ABSENT, person.seen_at
    if state == P.CHATTING and seat is not None:
        conversation = seat.conversation
        first = 1 - conversation.first_side
        last = conversation.last_side if conversation.last_message else first
        if last != seat.side:
            yield (
                FIRST_WORK[state],
                max(person.state_at, conversation.last_message_at or person.state_at),
            )
    elif state in FIRST_WORK:
        yield FIRST_WORK[state], person.state_at


def _give_back(campaign: Campaign, pk: int, now: datetime) -> bool:
    """Send one person back to the start, unless they did something meanwhile."""
    with transaction.atomic():
        seat = Seat.objects.filter(participation=pk, active=True).first()
        if seat is not None:
            events.lock(seat.conversation_id)
        if _seconds_left(campaign, now, only=pk).get(pk, 1.0) > 0:
            return False
        person = Participation.objects.select_related("campaign").get(pk=pk)
        chat.leave(person=person, now=now, because="left")
        rows = Participation.objects.select_for_update(of=("self",), no_key=True)
        person = rows.select_related("campaign", "system").get(pk=pk)
        payment.release_assignments(person)
        matching.send_to_start(person, now, notice="not_begun")
        return True
