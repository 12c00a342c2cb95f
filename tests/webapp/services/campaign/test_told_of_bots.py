"""Told or not told that a partner may be a bot: the switch of ConvAI2's crowd protocols."""

from __future__ import annotations

import json

import pytest

from evaluation import InvalidSetting, Words
from evaluation.frozen import as_planned
from evaluation.registry import get_protocol
from evaluation.words import words_of
from tests.evaluation import wording
from tests.factories import make_campaign
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.models import Campaign
from webapp.services.campaign import launch
from webapp.services.data import codebook
from webapp.services.participation import stopping
from webapp.services.rules.protocols import protocol_of

CROWDS = ("convai2_crowd", "convai2_crowd_reasons")
TOLD, UNTOLD = "may be a person or a computer program", "with another user, to get to know them"
each_crowd = pytest.mark.parametrize("name", CROWDS)
each_way = pytest.mark.parametrize("tells", [True, False])


@each_crowd
@each_way
def test_the_words_follow_the_switch_and_say_where_they_come_from(name: str, tells: bool) -> None:
    protocol = get_protocol(name).change({"chat.tells_of_bots": tells})
    chat = protocol.chat
    assert chat is not None
    assert chat.instead is not None
    shown, other = (chat.told, chat.instead.told)
    assert (TOLD in shown, UNTOLD in shown) == (tells, not tells)
    assert (TOLD in other, UNTOLD in other) == (not tells, tells)
    assert all(isinstance(text, Words) for text in (shown, other))
    assert bool(chat.debrief) is not tells
    listed = dict(words_of(protocol))
    assert listed["chat.told"] == shown
    assert other not in listed.values()
    assert wording.citation_faults(protocol) == []


@each_crowd
def test_turned_round_and_back_it_is_as_before(name: str) -> None:
    protocol = get_protocol(name)
    off = protocol.change({"chat.tells_of_bots": False})
    assert off != protocol
    assert off.change({"chat.tells_of_bots": True}) == protocol
    assert off.change({"chat.tells_of_bots": False}) == off


@pytest.mark.parametrize("name", ["personachat_bot", "nine_questions", "meena_human"])
def test_other_protocols_have_no_such_switch(name: str) -> None:
    with pytest.raises(InvalidSetting, match="not a setting"):
        get_protocol(name).change({"chat.tells_of_bots": False})


@pytest.mark.django_db
@each_crowd
@each_way
def test_pages_tell_what_the_plan_and_the_codebook_record(name: str, tells: bool) -> None:
    visit = Visit(campaign_of(name, changes={} if tells else {"chat.tells_of_bots": False}))
    page = visit.join().content.decode()
    assert (TOLD in page, UNTOLD in page) == (tells, not tells)
    stopping.stop(person=visit.person, now=visit.person.joined_at)
    campaign = Campaign.objects.get(pk=visit.campaign.pk)
    plan = json.loads(json.dumps(launch.plan_of(campaign)))
    row = next(r for r in plan["protocol"]["settings"] if r["setting"] == "chat.tells_of_bots")
    assert (row["value"], row["departure"], row["provenance"]) == (tells, not tells, "R")
    book = codebook.codebook(campaign)
    told = next(r for r in book["words"] if r["field"] == "chat.told")
    assert book["protocol"]["told"] == told["text"]
    assert (TOLD in told["text"]) is tells
    assert as_planned(protocol_of(campaign), plan["protocol"]) == protocol_of(campaign)


@pytest.mark.django_db
def test_a_plan_that_was_frozen_before_the_switch_tells_as_it_did() -> None:
    campaign = Campaign.objects.get(pk=make_campaign("convai2_crowd").pk)
    plan = launch.plan_of(campaign)["protocol"]
    for step in plan["steps"]:
        step.pop("tells_of_bots", None)
        step.pop("instead", None)
    chat = as_planned(get_protocol("convai2_crowd"), plan).chat
    assert chat is not None
    assert TOLD in chat.told
