"""Texts that a person of the chat service is told: their conversation, the questions, the end.

All of it follows from the rows, as a page does: `tell` queues what was not told yet, so a lost hint
costs a moment and nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.utils import translation

from evaluation import AnswerOption, Question
from webapp import languages, notices
from webapp.models import Event, ExternalId, Participation, Seat, ServiceSeat
from webapp.services.chat_service import outgoing
from webapp.services.chat_service.outgoing import Button
from webapp.services.conversation import updates
from webapp.services.participation import screens, study_info
from webapp.services.rating import form
from webapp.services.rating.form import RatingForm
from webapp.services.rules import events, identity
from webapp.services.rules.protocols import shown_protocol

P = Participation.State
# How data of buttons begin.
LABEL, ANSWER, START, STOP, DELETE, AGREE = "l", "r", "s", "e", "d", "c"
SEPARATOR = ":"
AT_ONCE = 200


def tell_all(*, now: datetime) -> int:
    """Tell everybody whose conversation or step has moved; return how many."""
    moved = Q(conversation__last_seq__gt=F("last_seq")) | Q(shown_state_at=None)
    moved |= ~Q(shown_state_at=F("participation__state_at"))
    rows = ServiceSeat.objects.filter(moved, participation__withdrawn_at=None)
    known = list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    for pk in known:
        tell(pk, now=now)
    return len(known)


def tell(pk: int, *, now: datetime, again: bool = False) -> None:
    """Queue what a person was not told yet; `again` repeats what they are to do now."""
    with transaction.atomic():
        seat = ServiceSeat.objects.select_for_update(of=("self",)).get(pk=pk)
        person = Participation.objects.select_related("campaign").get(pk=seat.participation_id)
        recipient = address(person)
        if recipient:
            with translation.override(person.consent.language):
                for text, buttons in _unsent(seat, person, again=again):
                    outgoing.queue_message(recipient, text, now, buttons)
        seat.shown_state_at = person.state_at
        seat.save(update_fields=["conversation", "last_seq", "shown_state_at"])


def address(person: Participation) -> str:
    """Return the chat of a person, "" once it is deleted."""
    known = ExternalId.objects.filter(participation=person, platform=identity.TELEGRAM).first()
    return known.value if known else ""


def _unsent(
    seat: ServiceSeat, person: Participation, *, again: bool
) -> Iterator[tuple[str, Sequence[Button]]]:
    is_new, before = seat.shown_state_at != person.state_at, seat.conversation_id
    yield from _conversation(seat, person)
    if person.state == P.RATING:
        yield from question(person, is_first=is_new)
    elif person.state == P.CHATTING:
        if again and seat.conversation_id == before:
            yield from _step(person)
    elif is_new or again:
        yield from _step(person)


def _conversation(
    seat: ServiceSeat, person: Participation
) -> Iterator[tuple[str, Sequence[Button]]]:
    """Yield the beginning of a conversation, and what came in it since."""
    own = person.seats.select_related("conversation", "persona").order_by("-active", "-pk").first()
    if own is None:
        return
    if own.conversation_id != seat.conversation_id:
        seat.conversation, seat.last_seq = own.conversation, 0
        yield _beginning(person, own), ()
    for event in events.after(own.conversation, seat.last_seq):
        seat.last_seq = event.seq
        if event.kind == Event.Kind.MESSAGE and event.side == 1 - own.side:
            yield event.content["text"], _labels(person, event)
        elif event.kind == Event.Kind.NOTICE and event.side in (None, own.side):
            yield updates.event_frame(event, own.side)["notice"], ()


def _beginning(person: Participation, own: Seat) -> str:
    study = study_info.of(person.campaign)
    character = (notices.text("service_character"), *own.sentences) if own.sentences else ()
    parts = [study.partner_notice, *study.instructions, "\n".join(character)]
    return "\n\n".join(
        [*filter(None, parts), notices.text("service_begin"), notices.text("service_problem")]
    )


def _labels(person: Participation, event: Event) -> list[Button]:
    """Return a row of buttons for each question that is asked of a message."""
    live = shown_protocol(person.campaign).live
    if live is None or (event.in_reply_to == 0 and not live.label_opening):
        return []
    return [
        (word, label_data(event.seq, each, value))
        for each in live.each
        for value, word in each.meanings().items()
    ]


def label_data(seq: int, one: Question, value: str) -> str:
    """Return the data of the button that labels a message."""
    return SEPARATOR.join((LABEL, str(seq), one.name, value))


def final_data(kind: str, person: Participation) -> str:
    """Return the data of the button that stops or deletes: of this participation, no other."""
    return SEPARATOR.join((kind, str(person.pseudonym)))


def _step(person: Participation) -> Iterator[tuple[str, Sequence[Button]]]:
    screen = screens.show(person=person, now=person.state_at)
    if person.state == P.CHATTING:
        yield notices.text("service_chatting"), ()
    elif screen.end is not None:
        code = f"{notices.text('service_code')} {screen.end.code}" if screen.end.code else ""
        contact = notices.text("service_delete", contact=person.campaign.contact)
        shown = (screen.end.heading, screen.end.text, code, screen.end.debrief, contact)
        yield "\n\n".join(filter(None, shown)), ()
    else:
        begin = (notices.text("service_start"), START)
        yield screen.round or screen.notice or notices.text("service_ready"), [begin]


# --- the questions at the end, one after the other ------------------------------------------------


def question(
    person: Participation, *, is_first: bool = False, complaint: str = ""
) -> Iterator[tuple[str, Sequence[Button]]]:
    """Yield the next question of the form that has no answer yet."""
    shown = form.of(person)
    current = next_question(shown, shown.draft) if shown else None
    if shown is None or current is None:
        return
    name, one = current
    pay = study_info.pay_words(person.pay, person)
    notice = notices.text(person.notice, pay=pay) if is_first and person.notice else ""
    found = answers(shown, one)
    lines = [each.about for each in found]
    limits = languages.localized(one.limits)
    text = "\n\n".join(filter(None, (notice, complaint, one.text, one.help, limits, *lines)))
    yield text, [(each.words, f"{ANSWER}:{name}:{n}") for n, each in enumerate(found)]


def next_question(shown: RatingForm, draft: Mapping[str, str]) -> tuple[str, Question] | None:
    """Return the first question without an answer, and the name of its field."""
    for about, one in shown.rate.form_questions(shown.shown):
        if f"{about}.{one.name}" not in draft and _is_open(one, about, draft):
            return f"{about}.{one.name}", one
    return None


def _is_open(one: Question, about: str, draft: Mapping[str, str]) -> bool:
    """Tell whether an earlier answer, or none that is needed, opens a question."""
    gate = one.only_if
    if gate is None:
        return True
    return draft.get(f"{about}.{gate.question}") in {str(each) for each in gate.values}


@dataclass(frozen=True)
class ButtonAnswer:
    """One answer that can be given by a button: its value, its words, and what is said above."""

    value: str
    words: str
    about: str = ""


def answers(shown: RatingForm, one: Question) -> list[ButtonAnswer]:
    """Return the answers of a question; what is long stands above, with the button's number."""
    if one.level == "text":
        return [ButtonAnswer("", notices.text("service_skip"))] if one.may_be_blank else []
    found = one.form_field(shown.shown, shown.personas).options
    are_long = any(each.lines for each in found)
    return [_answer(each, n, one, are_long) for n, each in enumerate(found, start=1)]


def _answer(option: AnswerOption, n: int, one: Question, are_long: bool) -> ButtonAnswer:
    number = option.value if one.is_scale else str(n)
    if are_long:
        about = ": ".join(filter(None, (option.word, " ".join(option.lines))))
        return ButtonAnswer(option.value, number, f"{number}: {about}")
    if one.is_scale and option.word:
        return ButtonAnswer(option.value, f"{number}: {option.word}")
    return ButtonAnswer(option.value, option.word or option.value)


def chosen(shown: RatingForm, one: Question, text: str) -> str | None:
    """Return the value that a written text means: a button's words, or what they begin with."""
    written = text.strip().casefold()
    for each in answers(shown, one):
        number, _, word = each.words.partition(": ")
        if written and written in {part.casefold() for part in (each.words, number, word)}:
            return each.value
    return None
