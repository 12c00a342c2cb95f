"""Personas of a campaign as a shuffled stack: popped for a side, pushed back if it fails.

Source: the shared mechanics of PERSONA-CHAT's released code (one for each side, never the same).
"""

from __future__ import annotations

import random
from collections.abc import Collection

from django.db.models import F, QuerySet

from webapp.models import Campaign, Conversation, Persona

TRIES = 1000  # each failure means that somebody else succeeded


class NoneLeft(LookupError):
    """The campaign has no persona for this side: none of the split, or only the partner's."""

    notice = "failed"


def pop(*, campaign: Campaign, split: str, seed: int, beside: Collection[int] = ()) -> Persona:
    """Take one of the least taken personas, not one of `beside` (the keys of rows).

    Which of them is drawn from the seed, so that many who pop at once do not all want the same row.
    """
    draw = random.Random(f"{seed}:persona")  # noqa: S311 (a draw to be repeated, not a secret)
    for _ in range(TRIES):
        least = _least_taken(campaign, split, beside)
        if not least:
            raise NoneLeft(f"campaign {campaign.pk} has no persona of the split {split!r} left")
        pk, taken = draw.choice(least)
        if Persona.objects.filter(pk=pk, taken=taken).update(taken=F("taken") + 1):
            return Persona.objects.get(pk=pk)
    raise NoneLeft(f"campaign {campaign.pk}: no persona in {TRIES} tries")


def push_back(persona: Persona) -> None:
    """Return a persona whose conversation was not completed."""
    Persona.objects.filter(pk=persona.pk, taken__gt=0).update(taken=F("taken") - 1)


def push_back_all(conversation: Conversation) -> None:
    """Return the personas of both sides of a conversation that was not completed."""
    for seat in conversation.seats.select_related("persona"):
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


def _least_taken(campaign: Campaign, split: str, beside: Collection[int]) -> list[tuple[int, int]]:
    rows = _pool(campaign, split).exclude(pk__in=beside)
    least = rows.order_by("taken").values("taken")[:1]
    return list(rows.filter(taken=least).order_by("order", "pk").values_list("pk", "taken"))
