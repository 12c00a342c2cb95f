"""Campaigns with something before the work: a screening, a quiz, an onboarding."""

from __future__ import annotations

import dataclasses
from typing import Any

from evaluation import Choice, ChoiceOption, Gate, KnownAnswer, Quiz, Screening, YesNo, ours
from evaluation.registry import get_protocol
from tests.factories import make_campaign, make_own_protocol
from webapp.models import Campaign

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


def campaign_with(*steps: Any, protocol: str = "convai2_crowd", **changes: Any) -> Campaign:
    """Return an open campaign of a protocol with these steps before its own."""
    base = get_protocol(protocol)
    made = dataclasses.replace(base, name="my_study", steps=(*steps, *base.steps))
    own = make_own_protocol(protocol=made)
    return make_campaign("my_study", own_protocol=own, **changes)
