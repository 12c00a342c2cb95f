"""Personas of a campaign as a shuffled stack: popped for a side, pushed back if it fails.

Source: the shared mechanics of PERSONA-CHAT's released code (one for each side, never the same).
"""

from __future__ import annotations

import random
from collections.abc import Collection

from django.db import transaction
from django.db.models import F, QuerySet

from webapp.models import Campaign, Conversation, Persona


class NoneLeft(LookupError):
    """The campaign has no persona for this side: none of the split, or only the partner's."""

    notice = "failed"


def pop(*, campaign: Campaign, split: str, seed: int, beside: Collection[int] = ()) -> Persona:
    """Take one of the least taken personas, not one of `beside` (the keys of rows).

    Which of them is drawn from the seed. A row that another transaction is taking is passed over,
    never waited for: two who each hold one persona and wait for the other's would wait for ever.
    """
    draw = random.Random(f"{seed}:persona")  # noqa: S311 (a draw to be repeated, not a secret)
    passed: set[int] = set()
    while pk := _draw(draw, _pool(campaign, split).exclude(pk__in={*beside, *passed})):
        with transaction.atomic():
            rows = Persona.objects.select_for_update(skip_locked=True, no_key=True)
            if rows.filter(pk=pk).first() is not None:
                Persona.objects.filter(pk=pk).update(taken=F("taken") + 1)
                return Persona.objects.get(pk=pk)
        passed.add(pk)
    return _share(campaign, split, draw, beside)


def _draw(draw: random.Random, rows: QuerySet[Persona]) -> int | None:
    least = rows.order_by("taken").values("taken")[:1]
    keys = list(rows.filter(taken=least).order_by("order", "pk").values_list("pk", flat=True))
    return draw.choice(keys) if keys else None


def _share(campaign: Campaign, split: str, draw: random.Random, beside: Collection[int]) -> Persona:
    """Give a persona that is being taken by others as well: a small pool must not hold anybody up.

    It is not counted once more; the count is for even use, not for what is true.
    """
    pk = _draw(draw, _pool(campaign, split).exclude(pk__in=beside))
    if pk is None:
        raise NoneLeft(f"campaign {campaign.pk} has no persona of the split {split!r} left")
    return Persona.objects.get(pk=pk)


def push_back(persona: Persona) -> None:
    """Return a persona whose conversation was not completed."""
    Persona.objects.filter(pk=persona.pk, taken__gt=0).update(taken=F("taken") - 1)


def push_back_all(conversation: Conversation) -> None:
    """Return the personas of both sides, in the order in which everybody locks them."""
    for seat in conversation.seats.select_related("persona").order_by("persona_id"):
        if seat.persona is not None:
            push_back(seat.persona)


def distractors(
    *, campaign: Campaign, split: str, seed: int | str, beside: Collection[int], count: int
) -> list[Persona]:
    """Draw `count` personas of the split that belong to neither side."""
    draw = random.Random(f"{seed}:distractor")  # noqa: S311
    others = list(_pool(campaign, split).exclude(pk__in=beside).order_by("order", "pk"))
    return draw.sample(others, min(count, len(others)))


def _pool(campaign: Campaign, split: str) -> QuerySet[Persona]:
    return Persona.objects.filter(campaign=campaign, split=split)
