"""Quota cells and items: full is full, whether places are reserved or completed (R16)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import after, bot_says, conversation_of, join, send_message, start
from webapp.models import Conversation, Item, Participation, QuotaCell
from webapp.services.conversation import chat
from webapp.services.participation import stopping
from webapp.services.rules import payment, quota

pytestmark = pytest.mark.django_db
COUNTS = [  # reserved and completed of two places, and whether there is another
    (0, 0, True),
    (1, 0, True),
    (0, 1, True),
    (2, 0, False),
    (1, 1, False),
    (0, 2, False),
]


def cell() -> QuotaCell:
    return make_campaign(personas=0).systems.get().cell


def item() -> Item:
    campaign = make_campaign(personas=0)
    conversation = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    return Item.objects.create(campaign=campaign, key="i", conversation=conversation, target=0)


@pytest.mark.parametrize("make", [cell, item])
@pytest.mark.parametrize(("reserved", "completed", "is_free"), COUNTS)
def test_the_last_place_is_given_once(
    make: Callable[[], Any], reserved: int, completed: int, is_free: bool
) -> None:
    row = make()
    row.target, row.reserved, row.completed = 2, reserved, completed
    row.save()
    assert quota.reserve(row) is is_free
    row.refresh_from_db()
    assert (row.reserved, row.completed) == (reserved + is_free, completed)


def test_who_comes_back_to_a_form_whose_place_was_filled_is_told_so() -> None:
    """The only place was completed by somebody else meanwhile: a refusal, not an error."""
    campaign = make_campaign(target=1, changes={"chat.minimum": [2], "chat.pace": 0.0})
    person = start(campaign, "A1")
    send_message(person, "hello")
    bot_says(conversation_of(person), "I see.")
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(5))
    stopping.give_away(person=person, now=after(1806))
    other = start(campaign, "A2", after(1900))
    payment.settle(person=other, outcome=Participation.Outcome.COMPLETED, now=after(2000))
    back = join(campaign, "A1", after(2100))
    assert (back.state, back.outcome) == ("ENDED", "LEFT")
    counts = QuotaCell.objects.values_list("reserved", "completed").get()
    assert counts == (0, 1)


def test_of_several_rows_each_with_a_place_left_gives_one() -> None:
    campaign = make_campaign(personas=0, systems=dict.fromkeys(("a", "b", "c", "d"), "parrot"))
    cells = list(QuotaCell.objects.filter(system__campaign=campaign).order_by("pk"))
    for each, (reserved, completed) in zip(cells, ((0, 0), (1, 0), (1, 1), (0, 2)), strict=True):
        QuotaCell.objects.filter(pk=each.pk).update(
            target=2, reserved=reserved, completed=completed
        )
    assert quota.reserve_each(cells[:3]) == {cells[0].pk, cells[1].pk}
    counts = QuotaCell.objects.order_by("pk").values_list("reserved", "completed")
    assert list(counts) == [(1, 0), (2, 0), (1, 1), (0, 2)]
    assert quota.reserve_each([]) == set()
