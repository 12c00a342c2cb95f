"""Conversations that others may judge: finished ones of a study, whose people all stand by them."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services import rated
from tests.webapp.services.third import chatted
from webapp.models import Conversation, Participation
from webapp.services.rating import judged_conversations

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("about", "of_person", "may_be_judged"),
    [
        ({}, {}, True),
        ({"state": "ABANDONED"}, {}, False),
        ({"state": "OPEN"}, {}, False),
        ({"purpose": "REHEARSAL"}, {}, False),
        ({"excluded": "spam"}, {}, False),
        ({}, {"excluded": "spam"}, False),
        ({}, {"withdrawn_at": NOW}, False),
    ],
)
def test_what_is_set_aside_withdrawn_or_not_finished_is_not_judged(
    about: dict[str, str], of_person: dict[str, object], may_be_judged: bool
) -> None:
    campaign = make_campaign()
    person, talk = rated.chatted(campaign, campaign.systems.get())
    Conversation.objects.filter(pk=talk.pk).update(**about)
    Participation.objects.filter(pk=person.pk).update(**of_person)
    assert list(judged_conversations.finished()) == [talk] * may_be_judged
    messages = judged_conversations.messages_of(campaign)
    assert list(messages.values_list("seq", flat=True)) == [2, 4] * may_be_judged


def test_of_people_both_sides_are_judged_and_beside_a_bot_the_bot_alone() -> None:
    campaign, people = make_campaign(), chatted()
    rated.chatted(campaign, campaign.systems.get())
    for source, sides in ((campaign, {1}), (people, {0, 1})):
        found = judged_conversations.messages_of(source)
        assert set(found.values_list("side", flat=True)) == sides
