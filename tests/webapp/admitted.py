"""Campaigns with something before the work: a screening, a quiz, an onboarding."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation import (
    Attention,
    Choice,
    ChoiceOption,
    Gate,
    KnownAnswer,
    Onboarding,
    Quiz,
    Screening,
    YesNo,
    ours,
)
from evaluation.registry import get_protocol
from tests.factories import NOW, make_campaign, make_own_protocol, make_staff
from webapp.models import Campaign, QuotaCell
from webapp.services.campaign import contexts_import
from webapp.services.rating import context_items

WATCHED = YesNo(name="watched", text=ours("Have you watched the series?"))
SCREENING = Screening(questions=(WATCHED,), passes=(Gate("watched"),))
PARTNER = Choice(
    name="partner_is",
    text=ours("Who may your partner be?"),
    options=(ChoiceOption(value="bot", word="A bot"), ChoiceOption(value="pet", word="A pet")),
)
LENGTH = YesNo(name="length", text=ours("Is one message enough?"))
QUIZ = Quiz(
    questions=(PARTNER, LENGTH),
    answers=(
        KnownAnswer("partner_is", ("bot",)),
        KnownAnswer("length", (0,), ours("You need ten messages.")),
    ),
)


def known_row(number: int, *, best: str = "human") -> dict[str, Any]:
    """Return a context of which it is known that a person's reply is better by both questions."""
    return {
        "id": f"known{number}",
        "messages": [f"Do you like tea number {number}?"],
        "replies": {"human": f"I do, with milk, {number}.", "weak": f"Tea tea, {number}."},
        "known": {"word_coherency": best, "dialogue_continuity": best},
    }


def rows_of(count: int, systems: tuple[str, ...] = ("alpha", "beta")) -> list[dict[str, Any]]:
    """Return contexts to which systems replied."""
    return [
        {
            "id": f"k{number}",
            "messages": [f"Is it day {number}?"],
            "replies": {name: f"{name[0].upper()} says {number}." for name in systems},
        }
        for number in range(count)
    ]


def onboarding_campaign(
    step: Onboarding | Attention, rows: Sequence[Mapping[str, Any]], **changes: Any
) -> Campaign:
    """Return an open campaign of pairs that raters judge, with an onboarding or other checks."""
    draft = campaign_with(
        step,
        protocol="coherency_pairs",
        state="DRAFT",
        personas=0,
        changes={f"rate.{name}": value for name, value in changes.items()},
    )
    QuotaCell.objects.filter(system__campaign=draft).delete()
    draft.systems.all().delete()
    text = "\n".join(map(json.dumps, rows))
    contexts_import.store(campaign=draft, text=text, by=make_staff(), now=NOW)
    context_items.make(draft, at_launch=True)
    Campaign.objects.filter(pk=draft.pk).update(state="OPEN")
    return Campaign.objects.get(pk=draft.pk)


def campaign_with(*steps: Any, protocol: str = "convai2_crowd", **changes: Any) -> Campaign:
    """Return an open campaign of a protocol with these steps before its own."""
    base = get_protocol(protocol)
    made = dataclasses.replace(base, name="my_study", steps=(*steps, *base.steps))
    own = make_own_protocol(protocol=made)
    return make_campaign("my_study", own_protocol=own, **changes)
