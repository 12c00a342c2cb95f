"""Actions of a participant in a conversation: send, label, finish, leave.

Each is one transaction that first locks the conversation, so two at once come one after another;
a repeat of an action is found by its client id and returns the first result (R4).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch, prefetch_related_objects

from webapp.models import Conversation, Event, Participation, ReplyJob, Seat
from webapp.services.conversation import messages
from webapp.services.rating import items, labels
from webapp.services.replies import delivery
from webapp.services.rules import (
    access,
    events,
    flags,
    next_round,
    payment,
    persona_stack,
    protocols,
    quota,
    statements,
    states,
    tally,
)
from webapp.services.rules.refusals import NotNow

C, P, Kind = Conversation.State, Participation.State, Event.Kind


@dataclass(frozen=True)
class Action:
    """An entry that a participant makes; its client id finds it again when it is repeated."""

    conversation: Conversation
    side: int
    client_id: UUID
    kind: str
    content: dict[str, Any]

    def first(self) -> Event | None:
        """Return the entry of an earlier, equal action; another content is a conflict."""
        return events.first(**vars(self))

    def store(self) -> Event:
        """Append it, once `first` has found none: the conversation has been locked since."""
        return events.append_one(events.New(**vars(self)))


def send_message(
    *, person: Participation, client_id: UUID, text: str, now: datetime, conversation_id: int = 0
) -> Event:
    """Send a message to the partner; a bot then owes a reply (see `messages`).

    Raises what `messages.send_all` returns as a refusal.
    """
    message = messages.OutgoingMessage(person.pk, client_id, text, conversation_id)
    (found,) = messages.send_all([message], now=now)
    if isinstance(found, Event):
        return found
    raise found


def _begin(
    person: Participation,
    conversation_id: int,
    client_id: UUID,
    kind: str,
    content: dict[str, Any],
) -> tuple[Action, Event | None]:
    """Lock the conversation of an action; return that, and the entry of an earlier, equal one.

    Where there is none, the person must be chatting there. Raises `access.NotFound`.
    """
    key = (person.pk, conversation_id)
    seat = events.lock_seats([key]).get(key)
    if seat is None:
        raise access.NotFound(f"conversation of participation {person.pk}")
    action = Action(seat.conversation, seat.side, client_id, kind, content)
    found = statements.senders([seat.pk], [client_id])
    first = action.first() if any(each.event for each in found) else None
    is_chatting = all(each.state == P.CHATTING for each in found)
    if first is None and not (is_chatting and seat.conversation.state == C.OPEN):
        raise NotNow("not_now")
    return action, first


def label(
    *,
    person: Participation,
    client_id: UUID,
    seq: int,
    question: str,
    value: str,
    revision: int,
    now: datetime,
    conversation_id: int = 0,
) -> Event:
    """Label one of the partner's messages; the highest revision of an answer is the valid one."""
    content = {"of": seq, "question": question, "value": value, "revision": revision}
    with transaction.atomic():
        action, first = _begin(person, conversation_id, client_id, Kind.LABEL, content)
        if first is not None:
            return first
        conversation = action.conversation
        message = events.messages(conversation).filter(seq=seq, side=1 - action.side).first()
        if message is None:
            raise NotNow("not_now")
        message.conversation = conversation
        labels.label(
            person=person, event=message, question=question, value=value, revision=revision, now=now
        )
        return action.store()


def finish(
    *, person: Participation, client_id: UUID, now: datetime, conversation_id: int = 0
) -> Participation:
    """End a conversation that has reached its length; both sides go on to what comes next."""
    content = {"state": "finished"}
    with transaction.atomic():
        action, first = _begin(person, conversation_id, client_id, Kind.STATE, content)
        if first is None:
            _may_finish(action.conversation)
            action.store()
            _end(action.conversation, now, because="finished", notice="")
    person.refresh_from_db()
    return person


def end_idle(*, conversation: Conversation, now: datetime) -> None:
    """End a locked conversation in which nobody wrote for long; who wrote goes on to judge it."""
    events.append_one(events.New(conversation, Kind.STATE, {"state": "finished"}))
    _end(conversation, now, because="idle", notice="idle")


def _end(conversation: Conversation, now: datetime, *, because: str, notice: str) -> None:
    states.move(conversation, "finish", ended_at=now, ended_because=because)
    delivery.drop(conversation)
    for one in _people(conversation):
        _go_on(one, conversation, now, notice=notice)


def _may_finish(conversation: Conversation) -> None:
    if protocols.is_endless(conversation.campaign):
        raise NotNow("not_now")
    tally.renew([conversation])
    missing = conversation.minimum - tally.count(conversation)
    if missing > 0:
        raise NotNow("too_few", count=missing)
    if protocols.protocol_of(conversation.campaign).live and labels.unlabeled(conversation):
        raise NotNow("unlabeled")


