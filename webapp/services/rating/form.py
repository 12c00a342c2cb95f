"""Rating forms: the questions, what they are about, and what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from evaluation import Question, Rate, Shown, letter
from webapp.models import Assignment, Candidate, Event, Participation, Persona, Seat
from webapp.services.rating import attention, submission
from webapp.services.rules import events

LIST = 10  # replies


@dataclass(frozen=True, kw_only=True)
class FormLine:
    """One message as it is shown beside questions; `judged` marks the one asked about."""

    side: str  # you, partner
    who: str
    text: str
    judged: bool = False


@dataclass(frozen=True, kw_only=True)
class FormReply:
    """One of several replies that are judged on a page: its key in names of fields, its letter.

    In a list it has a number in place of the letter, as a whole conversation has, whose messages
    are `lines`.
    """

    key: str
    letter: str
    text: str
    lines: tuple[FormLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RatingForm:
    """One form. `personas` holds what stands behind the options of a persona choice.

    about: what texts are judged by, where the requester's import says so. replies: those shown
    together, in the order drawn; empty where one is judged.
    """

    rate: Rate
    shown: Shown
    lines: tuple[FormLine, ...]
    about: str
    replies: tuple[FormReply, ...]
    of_context: bool  # a fixed conversation rather than the rater's own
    personas: Mapping[str, tuple[str, ...]]
    draft: Mapping[str, str]
    number: int
    total: int
    attention: Question | None = None  # the attention check at its end

    @property
    def is_whole(self) -> bool:
        """Whether a conversation of others is judged as a whole."""
        return self.rate.over == "conversation"

    @property
    def is_of_chats(self) -> bool:
        """Whether whole conversations of others are judged."""
        return self.rate.over == "speakers"

    @property
    def is_list(self) -> bool:
        """Whether so many replies are shown that the questions stand above them once."""
        return len(self.replies) >= LIST and not self.rate.together

    @property
    def steps(self) -> bool:
        """Whether an answer by a key leads to the next reply of a list, which has one question."""
        return self.is_list and len(self.rate.each) == 1 and not self.rate.each[0].compares


def of(person: Participation) -> RatingForm | None:
    """Return the form a person has to fill in next."""
    assignment = submission.current(person)
    if assignment is None:
        return None
    item = assignment.item
    seats = list(item.conversation.seats.order_by("pk")) if item.conversation else []
    own = next((seat for seat in seats if seat.participation_id == person.pk), None)
    candidates = {each.key: each for each in item.candidates.select_related("conversation")}
    shown = submission.shown_among(assignment, candidates.values())
    number, total = _number_in_batch(person, assignment, is_own=own is not None)
    judged = [candidates[key] for key in shown.candidates]
    check = attention.check_for(person)
    return RatingForm(
        rate=submission.rate_of(person),
        shown=shown,
        lines=_lines(judged, None if own is None else own.side),
        about=item.context.about if item.context else "",
        replies=_replies(judged) if len(judged) > 1 else (),
        of_context=own is None,
        personas=_personas(person, seats, shown),
        draft={str(name): str(text) for name, text in assignment.draft.items()},
        number=number,
        total=total,
        attention=check.question if check else None,
    )


def _number_in_batch(
    person: Participation, assignment: Assignment, *, is_own: bool
) -> tuple[int, int]:
    """Return the number of a form in its batch, from 1, and how many the batch has.

    The forms of a person's earlier conversations are another matter.
    """
    batch = person.assignments.exclude(state=Assignment.State.RELEASED)
    if is_own:
        batch = batch.filter(item__conversation=assignment.item.conversation_id)
    found = batch.aggregate(
        before=Count("pk", filter=Q(place__lt=assignment.place)),
        total=Count("pk", filter=~Q(item__key__endswith=":live")),
    )
    return found["before"] + 1, found["total"]


def _lines(judged: Sequence[Candidate], own: int | None) -> tuple[FormLine, ...]:
    """Return the messages: of others' conversations nothing after the message to judge.

    There the speakers keep their letters, whichever of them is judged. Of several replies to one
    context only the context.
    """
    first = judged[0]
    if len(judged) > 1 and first.seq is None:
        return ()
    partner = 1 if own is None else 1 - own
    messages = events.messages(first.conversation)
    if own is None and first.seq is not None:
        last = first.seq if len(judged) == 1 else first.seq - 1
        messages = messages.filter(seq__lte=last)
    return tuple(
        FormLine(
            side="partner" if event.side == partner else "you",
            who=_who(event.side == partner, own),
            text=event.content["text"],
            judged=event.seq == first.seq or _is_of_speaker(event, first, own),
        )
        for event in messages
    )


def _is_of_speaker(event: Event, judged: Candidate, own: int | None) -> bool:
    """Tell whether a message is of the speaker who is marked in an imported conversation."""
    is_of_pair = judged.seq is None and judged.item.conversation_id is None
    return own is None and is_of_pair and event.side == judged.side


def _chats(judged: Sequence[Candidate]) -> tuple[FormReply, ...]:
    """Return whole conversations, each with the speaker who is judged by number."""
    return tuple(
        FormReply(key=each.key, letter=str(n), text="", lines=_chat(each, n))
        for n, each in enumerate(judged, start=1)
    )


def _chat(judged: Candidate, number: int) -> tuple[FormLine, ...]:
    marked = _("Speaker %(number)d") % {"number": number}
    return tuple(
        FormLine(
            side="partner" if event.side == judged.side else "you",
            who=marked if event.side == judged.side else _("The other"),
            text=event.content["text"],
            judged=event.side == judged.side,
        )
        for event in events.messages(judged.conversation)
    )


def _replies(judged: Sequence[Candidate]) -> tuple[FormReply, ...]:
    if judged[0].seq is None:
        return _chats(judged)
    rows = Event.objects.filter(conversation__in=[each.conversation_id for each in judged])
    texts: dict[tuple[int, int | None], str] = {
        (row.conversation_id, row.seq): row.content.get("text", "") for row in rows
    }
    return tuple(
        FormReply(
            key=each.key,
            letter=letter(n) if len(judged) < LIST else str(n + 1),
            text=texts[each.conversation_id, each.seq],
        )
        for n, each in enumerate(judged)
    )


def _who(is_partner: bool, own: int | None) -> str:
    if own is None:
        return _("Speaker B") if is_partner else _("Speaker A")
    return _("Your partner") if is_partner else _("You")


def _personas(
    person: Participation, seats: Sequence[Seat], shown: Shown
) -> dict[str, tuple[str, ...]]:
    """Return the personas to choose from, all in the form that the partner has theirs."""
    keys = {key for options in shown.choices.values() for key in options}
    if not keys or not seats:
        return {}
    partner = next((seat for seat in seats if seat.participation_id != person.pk), None)
    form = partner.persona_form if partner else "original"
    rows = Persona.objects.filter(campaign=person.campaign_id, key__in=keys)
    return {row.key: row.sentences_in(form) for row in rows}
