"""Oddities are flagged for people to judge; ordinary work is not (S12)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.factories import NOW, make_campaign, make_participation
from webapp.models import Assignment, Conversation, Event, Flag, Participation, Rating, Seat
from webapp.services.rating import items
from webapp.services.rules import flags

pytestmark = pytest.mark.django_db
HONEST = ["I grew up by the sea.", "Do you have any pets?", "A dog, she is old.", "I cook a lot."]


def chat(texts: list[str], seconds: float) -> Participation:
    """Return somebody who answered a bot with `texts`, each so many seconds after it."""
    campaign = make_campaign()
    person = make_participation(campaign)
    conversation = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    Seat.objects.create(conversation=conversation, side=0, participation=person)
    persona = campaign.personas.all()[1]
    Seat.objects.create(conversation=conversation, side=1, persona=persona)
    said = [line for number, text in enumerate(texts) for line in ((1, f"So {number}?"), (0, text))]
    at = NOW
    for seq, (side, text) in enumerate(said, start=1):
        at += timedelta(seconds=seconds if side == 0 else 1)
        event = Event.objects.create(
            conversation=conversation, seq=seq, kind="message", side=side, content={"text": text}
        )
        Event.objects.filter(pk=event.pk).update(made_at=at)
    return person


def rate(person: Participation, values: list[int], seconds: float) -> Assignment:
    """Let a person answer the three scales so many seconds after the form opened."""
    conversation = Conversation.objects.get()
    form = items.open_after(person=person, conversation=conversation, now=NOW)
    candidate = form.item.candidates.get()
    for question, value in zip(("fluency", "engagingness", "consistency"), values, strict=True):
        Rating.objects.create(assignment=form, candidate=candidate, question=question, value=value)
    Assignment.objects.filter(pk=form.pk).update(
        state="DONE", done_at=NOW + timedelta(seconds=seconds)
    )
    return form


def kinds(person: Participation) -> set[str]:
    flags.review(person=person, now=NOW)
    return set(Flag.objects.filter(participation=person).values_list("kind", flat=True))


def test_ordinary_work_is_not_flagged() -> None:
    person = chat(HONEST, 9)
    rate(person, [4, 4, 4], 25)
    assert kinds(person) == set()


@pytest.mark.parametrize(
    ("texts", "seconds", "kind"),
    [
        (HONEST, 1, {"quick"}),
        (["ok", "OK ", "ok", "ok", "fine then"], 9, {"repeated"}),
        ([*HONEST, "This one is far too long to have been typed in only four seconds, surely."], 4,
         {"pasted"}),
    ],
)  # fmt: skip
def test_an_oddity_is_flagged_by_its_kind(texts: list[str], seconds: float, kind: set[str]) -> None:
    assert kinds(chat(texts, seconds)) == kind


@pytest.mark.parametrize(
    ("values", "seconds", "flagged"),
    [([4, 4, 4], 3, True), ([4, 4, 4], 7, False), ([4, 4, 3], 3, False)],
)
def test_equal_answers_are_odd_only_when_given_unread(
    values: list[int], seconds: float, flagged: bool
) -> None:
    person = chat(HONEST, 9)
    rate(person, values, seconds)
    assert ("straight_lined" in kinds(person)) == flagged


def test_a_flag_holds_no_words_and_decides_nothing() -> None:
    person = chat(["canary canary"] * 6, 0.1)
    flags.review(person=person, now=NOW)
    assert not Flag.objects.filter(detail__contains="canary").exists()
    person.refresh_from_db()
    assert (person.state, person.excluded) == ("READY", "")