def _people(conversation: Conversation) -> list[Participation]:
    """Return who sits in the conversation, in the order in which rows are locked everywhere.

    Its seats are looked up once, with all that their people go on by.
    """
    people = ("participation__campaign", "participation__system")
    rows = Seat.objects.select_related(*people, "persona")
    prefetch_related_objects([conversation], Prefetch("seats", rows))
    active = [seat.participation for seat in conversation.seats.all() if seat.active]
    return sorted((one for one in active if one is not None), key=lambda one: one.pk)


def _go_on(person: Participation, conversation: Conversation, now: datetime, notice: str) -> None:
    """Let a person judge the conversation, or end where nothing is left to be asked."""
    protocol = protocols.protocol_of(conversation.campaign)
    if protocol.live:
        labels.finish(person=person, conversation=conversation, now=now)
    seats = {seat.participation_id == person.pk: seat for seat in conversation.seats.all()}
    outcome = _outcome(conversation)
    counts = payment.counts(person.campaign, outcome)
    quota.leave_to_rater(seats[True], seats[False], counts=counts)
    if protocol.after is None or not seats[True].rates:
        code = next_round.finish_round(person=person, outcome=outcome, now=now)
        if code is not None:
            flags.review(person=person, now=now)
        return
    states.move(person, "rate", state_at=now, notice=notice)
    items.open_after(person=person, conversation=conversation, now=now)
    conversation.seats.filter(participation=person).update(active=False)


def _outcome(conversation: Conversation) -> str:
    left = conversation.state == C.ABANDONED
    return Participation.Outcome.PARTNER_LEFT if left else Participation.Outcome.COMPLETED


def leave(*, person: Participation, now: datetime, because: str) -> None:
    """Take a person out of their conversation, which ends; a human partner goes on.

    The person's own participation is the caller's to settle. A partner who has sent a message
    rates and is paid; one who has not waits again, first in line.
    """
    seat = Seat.objects.filter(participation=person, active=True).first()
    if seat is None:
        return
    with transaction.atomic():
        conversation = events.lock(seat.conversation_id)
        if conversation.state not in (C.OPEN, C.CHECKING):
            return
        states.move(conversation, "abandon", ended_at=now, ended_because=because)
        events.append_one(events.New(conversation, Kind.STATE, {"state": "left"}))
        delivery.drop(conversation)
        persona_stack.push_back_all(conversation)
        partners = [one for one in _people(conversation) if one.pk != person.pk]
        conversation.seats.filter(active=True).update(active=False)
        for partner in partners:
            _release_partner(partner, conversation, now)


def _release_partner(partner: Participation, conversation: Conversation, now: datetime) -> None:
    seat = conversation.seats.select_related("persona").get(participation=partner)
    if events.messages(conversation).filter(side=seat.side).exists():
        _go_on(partner, conversation, now, notice="partner_left")
    else:
        states.move(partner, "requeue", state_at=now, notice="partner_missed")
        persona_stack.keep(partner, seat)


def retry(
    *, person: Participation, client_id: UUID, now: datetime, conversation_id: int = 0
) -> Event:
    """Ask the partner once more for the answer that did not come; once per message (R13)."""
    content = {"state": "retried"}
    with transaction.atomic():
        action, first = _begin(person, conversation_id, client_id, Kind.STATE, content)
        if first is not None:
            return first
        delivery.retry(_failed_job(action.conversation))
        return action.store()


def _failed_job(conversation: Conversation) -> ReplyJob:
    job = conversation.jobs.order_by("-in_reply_to").first()
    if job is None or job.state != ReplyJob.State.FAILED:
        raise NotNow("not_now")
    most = conversation.maximum
    if most is not None and events.messages(conversation).count() >= most:
        raise NotNow("not_now")  # where turns are free others came in its place
    later = events.after(conversation, job.in_reply_to).filter(kind=Kind.STATE)
    if later.filter(content__state="retried").exists():
        raise NotNow("not_now")
    return job


def give_up(
    *, person: Participation, client_id: UUID, now: datetime, conversation_id: int = 0
) -> Participation:
    """End, fully paid, because the partner could not answer: the failure is ours (R13, R21)."""
    content = {"state": "failed"}
    with transaction.atomic():
        action, first = _begin(person, conversation_id, client_id, Kind.STATE, content)
        if first is None:
            job = action.conversation.jobs.order_by("-in_reply_to").first()
            if job is None or job.state != ReplyJob.State.FAILED:
                raise NotNow("not_now")
            action.store()
            delivery.fail(action.conversation, "no_answer", now)
    person.refresh_from_db()
    return person


def take_over(*, person: Participation, tab: str, now: datetime, conversation_id: int = 0) -> None:
    """Let this tab control: older ones say that they do not (R10)."""
    seat = access.seat(person, conversation_id)
    rows = Participation.objects.filter(pk=person.pk).exclude(tab=tab)
    if rows.update(tab=tab, seen_at=now):
        events.nudge(seat.conversation)


def note_sign_of_life(*, person: Participation, now: datetime) -> None:
    """Note that the person is there."""
    messages.note_signs_of_life([person.pk], now)
