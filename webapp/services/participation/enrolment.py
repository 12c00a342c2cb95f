"""From a start link to a place: invitation, consent, participation, the first step (R1, R16)."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from webapp.models import Assignment, Campaign, Conversation, Participation, Seat, System
from webapp.services.conversation import allocation, entrance, matching, opening
from webapp.services.participation import (
    admission,
    browsers,
    consents,
    disjoint,
    limits,
    overload,
    return_pay,
    steps,
    waiting_list,
)
from webapp.services.rating import items, third_parties
from webapp.services.replies import pace
from webapp.services.rules import (
    access,
    identity,
    ledger,
    next_round,
    payment,
    persona_stack,
    quota,
    rounds,
    states,
    uptime,
)
from webapp.services.rules.protocols import protocol_of

P, Outcome = Participation.State, Participation.Outcome
LONGEST_ID = 128
LEAST_DISK, LEAST_SHARE = 500_000_000, 0.05  # below either, new people are refused first (R23)
SEEN_EVERY = timedelta(seconds=2)  # a sign of life is written no more often


def join(
    *,
    campaign: Campaign,
    platform: str,
    external_id: str,
    language: str,
    now: datetime,
    browser: Sequence[str] = (),
    shown_pay: Decimal | None = None,
    secret: str = "",
    is_proven: bool = False,
) -> tuple[Participation, str]:
    """Create or resume a person's participation; return it with a secret for the cookie.

    Called after consent only: opening a link changes nothing. Someone without an outside id is a
    volunteer with a random one. An id alone opens no participation that exists (R38): a signature
    proves it (`is_proven`), or a secret of the participation's own in `browser`, which holds those
    of all cookies there. No call makes a former secret invalid. `secret` is what the page chose for
    this browser, so that of two requests neither leaves a dead cookie. `shown_pay` is what
    the page promised: nobody is bound to less. Raises `consents.Closed` and `consents.PayChanged`.
    """
    if not external_id:
        platform, external_id = identity.VOLUNTEER, secrets.token_hex(16)
    if len(external_id) > LONGEST_ID or "\0" in external_id:
        raise consents.Closed("bad_link")
    names = identity.pseudonyms(campaign, platform, external_id)
    secret = browsers.unused(secret, campaign, names)
    with transaction.atomic():
        disjoint.lock(campaign)
        person = consents.find(campaign, names)
        if person is None or not (is_proven or access.held(person, (secret, *browser))):
            check_open(campaign, now)
            _check_may_join(campaign, platform, external_id, browser, is_proven)
            consents.check_shown(shown_pay, payment.offered(campaign))
            person = consents.create(
                campaign=campaign,
                found=person,
                names=names,
                platform=platform,
                external_id=external_id,
                language=language,
                secret=secret,
                is_proven=is_proven,
                now=now,
            )
    if not limits.allow(limits.JOINS, person.pk):  # asked last: a claim does not count against it
        raise consents.Closed("too_fast")
    secret = access.held(person, browser) or secret
    return _resume(person, secret, now, shown_pay), secret


def _check_may_join(
    campaign: Campaign,
    platform: str,
    external_id: str,
    browser: Sequence[str],
    is_proven: bool,
) -> None:
    """Refuse who comes from elsewhere, or took part where it keeps them from this.

    Of an id that is a mere claim nothing is told but that it cannot begin; what somebody did in
    this very browser is (R38).
    """
    if campaign.platform not in (Campaign.Platform.ANY, platform):
        raise consents.Closed("other_platform")
    for rule in (disjoint.refusal, third_parties.refusal):
        who: dict[str, Any] = {"campaign": campaign, "platform": platform, "secrets": browser}
        notice = rule(**who, external_id=external_id)
        if notice and not is_proven:
            notice = rule(**who, external_id=secrets.token_hex(16))  # nobody's: by cookies alone
            if not notice:
                raise consents.Claimed
        if notice:
            raise consents.Closed(notice)


def check_open(campaign: Campaign, now: datetime) -> None:
    """Refuse before any work is done: a campaign that is not open, or full; a full disk; overload.

    Where a place may come free that nobody has begun to use, a newcomer may wait for it.
    """
    closed = {
        Campaign.State.DRAFT: "bad_link",
        Campaign.State.PAUSED: "paused",
        Campaign.State.STOPPED: "over",
        Campaign.State.CLOSED: "over",
    }
    if campaign.state in closed:
        raise consents.Closed(closed[Campaign.State(campaign.state)])
    books = ledger.books(campaign)
    if books.held_at is not None:
        raise consents.Closed("paused")
    is_free = allocation.has_capacity(campaign) and campaign.pay <= books.free
    if not (is_free or waiting_list.may_wait(campaign, now)):
        raise consents.Closed("full")
    disk = shutil.disk_usage(settings.DATA_DIR)
    if disk.free < max(LEAST_DISK, LEAST_SHARE * disk.total):
        raise consents.Closed(consents.BUSY)
    if overload.is_overloaded():
        raise consents.Closed(consents.BUSY)


def _resume(
    person: Participation, secret: str, now: datetime, shown_pay: Decimal | None
) -> Participation:
    with transaction.atomic():
        person = _locked(person)
        if person.withdrawn_at is not None:
            raise consents.Closed("withdrawn")
        resumes = person.state == P.ENDED and payment.may_return(person)
        if resumes or person.state != P.ENDED:
            consents.renew(person, shown_pay)
        browsers.add(person, secret, now)
        if person.seen_at != now:  # who was made at this moment has it
            person.seen_at = now
            person.save(update_fields=["seen_at"])
        if resumes:
            _return(person, now)
            return_pay.come_back(person=person, now=now)
        admission.check_first(person=person, now=now)
        if person.state == P.ADMISSION:
            _hold_pay_of_check(person, now)
        if person.state == P.READY:
            persona_stack.hold(person)
        return person


def _return(person: Participation, now: datetime) -> None:
    """Resume a participation that ended unpaid, where there is a slot; finished work is kept."""
    campaign = person.campaign
    if campaign.state != Campaign.State.OPEN:
        return
    unrated = _unrated(person)
    if not ledger.can_reserve(campaign, payment.most_due(person)):
        return
    if unrated is not None and quota.take_again(person, _seat_of(unrated)):
        states.move(person, "return", outcome="", ended_at=None, notice="", state_at=now)
        states.move(unrated, "reserve")
        quota.reserve(unrated.item)
        states.move(person, "rate")
        if not ledger.hold(person, payment.most_due(person)):
            raise consents.Closed("full")
    elif allocation.has_capacity(campaign):
        states.move(
            person, "return", outcome="", ended_at=None, notice="", state_at=now, system=None
        )


def _unrated(person: Participation) -> Assignment | None:
    """Return the form about a finished conversation that the person left unanswered."""
    rows = Assignment.objects.filter(participation=person, state=Assignment.State.RELEASED)
    finished = rows.filter(
        item__conversation__purpose=Conversation.Purpose.STUDY,
        item__conversation__state=Conversation.State.FINISHED,
    )
    return finished.select_related("item").last()


def _seat_of(assignment: Assignment) -> Seat:
    conversation = assignment.item.conversation_id
    return assignment.participation.seats.get(conversation=conversation)


def start(*, person: Participation, now: datetime, has_page: bool = True) -> Participation:
    """Give a person who is ready a place: a bot, the queue, or items. A repeat does nothing.

    The place is reserved in the same transaction. Where none is left the person waits for one that
    nobody has begun to use; without such a one, or without a page that waits, the participation
    ends. A quiz that was not passed comes first.
    """
    person = _start(person, now, has_page=has_page)
    if waiting_list.is_on(person):
        _serve(person.campaign, now)
        person.refresh_from_db()
    if person.state == P.WAITING:
        matching.match(campaign=person.campaign, now=now)
        person.refresh_from_db()
    return person


def _start(person: Participation, now: datetime, *, has_page: bool = True) -> Participation:
    with transaction.atomic():
        person = _locked(person)
        if person.state != P.READY:
            return person
        if person.campaign.state == Campaign.State.PAUSED or ledger.is_held(person.campaign):
            raise consents.Closed("paused")
        if admission.check_quiz(person=person, now=now):
            _hold_pay_of_check(person, now)
            return person
        known = rounds.of(person)
        is_new, is_next = not known.over, known.over or waiting_list.is_first(person, now)
        if is_next and _take_slot(person, now, known):
            return person
        if is_new and has_page and waiting_list.may_wait(person.campaign, now):
            waiting_list.enter(person, now)
        else:
            _end_full(_locked(person), now)
        person.refresh_from_db()
        return person


def _serve(campaign: Campaign, now: datetime) -> None:
    """Give places to those who wait for one, in order, as far as there are any."""
    try:
        for person in waiting_list.present(campaign, now):
            if not waiting_list.is_on(_start(person, now)):
                continue
            is_freed = waiting_list.free_one(campaign, now)
            if not is_freed or waiting_list.is_on(_start(person, now)):
                break
    except consents.Closed:  # paused: the list stays as it is
        return
    matching.match(campaign=campaign, now=now)


def _hold_pay_of_check(person: Participation, now: datetime) -> None:
    """Reserve what failing the check pays, or say that the study is full."""
    if not ledger.hold(person, person.screening_pay):
        payment.settle(person=person, outcome=Outcome.FULL, now=now)


class _NoSlot(Exception):
    """There is no slot, or no pay for it: what was reserved of the two is given back."""


def _take_slot(person: Participation, now: datetime, known: rounds.Rounds) -> bool:
    """Reserve a slot and its full pay, both or neither; False where the campaign has no more."""
    campaign = person.campaign
    if campaign.state != Campaign.State.OPEN:
        return False
    try:
        with transaction.atomic():
            if not _allocate(person, now, known):
                return False
            if not ledger.hold(person, payment.most_due(person, known)):
                raise _NoSlot
    except _NoSlot:
        return False
    return True


def _end_full(person: Participation, now: datetime) -> None:
    if rounds.done(person):
        next_round.finish_between(person=person, now=now)
    else:
        payment.settle(person=person, outcome=Outcome.FULL, now=now)


def _allocate(person: Participation, now: datetime, known: rounds.Rounds) -> bool:
    protocol = protocol_of(person.campaign)
    if protocol.chat is None:
        if not items.assign(person=person, now=now):
            return False
        event = "write" if protocol.write else "rate"
        states.move(person, event, state_at=now, seen_at=now, notice="", waiting_at=None)
        return True
    slot = allocation.reserve(person, known)
    if slot is None:
        return False
    system: System = slot["system"]
    if system.is_people or pace.is_mixed(person.campaign):
        partner_at = entrance.partner_at(person, now)
        since: dict[str, Any] = {"state_at": now, "waiting_at": now, "seen_at": now}
        states.move(person, "wait", partner_at=partner_at, notice="", **since, **slot)
    else:
        opening.open_with_bot(person=person, system=system, now=now, known=known, slot=slot)
    return True


def note_sign_of_life(*, person: Participation, now: datetime) -> None:
    """Note a sign of life; presence lives in the database (R9)."""
    Participation.objects.filter(pk=person.pk, seen_at__lt=now - SEEN_EVERY).update(seen_at=now)


def status(*, person: Participation, now: datetime) -> dict[str, Any]:
    """Return what waiting pages ask for; `stamp` changes when the page is to be drawn anew."""
    note_sign_of_life(person=person, now=now)
    person.refresh_from_db()
    if waiting_list.is_on(person):
        _serve(person.campaign, now)
        person.refresh_from_db()
    if person.state in (P.WAITING, P.MATCHED):
        _let_bot_come(person, now)
    choices, count = matching.choices(person, now), uptime.announcements(person)
    return {
        "state": person.state,
        "stamp": f"{person.state}-{person.state_at.timestamp():.6f}-{len(choices)}-{count}",
        "screen": steps.STEPS[P(person.state)].screen,
        "notice": person.notice,
        "choices": list(choices),
        "character": _character(person),
        **_waiting(person, now),
    }


def _let_bot_come(person: Participation, now: datetime) -> None:
    """Do what the sweeper does too, in time for this answer: a bot comes, and says it is there."""
    matching.match_with_bot(person=person, now=now)
    opening.answer_checks(person=person, now=now)
    person.refresh_from_db()


def _character(person: Participation) -> int:
    """Return the number of the persona that the page shows, 0 for none."""
    if person.state == P.MATCHED:
        return access.seat(person).persona_id or 0
    return person.persona_id or 0


def _waiting(person: Participation, now: datetime) -> dict[str, Any]:
    if person.state == P.MATCHED:
        seat = access.seat(person)
        return {"seconds_left": _left(seat, now), "ready": seat.ready_at is not None}
    if waiting_list.is_on(person):
        return _on_list(waiting_list.position(person, now))
    if person.state in waiting_list.FIRST_WORK:
        return _kept(person, now)
    if person.state != P.WAITING:
        return {}
    seconds = matching.seconds_waiting(person, now)
    ahead = person.campaign.participations.filter(state=P.WAITING, waiting_at__lt=person.waiting_at)
    if not pace.is_mixed(person.campaign):  # a queue of its own would tell a bot's
        ahead = ahead.filter(system=person.system)
    return {
        "position": ahead.count() + 1,
        "seconds_waiting": seconds,
        "seconds_left": max(0.0, person.campaign.wait_seconds - seconds),
    }


def _kept(person: Participation, now: datetime) -> dict[str, Any]:
    left = waiting_list.seconds_kept(person, now)
    known = {} if left is None else {"seconds_left": max(0.0, left)}
    return {"kept": left is None and waiting_list.is_kept(person), **known}


def _on_list(found: waiting_list.Position) -> dict[str, Any]:
    left = found.seconds_left
    known = {} if left is None else {"seconds_left": max(0.0, left)}
    return {"position": found.position, "seconds_waiting": found.seconds_waiting, **known}


def _left(seat: Seat, now: datetime) -> float:
    """Return the seconds that are left to answer a ready check."""
    deadline = seat.conversation.deadline_at
    if deadline is None:
        return 0.0
    whole = timedelta(seconds=entrance.READY_SECONDS)
    passed = uptime.known(now).since(deadline - whole)
    return max(0.0, (whole - passed).total_seconds())


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("campaign", "system", "persona").get(pk=person.pk)
