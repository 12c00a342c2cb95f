"""Replies that come with contexts: previewed row by row, stored as their systems' own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from evaluation.registry import get_protocol, protocol_names
from tests.factories import NOW, make_campaign, make_staff
from webapp.models import IMPORTED, Campaign, Conversation, Event, Item, QuotaCell
from webapp.services.campaign import checklist, contexts_import, duplicates, launch, systems
from webapp.services.rating import contexts
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
GOOD: dict[str, Any] = {
    "id": "k1",
    "messages": ["Do you like tea?"],
    "dataset": "reddit",
    "character": "Ann, who sails",
    "replies": {"alpha": "I do.", "beta": {"text": "  No,  never. ", "intended": "negative"}},
}


def draft(protocol: str = "reply_ranking", *, bots: bool = False) -> Campaign:
    campaign = make_campaign(protocol, personas=0, state="DRAFT")
    if not bots:
        QuotaCell.objects.filter(system__campaign=campaign).delete()
        campaign.systems.all().delete()
    return Campaign.objects.get(pk=campaign.pk)


def store(campaign: Campaign, *rows: dict[str, Any]) -> int:
    text = "\n".join(map(json.dumps, rows))
    return contexts_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW)


def test_what_is_stored_of_a_context_and_its_replies() -> None:
    campaign = draft()
    assert store(campaign, GOOD) == 1
    context = campaign.contexts.get()
    assert (context.group, context.about) == ("reddit", "Ann, who sails")
    assert [(s.name, s.bot, s.cell.target) for s in campaign.systems.all()] == [
        ("alpha", IMPORTED, 0),
        ("beta", IMPORTED, 0),
    ]
    told = [
        (one.system.name, one.state, one.intended, [e.content["text"] for e in one.events.all()])
        for one in campaign.conversations.order_by("system")
    ]
    assert told == [
        ("alpha", "FINISHED", "", ["Do you like tea?", "I do."]),
        ("beta", "FINISHED", "negative", ["Do you like tea?", "No, never."]),
    ]
    assert [event.side for event in Event.objects.filter(in_reply_to=1)] == [1, 1]


def test_a_second_import_adds_to_the_same_systems() -> None:
    campaign = draft()
    store(campaign, GOOD)
    store(campaign, GOOD | {"id": "k2", "messages": ["And coffee?"]})
    assert campaign.systems.count() == 2
    assert campaign.conversations.count() == 4


BAD = [
    ({"replies": ["I do."]}, "replies is "),
    ({"replies": {"al pha": "I do."}}, "a name has letters, digits, - and _ only"),
    ({"replies": {"": "I do."}}, "a name has letters, digits, - and _ only"),
    ({"replies": {"a" * 61: "I do."}}, "a name has letters, digits, - and _ only"),
    ({"replies": {"alpha": ""}}, "the reply of alpha is "),
    ({"replies": {"alpha": 3}}, "it must be a text, or have text and intended"),
    ({"replies": {"alpha": {"text": "I do.", "mood": "glad"}}}, "the reply of alpha is "),
    ({"replies": {"alpha": {"text": "I do.", "intended": 3}}}, "intended is "),
    ({"replies": {"alpha": "x" * 4001}}, "has a message of more than "),
    ({"dataset": "x" * 41}, "dataset is "),
    ({"character": ["Ann"]}, "character is "),
    ({"reply": "I do."}, "has a field "),
    ({"messages": []}, "has 0 messages; it must have 1 to 20 messages"),
    ({"messages": ["Hi."] * 21}, "has 21 messages; it must have 1 to 20 messages"),
]


@pytest.mark.parametrize(("change", "complaint"), BAD)
def test_a_bad_row_is_named_and_nothing_is_stored(change: dict[str, Any], complaint: str) -> None:
    campaign = draft()
    rows = [GOOD | {"id": "k0", "messages": ["First?"]}, GOOD | change]
    text = "\n".join(map(json.dumps, rows))
    found = contexts_import.preview(campaign=campaign, text=text)
    (bad,) = found.bad
    assert bad.number == 2
    assert complaint in bad.error
    with pytest.raises(Invalid):
        store(campaign, *rows)
    assert not campaign.contexts.exists()
    assert not campaign.systems.exists()


@pytest.mark.parametrize(
    ("protocol", "wanted", "complaint"),
    [
        ("reply_grades", "1 to 20 messages", ""),
        ("graded_pairs", "2 messages", "has 1 message; it must have 2 messages"),
        ("perceived_sentiment", "1 message", ""),
        ("persona_likely", "", "has 1 message; it must have none"),
    ],
)
def test_how_many_messages_a_context_has_is_said_before_and_after(
    protocol: str, wanted: str, complaint: str
) -> None:
    campaign = make_campaign(protocol, state=Campaign.State.DRAFT)
    assert contexts_import.messages_wanted(campaign) == wanted
    row = {"id": "c1", "messages": ["Do you like tea?"], "replies": {"mine": "I do."}}
    found = contexts_import.preview(campaign=campaign, text=json.dumps(row))
    assert [each.error for each in found.rows] == [complaint]
    built_in = contexts_import.bundled(campaign)
    assert bool(built_in) == bool(wanted)
    if built_in:
        assert not contexts_import.preview(campaign=campaign, text=built_in).bad


def test_the_guide_says_how_many_messages_each_protocol_wants() -> None:
    guide = (Path(settings.BASE_DIR) / "docs" / "judging_replies.md").read_text()
    table = guide.partition("|---|---|---|---|\n")[2].partition("\n\n")[0]
    by_title = {protocol.title: protocol for protocol in map(get_protocol, protocol_names())}
    found: dict[str, str] = {}
    for row in table.splitlines():
        _, _, titles, _, wanted, _ = (cell.strip() for cell in row.split("|"))
        named = [title for title in by_title if title in titles]
        found |= dict.fromkeys(named, wanted)
    assert len(found) == 10
    for title, wanted in found.items():
        campaign = make_campaign(by_title[title].name, state=Campaign.State.DRAFT)
        said = contexts_import.messages_wanted(campaign).partition(" message")[0] or "none"
        assert wanted == said, title


def test_a_reply_in_the_name_of_a_bot_that_replies_itself_is_refused() -> None:
    campaign = draft(bots=True)
    (bad,) = contexts_import.preview(campaign=campaign, text=json.dumps(GOOD)).bad
    assert "replies by itself here" in bad.error


@pytest.mark.parametrize(("count", "fits"), [(20, True), (21, False)])
def test_a_campaign_has_twenty_systems_at_most(count: int, fits: bool) -> None:
    campaign = draft()
    row = GOOD | {"replies": {f"s{n}": f"Reply {n}." for n in range(count)}}
    if fits:
        assert store(campaign, row) == 1
        return
    with pytest.raises(Invalid, match="21 systems; a campaign has at most 20"):
        store(campaign, row)
    assert not Conversation.objects.exists()
    assert not campaign.systems.exists()


def test_removing_the_contexts_removes_replies_and_their_systems_but_not_those_of_bots() -> None:
    campaign = draft(bots=True)
    store(campaign, GOOD | {"replies": {"beta": "No.", "gamma": "Yes."}})
    contexts_import.clear(campaign=campaign, by=make_staff(), now=NOW)
    assert [system.name for system in campaign.systems.all()] == ["alpha"]
    assert not campaign.conversations.exists()
    store(campaign, GOOD | {"replies": {"beta": "No."}})
    contexts.build(campaign=campaign, now=NOW)  # a bot is asked
    with pytest.raises(contexts_import.AlreadyAnswered):
        contexts_import.clear(campaign=campaign, by=make_staff(), now=NOW)


def test_imported_replies_need_no_worker_no_rehearsal_and_no_collecting() -> None:
    campaign = draft()
    store(campaign, GOOD)
    red = [check.name for check in checklist.checklist(campaign, NOW) if not check.ok]
    assert red == []
    replies = checklist.replies_to_contexts(campaign)
    assert (replies.wanted, replies.begun, replies.settled) == (2, 2, 2)
    launch.launch(campaign=campaign, by=make_staff(), now=NOW)
    assert Item.objects.get().candidates.count() == 2
    campaign.refresh_from_db()
    plan = campaign.plan or {}
    assert [(row["system"], row["intended"]) for row in plan["replies"]] == [
        ("alpha", ""),
        ("beta", "negative"),
    ]
    assert (plan["contexts"][0]["group"], plan["contexts"][0]["about"]) == (
        "reddit",
        "Ann, who sails",
    )


def test_a_duplicate_has_the_same_replies() -> None:
    campaign = draft()
    store(campaign, GOOD)
    copy = duplicates.duplicate(campaign=campaign, name="Again", seed=9, by=make_staff(), now=NOW)
    for one in (campaign, copy):
        launch.launch(campaign=one, by=make_staff(), now=NOW)
        one.refresh_from_db()
    assert (copy.plan or {})["replies"] == (campaign.plan or {})["replies"]
    assert [systems.is_people(system.bot) for system in copy.systems.all()] == [False, False]
