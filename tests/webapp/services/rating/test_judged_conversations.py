"""Conversations that others may judge: finished ones of a study, whose people all stand by them."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services import rated
from tests.webapp.services.rating.test_second_panels import crowd, opened
from tests.webapp.services.third import chatted, labeling
from webapp.models import Candidate, Conversation, Participation
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


def test_each_message_of_people_is_judged_as_of_the_side_that_said_it() -> None:
    campaign = labeling(chatted())
    rows = Candidate.objects.filter(item__campaign=campaign).order_by("seq")
    for candidate in rows:
        said = candidate.conversation.events.get(seq=candidate.seq or 0)
        assert candidate.side == said.side
    assert set(rows.values_list("side", flat=True)) == {0, 1}


def test_whole_conversations_are_those_of_the_campaign_chosen() -> None:
    """Another one has systems of the same names."""
    source, _other = crowd(), crowd()
    held_in = opened("convai2_blind", source).items.values_list("conversation__campaign", flat=True)
    assert set(held_in) == {source.pk}
