"""Rating forms: the questions, what they are about, and what was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from evaluation import Question, Shown
from webapp.models import Assignment, Item, Participation, Persona
from webapp.services.rating import submission
from webapp.services.rules import events


@dataclass(frozen=True, kw_only=True)
class FormLine:
    """One message as it is shown beside questions; `judged` marks the one asked about."""

    side: str  # you, partner
    who: str
    text: str
    judged: bool = False


@dataclass(frozen=True, kw_only=True)
class RatingForm:
    """One form. `personas` holds what stands behind the options of a persona choice."""

    questions: tuple[Question, ...]
    shown: Shown
    lines: tuple[FormLine, ...]
    of_context: bool  # a fixed conversation rather than the rater's own
    personas: Mapping[str, tuple[str, ...]]
    draft: Mapping[str, str]
    number: int
    total: int


def of(person: Participation) -> RatingForm | None:
    """Return the form a person has to fill in next."""
    assignment = submission.current(person)
    if assignment is None:
        return None
    shown = submission.shown_to(assignment)
    own = assignment.item.conversation.seats.filter(participation=person).first()
    batch = person.assignments.exclude(state=Assignment.State.RELEASED)
    if own is not None:  # the forms of earlier conversations are another matter
        batch = batch.filter(item__conversation=assignment.item.conversation)
    return RatingForm(
        questions=submission.rate_of(person).each,
        shown=shown,
        lines=_lines(assignment.item, None if own is None else own.side),
        of_context=own is None,
        personas=_personas(assignment, shown),
        draft={str(name): str(text) for name, text in assignment.draft.items()},
        number=batch.filter(place__lt=assignment.place).count() + 1,
        total=batch.exclude(item__key__endswith=":live").count(),
    )


def _lines(item: Item, own: int | None) -> tuple[FormLine, ...]:
    """Return the messages: of others' conversations nothing after the message to judge.

    There the speakers keep their letters, whichever of them is judged.
    """
    candidate = item.candidates.first()
    judged = candidate.seq if candidate else None
    partner = 1 if own is None else 1 - own
    messages = events.messages(item.conversation)
    if own is None and judged is not None:
        messages = messages.filter(seq__lte=judged)
    return tuple(
        FormLine(
            side="partner" if event.side == partner else "you",
            who=_who(event.side == partner, own),
            text=event.content["text"],
            judged=event.seq == judged,
        )
        for event in messages
    )


def _who(is_partner: bool, own: int | None) -> str:
    if own is None:
        return _("Speaker B") if is_partner else _("Speaker A")
    return _("Your partner") if is_partner else _("You")


def _personas(assignment: Assignment, shown: Shown) -> dict[str, tuple[str, ...]]:
    """Return the personas to choose from, all in the form that the partner has theirs."""
    keys = {key for options in shown.choices.values() for key in options}
    if not keys:
        return {}
    conversation, rater = assignment.item.conversation, assignment.participation
    partner = conversation.seats.exclude(participation=rater).first()
    form = partner.persona_form if partner else "original"
    rows = Persona.objects.filter(campaign=conversation.campaign, key__in=keys)
    return {row.key: row.sentences_in(form) for row in rows}
