"""Personas of a campaign as a shuffled stack: popped for a side, pushed back if it fails.

A person is given theirs when they come to the instructions, before any partner is there; it is
held through the wait, taken along into the conversation, and given back by who leaves before.

Source: the shared mechanics of PERSONA-CHAT's released code (one for each side, never the same).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet

from webapp.models import Campaign, Conversation, Participation, Persona, Seat
from webapp.services.rules import statements
from webapp.services.rules.protocols import protocol_of

P = Participation.State


class NoneLeft(LookupError):
    """The campaign has no persona for this side: none of the split, or only the partner's."""

    notice = "failed"


@dataclass(frozen=True)
class Taken:
    """A persona that was given out; counted: whether its `taken` grew, so that it can shrink."""

    persona: Persona
    counted: bool


def pop(
    *,
    campaign: Campaign,
    split: str,
    seed: int | str,
    beside: Collection[int] | QuerySet[Any] = (),
    group: str | None = None,
) -> Taken:
    """Take one of the least taken personas, not one of `beside` (the keys of rows, or their query).

    group: that it has to be of, None for any.
    Which of them is drawn from the seed. A row that another transaction is taking is passed over,
    never waited for: two who each hold one persona and wait for the other's would wait for ever.
    """
    draw = random.Random(f"{seed}:persona")  # noqa: S311 (a draw to be repeated, not a secret)
    passed: set[int] = set()
    rows = _pool(campaign, split, group).exclude(pk__in=beside)
    while pk := _draw(draw, rows.exclude(pk__in=passed) if passed else rows):
        if (persona := statements.take_persona(pk)) is not None:
            return Taken(persona, counted=True)
        passed.add(pk)
    return _share(rows, draw, f"campaign {campaign.pk} has no persona of the split {split!r} left")


def _draw(draw: random.Random, rows: QuerySet[Persona]) -> int | None:
    least = rows.order_by("taken").values("taken")[:1]
    keys = list(rows.filter(taken=least).order_by("order", "pk").values_list("pk", flat=True))
    return draw.choice(keys) if keys else None


def _share(rows: QuerySet[Persona], draw: random.Random, complaint: str) -> Taken:
    """Give a persona that is being taken by others as well: a small pool must not hold anybody up.

    It is not counted once more; the count is for even use, not for what is true.
    """
    pk = _draw(draw, rows)
    if pk is None:
        raise NoneLeft(complaint)
    return Taken(Persona.objects.get(pk=pk), counted=False)


def push_back(persona: Persona) -> None:
    """Return a persona whose conversation was not completed."""
    Persona.objects.filter(pk=persona.pk, taken__gt=0).update(taken=F("taken") - 1)


def push_back_all(conversation: Conversation) -> None:
    """Return the personas of both sides, in the order in which everybody locks them."""
    for seat in conversation.seats.select_related("persona").order_by("persona_id"):
        push_back_of(seat)


def push_back_of(seat: Seat) -> None:
    """Return the persona of one side, where it was counted."""
    if seat.persona is not None and seat.persona_counted:
        push_back(seat.persona)


# --- held through the wait --------------------------------------------------------------------


def hold(person: Participation) -> None:
    """Draw the persona of a person's next conversation, where they have none yet.

    It is none that somebody else waits with, unless all are: partners would have to differ.
    """
    chat = protocol_of(person.campaign).chat
    is_open = person.campaign.state == Campaign.State.OPEN
    if person.persona_id is not None or chat is None or not chat.pool or not is_open:
        return
    taken = _pop_for(person, chat.pool)
    if taken is not None and not _hold(person, taken) and taken.counted:
        push_back(taken.persona)


def hold_all(people: Iterable[Participation]) -> None:
    """Draw for everybody who has come to the instructions, or waits."""
    for person in people:
        if person.state in (P.READY, P.WAITING):
            hold(person)


def _pop_for(person: Participation, pool: str) -> Taken | None:
    campaign, attempt = person.campaign, person.seats.count()
    held = campaign.participations.filter(persona__isnull=False).values("persona")
    seed = f"{campaign.seed}:{person.pk}:{attempt}"
    for beside in (held, set[int]()):
        try:
            return pop(campaign=campaign, split=pool, seed=seed, beside=beside)
        except NoneLeft:
            continue
    return None  # the opening of a conversation says so


def keep(person: Participation, seat: Seat) -> None:
    """Let a person wait on with the persona of a conversation whose personas were pushed back."""
    if seat.persona is None or person.campaign.state != Campaign.State.OPEN:
        return
    if _hold(person, Taken(seat.persona, seat.persona_counted)) and seat.persona_counted:
        Persona.objects.filter(pk=seat.persona.pk).update(taken=F("taken") + 1)


def _hold(person: Participation, taken: Taken) -> bool:
    rows = Participation.objects.filter(pk=person.pk, persona=None)
    if not rows.update(persona=taken.persona, persona_counted=taken.counted):
        person.refresh_from_db(fields=["persona", "persona_counted"])
        return False
    person.persona, person.persona_counted = taken.persona, taken.counted
    return True


def take_along(
    person: Participation, *, beside: Collection[int], group: str | None = None
) -> Taken | None:
    """Take the persona that a person waited with into a conversation, unless the partner has it.

    Nor where it is of another group than `group`, None for any.
    """
    held = _let_go(person)
    is_other = held is not None and group is not None and held.persona.group != group
    if held is not None and (held.persona.pk in beside or is_other):
        _return(held)
        return None
    return held


def give_back(person: Participation) -> None:
    """Return the persona that a person waited with; a repeat does nothing."""
    held = _let_go(person)
    if held is not None:
        _return(held)


def give_back_all(people: Iterable[Participation]) -> None:
    """Return the personas of several people, in the order in which everybody locks them."""
    for person in sorted(people, key=lambda one: one.persona_id or 0):
        give_back(person)


def _let_go(person: Participation) -> Taken | None:
    persona, counted = person.persona, person.persona_counted
    if persona is None:
        return None
    rows = Participation.objects.filter(pk=person.pk, persona=persona)
    person.persona, person.persona_counted = None, False
    is_held = rows.update(persona=None, persona_counted=False)
    return Taken(persona, counted) if is_held else None


def _return(taken: Taken) -> None:
    if taken.counted:
        push_back(taken.persona)


# --- beside the partner's own -----------------------------------------------------------------


def distractors(
    *, campaign: Campaign, split: str, seed: int | str, beside: Collection[int], count: int
) -> list[Persona]:
    """Draw `count` personas of the split that belong to neither side."""
    draw = random.Random(f"{seed}:distractor")  # noqa: S311
    others = list(_pool(campaign, split).exclude(pk__in=beside).order_by("order", "pk"))
    return draw.sample(others, min(count, len(others)))


def _pool(campaign: Campaign, split: str, group: str | None = None) -> QuerySet[Persona]:
    """Return the personas of a split but those whose authors withdrew them.

    group: that they have to be of, None for any.
    """
    rows = Persona.objects.filter(campaign=campaign, split=split).exclude(sentences=[])
    rows = rows if group is None else rows.filter(group=group)
    chat = protocol_of(campaign).chat
    is_revised = chat is not None and "revised" in (chat.form, chat.partner_form)
    return rows.exclude(revised=[]) if is_revised else rows
