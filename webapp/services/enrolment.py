"""From a start link to a place: invitation, consent, participation, the first step (R1, R16)."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from webapp.models import Assignment, Campaign, Consent, Conversation, ExternalId, Participation
from webapp.services import (
    access,
    identity,
    items,
    opening,
    pairing,
    payment,
    places,
    quota,
    states,
    steps,
    third_parties,
)
from webapp.services.plans import protocol_of

P, Outcome = Participation.State, Participation.Outcome
LONGEST_ID = 128
LEAST_DISK, LEAST_SHARE = 500_000_000, 0.05  # below either, new people are refused first (R23)
SEEN_EVERY = timedelta(seconds=2)  # a sign of life is written no more often


class Closed(Exception):
    """Nobody new is taken, or not this person; `notice` says why."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


def join(
    *,
    campaign: Campaign,
    platform: str,
    external_id: str,
    language: str,
    now: datetime,
    browser: Iterable[str] = (),
) -> tuple[Participation, str]:
    """Create or resume a person's participation; return it with the secret of its cookie.

    Called after consent only: opening a link changes nothing. Each call makes a new secret, which
    replaces the former one. Someone without an outside id is a volunteer with a random one.
    `browser` holds the secrets of the cookies that campaigns have set there.
    """
    if not external_id:
        platform, external_id = identity.VOLUNTEER, secrets.token_hex(16)
    if len(external_id) > LONGEST_ID or "\0" in external_id:
        raise Closed("bad_link")
    names, secret = identity.pseudonyms(campaign, platform, external_id), access.new_secret()
    person = _find(campaign, names)
    if person is None:
        check_open(campaign)
        if notice := third_parties.refusal(
            campaign=campaign, platform=platform, external_id=external_id, secrets=browser
        ):
            raise Closed(notice)
        person = _create(campaign, names, platform, external_id, language, secret, now)
    return _resume(person, secret, now), secret


def check_open(campaign: Campaign) -> None:
    """Refuse before any work is done: a campaign that is not open, a full one, a full disk."""
    closed = {
        Campaign.State.DRAFT: "bad_link",
        Campaign.State.PAUSED: "paused",
        Campaign.State.STOPPED: "over",
        Campaign.State.CLOSED: "over",
    }
    if campaign.state in closed:
        raise Closed(closed[Campaign.State(campaign.state)])
    if not places.has_room(campaign):
        raise Closed("full")
    disk = shutil.disk_usage(settings.DATA_DIR)
    if disk.free < max(LEAST_DISK, LEAST_SHARE * disk.total):
        raise Closed("busy")


def _find(campaign: Campaign, names: list[str]) -> Participation | None:
    return Participation.objects.filter(campaign=campaign, pseudonym__in=names).first()


def _create(
    campaign: Campaign,
    names: list[str],
    platform: str,
    external_id: str,
    language: str,
    secret: str,
    now: datetime,
) -> Participation:
    """Create the participation; of two at once for the same person the second one resumes."""
    try:
        with transaction.atomic():
            person = Participation.objects.create(
                campaign=campaign,
                pseudonym=names[0],
                secret_hash=access.secret_hash(secret),
                state_at=now,
                seen_at=now,
            )
            ExternalId.objects.create(
                participation=person, platform=platform[:20], value=external_id
            )
            Consent.objects.create(
                participation=person,
                text_hash=hashlib.sha256(campaign.consent.encode()).hexdigest(),
                language=language[:10],
            )
            return person
    except IntegrityError:
        found = _find(campaign, names)
        if found is None:
            raise
        return found


def _resume(person: Participation, secret: str, now: datetime) -> Participation:
    with transaction.atomic():
        person = _locked(person)
        if person.withdrawn_at is not None:
            raise Closed("withdrawn")
        person.secret_hash, person.seen_at = access.secret_hash(secret), now
        person.save(update_fields=["secret_hash", "seen_at"])
        if person.state == P.ENDED and payment.RULES[person.outcome].resumes:
            _return(person, now)
        return person


def _return(person: Participation, now: datetime) -> None:
    """Let who ended without pay go on, where there is room; what they finished is kept."""
    campaign = person.campaign
    if campaign.state != Campaign.State.OPEN:
        return
    unrated = _unrated(person)
    if unrated is not None and person.system is not None and quota.reserve(person.system.cell):
        states.move(person, "return", outcome="", ended_at=None, notice="", state_at=now)
        Participation.objects.filter(pk=person.pk).update(holds_slot=True)
        Assignment.objects.filter(pk=unrated.pk).update(state=Assignment.State.RESERVED)
        quota.reserve(unrated.item)
        states.move(person, "rate")
    elif places.has_room(campaign):
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


def start(*, person: Participation, now: datetime) -> Participation:
    """Give a person who is ready a place: a bot, the queue, or items. A repeat does nothing.

    The place is reserved in the same transaction; where none is left the participation ends.
    """
    with transaction.atomic():
        person = _locked(person)
        if person.state != P.READY:
            return person
        if person.campaign.state == Campaign.State.PAUSED:
            raise Closed("paused")
        placed = person.campaign.state == Campaign.State.OPEN and _place(person, now)
        if not placed:
            payment.settle(person=person, outcome=Outcome.FULL, now=now)
    if person.state == P.WAITING:
        pairing.match(campaign=person.campaign, now=now)
        person.refresh_from_db()
    return person


def _place(person: Participation, now: datetime) -> bool:
    if protocol_of(person.campaign).chat is None:
        if not items.assign(person=person, now=now):
            return False
        states.move(person, "rate", state_at=now, seen_at=now, notice="")
        return True
    system = places.take(person=person)
    if system is None:
        return False
    Participation.objects.filter(pk=person.pk).update(seen_at=now, notice="")
    if system.is_people:
        states.move(person, "wait", state_at=now, waiting_at=now)
    else:
        opening.open_with_bot(person=person, system=system, now=now)
    return True


def seen(*, person: Participation, now: datetime) -> None:
    """Note a sign of life; presence lives in the database (R9)."""
    Participation.objects.filter(pk=person.pk, seen_at__lt=now - SEEN_EVERY).update(seen_at=now)


def status(*, person: Participation, now: datetime) -> dict[str, Any]:
    """Return what waiting pages ask for; `stamp` changes when the page is to be drawn anew."""
    seen(person=person, now=now)
    person.refresh_from_db()
    choices = pairing.choices(person, now)
    return {
        "state": person.state,
        "stamp": f"{person.state}-{person.state_at.timestamp():.6f}-{len(choices)}",
        "screen": steps.STEPS[P(person.state)].screen,
        "notice": person.notice,
        "choices": list(choices),
        **_waiting(person, now),
    }


def _waiting(person: Participation, now: datetime) -> dict[str, Any]:
    if person.state == P.MATCHED:
        seat = access.seat(person)
        deadline = seat.conversation.deadline_at
        left = (deadline - now).total_seconds() if deadline else 0.0
        return {"seconds_left": max(0.0, left), "ready": seat.ready_at is not None}
    if person.state != P.WAITING:
        return {}
    waited = pairing.waited(person, now)
    ahead = Participation.objects.filter(
        system=person.system, state=P.WAITING, waiting_at__lt=person.waiting_at
    )
    return {
        "place": ahead.count() + 1,
        "waited": waited,
        "seconds_left": max(0.0, person.campaign.wait_seconds - waited),
    }


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("campaign", "system").get(pk=person.pk)
