"""Updates of the chat service: each acts once, through the services that a page uses (R1, R4).

The number of an update is the id of what it does, so a repeat is found twice: among the updates
taken, and in the log of the conversation.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import translation
from django.utils.crypto import salted_hmac

from evaluation import InvalidAnswer, InvalidAnswers, Question
from webapp import languages, notices
from webapp.models import Campaign, ExternalId, Participation, ServiceSeat, ServiceUpdate
from webapp.services.chat_service import offering, outgoing, telling
from webapp.services.chat_service.telling import AGREE, ANSWER, DELETE, LABEL, START, STOP
from webapp.services.conversation import chat
from webapp.services.conversation.messages import FRAMES, MESSAGES
from webapp.services.participation import (
    consents,
    enrolment,
    privacy,
    reporting,
    screens,
    stopping,
    study_info,
)
from webapp.services.rating import form, labels, submission
from webapp.services.rating.form import RatingForm
from webapp.services.rules import access, events, identity, refusals, states
from webapp.services.rules.protocols import shown_protocol

P = Participation.State
MINUTE = timedelta(minutes=1)
NOT_NOW = "not_now"
KEPT = timedelta(days=2)  # the service sends an update again for one day at most
NAMESPACE = uuid.UUID("6f1c6b0e-6f0b-4a7e-9a3e-0d6d8f4a2c11")
REFUSALS = (
    *(refusals.NotNow, refusals.Refused, labels.LabelRefused, events.Conflict, states.Illegal),
    *(consents.Closed, access.NotFound),
)


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """An update: a message, or a button that was pressed; `sender` is also the chat."""

    number: int
    sender: str
    language: str
    text: str = ""
    press: str = ""  # the id of a press, "" for a message
    data: str = ""

    @property
    def id(self) -> uuid.UUID:
        return uuid.uuid5(NAMESPACE, str(self.number))


def take(update: Incoming, *, now: datetime) -> bool:
    """Act on an update, once; False for a repeat. Everything it does is one transaction."""
    sender = salted_hmac("parley.chat_service", update.sender, algorithm="sha256").hexdigest()
    with transaction.atomic():
        about = {"sender": sender, "is_message": not update.press, "taken_at": now}
        _, is_new = ServiceUpdate.objects.get_or_create(number=update.number, defaults=about)
        if is_new:
            with translation.override(_language(update)):
                _act(update, _too_fast(sender, now), now)
    return is_new


def forget_old(*, now: datetime) -> int:
    """Delete the numbers of updates that cannot come again."""
    return ServiceUpdate.objects.filter(taken_at__lt=now - KEPT).delete()[0]


def _too_fast(sender: str, now: datetime) -> int:
    """Return by how many updates a sender is beyond the limits of a minute (S2, R40)."""
    recent = ServiceUpdate.objects.filter(sender=sender, taken_at__gt=now - MINUTE)
    sent = recent.filter(is_message=True).count()
    return max(recent.count() - FRAMES, sent - MESSAGES)


def _language(update: Incoming) -> str:
    """Return the language of the study that a person is in, else the service's if we have it."""
    seat = _seat(update.sender)
    if seat is not None:
        return seat.participation.consent.language
    return languages.pick(tuple(languages.NAMES), chosen="", accepted=update.language)


def _speaking(campaign: Campaign, update: Incoming) -> translation.override:
    """Speak one of the campaign's languages to who comes to it."""
    return translation.override(
        languages.pick(campaign.languages, chosen="", accepted=update.language)
    )


def _act(update: Incoming, beyond: int, now: datetime) -> None:
    if beyond > 0:
        if beyond == 1:  # reply once, or the flood would be answered by another
            _reply(update, notices.text("too_fast"), now)
        return
    try:
        with transaction.atomic():
            reply = _pressed(update, now) if update.press else _written(update, now)
    except REFUSALS as refusal:
        reply = _complaint(refusal)
        _repeat(update, refusal, now)
    if update.press:
        outgoing.acknowledge(update.sender, update.press, reply, now)
    elif reply:
        _reply(update, reply, now)


