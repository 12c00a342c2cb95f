"""Everything overdue, found in the rows and done once (R26).

Any number of processes may tick: each row is one transaction that looks again before it acts.
People are judged by platform time (R35): a sweeper that starts before the pages finds nobody away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import PEOPLE, Campaign, Conversation, Event, Participation, Seat
from webapp.services.conversation import allocation, matching, opening
from webapp.services.monitoring import pay_holds
from webapp.services.ops import alarm_mail
from webapp.services.participation import privacy, stopping
from webapp.services.rating import contexts
from webapp.services.replies import delivery
from webapp.services.results import stored
from webapp.services.rules import audit, protocols, states, uptime

log = logging.getLogger(__name__)
P, V, C = Participation.State, Campaign.State, Conversation.State
LOOK_REST = 60.0  # seconds between two looks by a stop rule
AT_ONCE = 200  # rows of a kind in one tick: the next tick goes on


def tick(now: datetime) -> dict[str, int]:
    """Run everything overdue; return how much of each kind was done."""
    campaigns = list(Campaign.objects.filter(state__in=(V.OPEN, V.PAUSED)))
    return {
        "due": _try(delivery.deliver_due),
        "leases": _try(delivery.sweep),
        "bots_there": _try(lambda: opening.answer_checks(now=now)),
        "ready_checks": _try(lambda: matching.expire_checks(now=now)),
        "stopped": _each(_of_stopped_campaigns(), stopping.end_with_campaign, now),
        "vanished": _each(_silent_in_a_pair(now), stopping.vanish, now),
        "idle": _each(_idle(campaigns, now), stopping.fall_silent, now),
        "gone": _each(_gone(campaigns, now), stopping.give_away, now),
        "stalled": _each(_stalled(campaigns, now), stopping.release, now),
        "matched": _try(lambda: _match(now)),
        "contexts": _try(lambda: _settle_contexts(now)),
        "complete": _try(lambda: sum(_close(each, now) for each in campaigns)),
        "looks": _try(lambda: _want_looks(now)),
        "let_go": _try(lambda: pay_holds.release_overdue(now=now)),
        "purged": _try(lambda: privacy.purge_ids(now=now)),
        "deleted": _try(lambda: privacy.delete_overdue(now=now)),
        "mailed": _try(lambda: alarm_mail.send_due(now=now)),
        "audit_faults": _try(lambda: audit.check_some(now=now)),
    }


def _each(people: Iterable[Participation], act: Callable[..., None], now: datetime) -> int:
    """Act on each person; one whose state changed meanwhile is skipped."""
    done = 0
    for person in people:
        try:
            act(person=person, now=now)
            done += 1
        except (states.Illegal, stopping.CameBack):
            continue
        except Exception:  # one broken row must not keep the others waiting; the next tick retries
            log.exception("%s of participation %s", act.__name__, person.pk)
    return done


def _try(work: Callable[[], int]) -> int:
    """Do a kind of work; what fails must not keep the other kinds from being done."""
    try:
        return work()
    except Exception:
        log.exception("sweeper")
        return 0


def _there(rows: QuerySet[Participation]) -> Iterator[Participation]:
    """Yield people with their campaigns; mostly there is nobody, which is asked for less."""
    if rows.exists():
        yield from rows.select_related("campaign").order_by("pk")[:AT_ONCE]


def _of_stopped_campaigns() -> Iterator[Participation]:
    rows = Participation.objects.filter(campaign__state=V.STOPPED, state__in=states.ACTIVE)
    return _there(rows)


def _silent_in_a_pair(now: datetime) -> Iterator[Participation]:
    pairs = Seat.objects.filter(
        active=True, conversation__state=C.OPEN, conversation__system__bot=PEOPLE
    )
    rows = Participation.objects.filter(
        state=P.CHATTING,
        seen_at__lt=uptime.known(now).ago(stopping.GRACE),
        pk__in=pairs.values("participation"),
    )
    return _there(rows)


def _idle(campaigns: Sequence[Campaign], now: datetime) -> Iterator[Participation]:
    """Yield people in a conversation that has had no message for its protocol's time."""
    for campaign in campaigns:
        chat = protocols.protocol_of(campaign).chat
        if chat is None or not chat.idle:
            continue
        before = stopping.served(now).ago(timedelta(seconds=chat.idle))
        heard = Event.objects.filter(kind=Event.Kind.MESSAGE, made_at__gt=before)
        quiet = Seat.objects.filter(
            active=True,
            conversation__campaign=campaign,
            conversation__state=C.OPEN,
            conversation__started_at__lte=before,
        ).exclude(conversation__in=heard.values("conversation"))
        rows = Participation.objects.filter(state=P.CHATTING)
        yield from _there(rows.filter(pk__in=quiet.values("participation")))


def _gone(campaigns: Sequence[Campaign], now: datetime) -> Iterator[Participation]:
    """Return who is away for long; an endless conversation waits for its person."""
    silent = Participation.objects.filter(
        state__in=states.ACTIVE, seen_at__lt=uptime.known(now).ago(stopping.GONE)
    )
    return _there(_not_endless(silent, campaigns))


def _stalled(campaigns: Sequence[Campaign], now: datetime) -> Iterator[Participation]:
    """Return who has a place and makes no progress; an endless conversation asks for none."""
    return _there(_not_endless(stopping.stalled(now), campaigns))


def _not_endless(
    rows: QuerySet[Participation], campaigns: Sequence[Campaign]
) -> QuerySet[Participation]:
    endless = [each.pk for each in campaigns if protocols.is_endless(each)]
    return rows.exclude(state=P.CHATTING, campaign__in=endless)


def _match(now: datetime) -> int:
    waiting = Participation.objects.filter(state=P.WAITING).values("campaign")
    rows = Campaign.objects.filter(state=V.OPEN, pk__in=waiting)
    return sum(len(matching.match(campaign=campaign, now=now)) for campaign in rows)


def _settle_contexts(now: datetime) -> int:
    unsettled = Conversation.objects.filter(purpose=Conversation.Purpose.CONTEXT, state=C.OPEN)
    rows = Campaign.objects.filter(pk__in=unsettled.values("campaign"))
    return sum(contexts.settle(campaign=campaign, now=now) for campaign in rows)


def _want_looks(now: datetime) -> int:
    """Want a look at campaigns whose stop rule may pause them: nobody need have their page open."""
    rows = Campaign.objects.filter(state=V.OPEN, stop_recruiting=True, decided_at=None)
    found = (
        stored.look(of=row, name="scores", choice="counted", now=now, rest=LOOK_REST)
        for row in rows
    )
    return sum(each.wanted_at is not None for each in found)


def _close(campaign: Campaign, now: datetime) -> bool:
    if not allocation.is_complete(campaign):
        return False
    try:
        with transaction.atomic():
            states.move(campaign, "close", ended_at=now)
            audit.append(actor="sweeper", action="campaign complete", campaign=campaign, now=now)
    except states.Illegal:
        return False
    return True
