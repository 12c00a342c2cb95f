"""What marks a conversation that was held elsewhere: each rule at its edge (ME-P4)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.factories import NOW
from webapp.services.rating import transcript_rules
from webapp.services.rating.transcripts import ImportedChat, ImportedTurn

pytestmark = pytest.mark.django_db


def chat(turns: int = 20, first: str = "Hi!", **more: Any) -> ImportedChat:
    said = [first, *(f"Line {number}." for number in range(1, turns))]
    rows = tuple(ImportedTurn(side=n % 2, text=text) for n, text in enumerate(said))
    fields: dict[str, Any] = {"name": "a", "system": "bot", "reset": True}
    return ImportedChat(turns=rows, **fields | more)


@pytest.mark.parametrize(
    ("turns", "marks"), [(15, ("short",)), (16, ()), (17, ()), (31, ()), (32, ()), (33, ("long",))]
)
def test_the_published_number_of_turns_is_16_to_32(turns: int, marks: tuple[str, ...]) -> None:
    (found,) = transcript_rules.marked([chat(turns)], [])
    assert found.marks == marks


@pytest.mark.parametrize(
    ("more", "marks"),
    [
        ({"first": "Hi"}, ("opener",)),
        ({"reset": False}, ("reset",)),
        ({"reset": None}, ("reset",)),
        ({"reset": None, "system": "human"}, ()),
    ],
)
def test_who_does_not_say_hi_or_was_not_reset_is_marked(
    more: dict[str, Any], marks: tuple[str, ...]
) -> None:
    (found,) = transcript_rules.marked([chat(**more)], [])
    assert found.marks == marks


def visit(volunteer: str, at: datetime | None, **more: Any) -> ImportedChat:
    return chat(account="shared", volunteer=volunteer, began_at=at, **more)


@pytest.mark.parametrize(
    ("minutes", "is_soon"),
    [(-1, False), (0, True), (1, True), (59, True), (60, False), (61, False)],
)
def test_another_volunteer_may_have_the_account_an_hour_later(minutes: int, is_soon: bool) -> None:
    """Of two who have it from the same minute on, each comes too soon."""
    second = visit("two", NOW + timedelta(minutes=minutes))
    first = visit("one", NOW)
    assert transcript_rules.too_soon(second, [first, second]) == (NOW if is_soon else None)
    assert transcript_rules.too_soon(visit("one", NOW + timedelta(minutes=5)), [first]) is None
    assert transcript_rules.too_soon(visit("two", None), [first]) is None


def test_the_hour_counts_from_the_last_end_that_is_known() -> None:
    ended = NOW + timedelta(minutes=30)
    before = [visit("one", NOW, ended_at=ended), visit("one", NOW), visit("three", None)]
    second = visit("two", NOW + timedelta(minutes=89))
    assert transcript_rules.too_soon(second, [*before, second]) == ended