def _complaint(refusal: Exception) -> str:
    """Return a refusal in words for the person."""
    if complaint := getattr(refusal, "complaint", ""):
        return languages.localized(complaint)
    notice = _notice_of(refusal)
    values = getattr(refusal, "values", {})
    return notices.text("service_not_now" if notice == NOT_NOW else notice, **values)


def _notice_of(refusal: Exception) -> str:
    return str(getattr(refusal, "notice", NOT_NOW))


def _repeat(update: Incoming, refusal: Exception, now: datetime) -> None:
    """Say again what is to be done now to who did something that is done at another step."""
    if _notice_of(refusal) == NOT_NOW and (seat := _seat(update.sender)) is not None:
        telling.tell(seat.pk, now=now, again=True)


def _reply(update: Incoming, text: str, now: datetime) -> None:
    outgoing.queue_message(update.sender, text, now)


# --- what is written ------------------------------------------------------------------------------


def _written(update: Incoming, now: datetime) -> str:
    """Do what a message asks for; return what is to be answered at once, if anything."""
    command, rest = [*update.text.split(maxsplit=1), "", ""][:2]
    seat = _seat(update.sender)
    if command == "/start" and (rest or seat is None):
        return _offer(update, rest.strip(), now)
    if seat is None:
        return notices.text("bad_link")
    person = seat.participation
    if command == "/end":
        chat.finish(person=person, client_id=update.id, now=now)
    elif command == "/stop" and person.state != P.ENDED:
        means = screens.stop_means(person=person, now=now)
        _ask(update, means, "stop", telling.final_data(STOP, person), now)
        return ""
    elif command == "/problem":
        reporting.report(person=person, text=rest, now=now)
        return notices.text("service_reported")
    elif command == "/delete":
        _ask(update, "", "delete", telling.final_data(DELETE, person), now)
        return ""
    elif person.state == P.CHATTING and command != "/start":
        chat.send_message(person=person, client_id=update.id, text=update.text, now=now)
    elif person.state == P.RATING:
        return _write_answer(seat, update.text, now)
    telling.tell(seat.pk, now=now, again=command == "/start" or person.state != P.CHATTING)
    return ""


def _ask(update: Incoming, about: str, name: str, data: str, now: datetime) -> None:
    """Ask whether to stop, or to delete, with a button that does it."""
    text = "\n\n".join(filter(None, (notices.text(f"service_{name}_ask"), about)))
    button = (notices.text(f"service_{name}_button"), data)
    outgoing.queue_message(update.sender, text, now, [button])


def _seat(sender: str) -> ServiceSeat | None:
    """Return the participation that a person came to last."""
    known = ExternalId.objects.filter(platform=identity.TELEGRAM, value=sender)
    rows = ServiceSeat.objects.filter(participation__in=known.values("participation"))
    return rows.select_related("participation__campaign").order_by("-chosen_at", "-pk").first()


def _offer(update: Incoming, slug: str, now: datetime) -> str:
    """Show a study and ask for consent; nothing is stored of who asks."""
    try:
        campaign = access.open_link(slug)
    except access.NotFound:
        return notices.text("bad_link")
    with _speaking(campaign, update):
        if offering.unfit(campaign):
            return notices.text("service_unfit")
        enrolment.check_open(campaign, now)
        text, buttons = offering.offer(campaign)
        outgoing.queue_message(update.sender, text, now, buttons)
    return ""


# --- what is pressed ------------------------------------------------------------------------------


def _pressed(update: Incoming, now: datetime) -> str:
    """Do what a button asks for; return what is shown for a moment."""
    kind, _, rest = update.data.partition(":")
    if kind == AGREE:
        return _agree(update, rest, now)
    seat = _seat(update.sender)
    if seat is None:
        return notices.text("bad_link")
    reply = _pressed_in(seat, kind, rest, update, now)
    if kind != LABEL and kind != DELETE:
        telling.tell(seat.pk, now=now)
    return reply


def _pressed_in(seat: ServiceSeat, kind: str, rest: str, update: Incoming, now: datetime) -> str:
    person = seat.participation
    if kind == LABEL:
        return _label(person, rest, update, now)
    if kind == ANSWER:
        return _choose(person, rest, now)
    if kind == START:
        enrolment.start(person=person, now=now, has_page=False)
        return ""
    if kind in (STOP, DELETE) and update.data != telling.final_data(kind, person):
        raise refusals.NotNow(NOT_NOW)  # it was asked of another study
    if kind == STOP:
        stopping.stop(person=person, now=now)
        return ""
    if kind == DELETE:
        privacy.withdraw(token=privacy.withdraw_token(person), now=now)
        _reply(update, notices.text("withdrawn"), now)
        return ""
    raise refusals.NotNow(NOT_NOW)


