"""Platform time: only time in which the platform was up and could be reached counts (R35).

Three parts give a sign of life: a serving web process, the sweeper, and a reply worker. Silence of
one is an outage, kept as a row; so is a jump of the database's clock (R36). Who cannot reach a page
is not absent, so the outages of the web are taken out of every deadline and absence. One that still
goes on counts as well: a sweeper that starts before the pages judges nobody by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Model, QuerySet

from webapp import clock
from webapp.models import (
    Conversation,
    Event,
    Heartbeat,
    Outage,
    Participation,
    ReplyJob,
    Seat,
    ServiceCall,
)
from webapp.services.rules import events

Part, Reason = Outage.Part, Outage.Reason
KIND = "platform"  # of the heartbeats
BEAT = 2.0  # seconds between two signs of life of a web process
SILENCE = {  # without a sign of life, this long is an outage
    Part.WEB: timedelta(seconds=6),
    Part.SWEEPER: timedelta(seconds=30),
    Part.REPLIES: timedelta(seconds=20),
}
RETURN = timedelta(seconds=60)  # in which browsers find us again: they try every 30 s at most
ANNOUNCED = timedelta(seconds=10)  # people are told of what is as long
KNOWN = 500  # outages that are looked back on
SOON = timedelta(minutes=1)  # no lease and no typing is longer

Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Uptime:
    """The outages before a moment, in order, none touching another."""

    now: datetime
    away: Sequence[Interval]

    def ago(self, span: timedelta) -> datetime:
        """Return the moment since which the platform has been up for `span`."""
        moment, left = self.now, span
        for began, ended in reversed(self.away):
            if moment - left >= ended:
                break
            left -= max(timedelta(0), moment - ended)
            moment = min(moment, began)
        return moment - left

    def since(self, at: datetime) -> timedelta:
        """Return for how long the platform has been up since `at`."""
        lost = (min(ended, self.now) - max(began, at) for began, ended in self.away if ended > at)
        return self.now - at - sum(lost, timedelta(0))

    def was_cut(self, began: datetime, ended: datetime) -> bool:
        """Tell whether an outage falls into an interval."""
        return any(start < ended and end > began for start, end in self.away)

    def overdue(self, span: timedelta) -> datetime:
        """Return what a deadline, set `span` ahead, has to be before, to have passed."""
        return self.ago(span) + span


def known(now: datetime, *parts: str, grace: timedelta = RETURN) -> Uptime:
    """Return the uptime of parts, by default of the web; after an outage `grace` is given as well.

    The signs of life are read first: an outage that ends in between is then counted, not missed.
    """
    wanted = parts or (Part.WEB,)
    going_on = _going_on(wanted, now)
    rows = Outage.objects.filter(part__in=wanted, began_at__lt=now).order_by("-ended_at", "-pk")
    over = rows.values_list("began_at", "ended_at")[:KNOWN]
    return Uptime(now, _merged([*over, *going_on], now, grace))


def without_grace(now: datetime) -> Uptime:
    """Return the uptime for who waits for us, asked while pages are served: without grace."""
    rows = Outage.objects.filter(part=Part.WEB, began_at__lt=now).order_by("-ended_at", "-pk")
    over = rows.values_list("began_at", "ended_at")[:KNOWN]
    return Uptime(now, _merged([*over], now, timedelta(0)))


def _going_on(parts: Sequence[str], now: datetime) -> list[Interval]:
    """Return the silences that no outage was stored for yet."""
    rows = Heartbeat.objects.filter(kind=KIND, name__in=[_name(part) for part in parts])
    last = dict(rows.values_list("name", "seen_at"))
    return [
        (seen_at, now)
        for part in parts
        if (seen_at := last.get(_name(part))) and now - seen_at > SILENCE[Part(part)]
    ]


def _merged(found: list[Interval], now: datetime, grace: timedelta) -> list[Interval]:
    merged: list[Interval] = []
    for began, ended in sorted(found):
        until = min(ended + grace, now)
        if merged and began <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], until))
        elif until > began:
            merged.append((began, until))
    return merged


def was_away(person: Participation) -> bool:
    """Tell whether people were kept from the step that a person is at, and have to be told."""
    return _announced_since(person.state_at).exists()


def announcements(person: Participation) -> int:
    """Count the outages that a person at this step is told of."""
    return _announced_since(person.state_at).count()


def _announced_since(at: datetime) -> QuerySet[Outage]:
    return Outage.objects.filter(announced=True, ended_at__gt=at)


# --- signs of life


_beaten: dict[str, float] = {}  # when this process last did, by the monotonic clock


def beat(part: str) -> None:
    """Give a sign of life of a part; where there was none for long, store the outage first."""
    now, name = clock.read(), _name(part)
    before = _beaten.get(part)
    rows = Heartbeat.objects.filter(name=name, seen_at__gte=now - SILENCE[Part(part)])
    if not rows.filter(seen_at__lte=now).update(seen_at=now):
        _begin(part, before)
    _beaten[part] = time.clock_gettime(clock.BOOT)


def _name(part: str) -> str:
    return f"{KIND} {part}"


def _begin(part: str, before: float | None) -> None:
    """Note the first sign of life, or the first after a silence or a jump of the clock."""
    with transaction.atomic():
        name = _name(part)
        Heartbeat.objects.get_or_create(name=name, defaults={"kind": KIND, "seen_at": clock.read()})
        row = Heartbeat.objects.select_for_update().get(name=name)
        now = clock.read()  # after the lock: no sign of life is later
        silence = now - row.seen_at
        if silence > SILENCE[Part(part)]:
            _store(part, row.seen_at, now, _reason(silence, before))
        elif silence < -SILENCE[Part(part)]:
            _put_back(now)
            _store(part, now, now, Reason.CLOCK_BACK)
        Heartbeat.objects.filter(pk=row.pk).update(seen_at=now)


def _reason(silence: timedelta, before: float | None) -> str:
    """Return why there was no sign of life: this process knows whether it gave one meanwhile."""
    if before is None:
        return Reason.SILENCE
    passed = timedelta(seconds=time.clock_gettime(clock.BOOT) - before)
    return Reason.CLOCK_FORWARD if passed < silence / 2 else Reason.SILENCE


def _store(part: str, began: datetime, ended: datetime, reason: str) -> None:
    is_ours = (part, reason) == (Part.WEB, Reason.SILENCE)
    announced = is_ours and ended - began >= ANNOUNCED
    Outage.objects.create(
        part=part, began_at=began, ended_at=ended, reason=reason, announced=announced
    )
    if announced:
        _tell()


def _tell() -> None:
    """Say in each conversation that is going on that it was us who were away."""
    going_on = Conversation.objects.filter(
        state=Conversation.State.OPEN,
        purpose=Conversation.Purpose.STUDY,
        seats__active=True,
        seats__participation__state=Participation.State.CHATTING,
    )
    locked = events.lock_all(going_on.values_list("pk", flat=True)).values()
    content = {"notice": "we_were_away"}
    still = [each for each in locked if each.state == Conversation.State.OPEN]
    events.append_all([events.New(each, Event.Kind.NOTICE, content) for each in still])


def _put_back(now: datetime) -> None:
    """Bring back what a clock that has gone back left in the future; nothing becomes older."""
    for rows, field in (
        (Participation.objects.all(), "seen_at"),
        (Participation.objects.all(), "waiting_at"),
        (Heartbeat.objects.all(), "seen_at"),
        (Outage.objects.all(), "began_at"),
        (Outage.objects.all(), "ended_at"),
        (ReplyJob.objects.all(), "queued_at"),
    ):
        _at_most(rows, field, now, now)
    for deadlines, field, longest in (
        (Conversation.objects.filter(state=Conversation.State.CHECKING), "deadline_at", SOON),
        (Seat.objects.filter(ready_at=None), "answers_at", SOON / 4),
        (Participation.objects.all(), "partner_at", timedelta(minutes=15)),
        (ReplyJob.objects.all(), "lease_until", SOON),
        (ReplyJob.objects.all(), "due_at", SOON),
        (ServiceCall.objects.all(), "due_at", timedelta(minutes=10)),
    ):
        _at_most(deadlines, field, now + longest, now + min(longest, SOON / 4))


def _at_most(rows: QuerySet[Model], field: str, latest: datetime, instead: datetime) -> None:
    rows.filter(**{f"{field}__gt": latest}).update(**{field: instead})