def _agree(update: Incoming, rest: str, now: datetime) -> str:
    """Take part, as the form of consent does; the conversation begins at once."""
    slug, _, offer = rest.partition(":")
    campaign = access.open_link(slug)
    if offering.unfit(campaign):
        raise refusals.NotNow("service_unfit")
    if offer != study_info.of(campaign).offer:
        raise refusals.NotNow("pay_changed")
    with _speaking(campaign, update):
        person, _ = enrolment.join(
            campaign=campaign,
            platform=identity.TELEGRAM,
            external_id=update.sender,
            language=translation.get_language() or languages.SOURCE,
            now=now,
            is_proven=True,  # the service says who writes
        )
    seat, _ = ServiceSeat.objects.update_or_create(
        participation=person, defaults={"chosen_at": now}
    )
    if person.state == P.READY:
        enrolment.start(person=person, now=now, has_page=False)
    telling.tell(seat.pk, now=now, again=True)
    return ""


def _label(person: Participation, rest: str, update: Incoming, now: datetime) -> str:
    seq, _, answer = rest.partition(":")
    question, _, value = answer.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 10):
        raise refusals.NotNow(NOT_NOW)
    chat.label(
        person=person,
        client_id=update.id,
        seq=int(seq),
        question=question,
        value=value,
        revision=update.number,  # the service counts its updates upwards (R20)
        now=now,
    )
    live = shown_protocol(person.campaign).live
    return live.question(question).words(value) if live else ""


# --- the questions at the end ---------------------------------------------------------------------


def _choose(person: Participation, rest: str, now: datetime) -> str:
    name, _, number = rest.rpartition(":")
    shown = form.of(person)
    current = {
        f"{about}.{one.name}": one
        for about, one in (shown.rate.form_questions(shown.shown) if shown else ())
    }
    if shown is None or name not in current:
        raise refusals.NotNow(NOT_NOW)
    values = [each.value for each in telling.answers(shown, current[name])]
    if not (number.isascii() and number.isdigit() and int(number) < len(values)):
        raise refusals.NotNow(NOT_NOW)
    _answer(person, {**shown.draft, name: values[int(number)]}, now)
    return notices.text("sent")


def _write_answer(seat: ServiceSeat, text: str, now: datetime) -> str:
    """Take a text as an answer, or as the button whose words it has; else ask for a button."""
    shown = form.of(seat.participation)
    current = telling.next_question(shown, shown.draft) if shown else None
    value = _meant(shown, current[1], text) if shown and current else None
    if shown is None or current is None or value is None:
        telling.tell(seat.pk, now=now, again=True)
        return notices.text("service_press")
    _answer(seat.participation, {**shown.draft, current[0]: value}, now)
    telling.tell(seat.pk, now=now)
    return ""


def _meant(shown: RatingForm, one: Question, text: str) -> str | None:
    """Return the answer that a text is, None for no button's words; refuse one out of limits."""
    if one.level != "text":
        return telling.chosen(shown, one, text)
    try:
        one.parse(text, shown.shown)
    except InvalidAnswer as problem:
        raise refusals.Refused(problem.sentence) from None
    return text


def _answer(person: Participation, draft: dict[str, str], now: datetime) -> None:
    """Keep an answer; the last one submits the form."""
    shown = form.of(person)
    if shown is None:
        raise refusals.NotNow(NOT_NOW)
    if telling.next_question(shown, draft) is not None:
        submission.save_draft(person=person, answers=draft, now=now)
        return
    try:
        submission.submit(person=person, answers=draft, now=now)
    except InvalidAnswers as problem:  # a text that breaks a rule: its question is asked again
        kept = {name: each for name, each in draft.items() if name not in problem.problems}
        submission.save_draft(person=person, answers=kept, now=now)
        raise refusals.Refused(
            "\n".join(map(languages.localized, problem.problems.values()))
        ) from None
