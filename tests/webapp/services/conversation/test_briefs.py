"""Briefs: both sides have sheets of one group, know what is shared, and open on one topic."""

from __future__ import annotations

import json
import zipfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation import Brief
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import conversation_of, join
from webapp.models import Campaign, Conversation, Participation, Persona
from webapp.services.campaign import checklist, personas_import
from webapp.services.conversation import briefs, matching, opening
from webapp.services.data import exports
from webapp.services.participation import admission, enrolment, screens
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
SERIES = {"Harbor Street": 5, "Night Shift": 5}
WATCHED = {"screening.watched": "1", "screening.episodes": "2", "try": "screening-1"}


def sheet(series: str, number: int, **changes: Any) -> dict[str, Any]:
    name = f"{series.split()[0]} {number}"
    return {
        "id": f"{series[0]}{number}",
        "name": name,
        "group": series,
        "sentences": [f"Only {name} knows secret {number} of {series}."],
        "shared": [f"{name} works at the harbor."],
    } | changes


def campaign_of(series: dict[str, int] = SERIES, **changes: Any) -> Campaign:
    draft = make_campaign(
        "role_play", systems={"humans": "people"}, personas=0, state="DRAFT", target=40, **changes
    )
    rows = [sheet(name, number) for name, count in series.items() for number in range(count)]
    text = "\n".join(map(json.dumps, rows))
    personas_import.store(campaign=draft, text=text, by=make_staff(), now=NOW)
    Campaign.objects.filter(pk=draft.pk).update(state="OPEN")
    return Campaign.objects.get(pk=draft.pk)


def admitted(campaign: Campaign) -> Participation:
    person = join(campaign)
    admission.answer(person=person, answers=WATCHED, now=NOW)
    return Participation.objects.get(pk=person.pk)


def waiting(campaign: Campaign) -> Participation:
    return enrolment.start(person=admitted(campaign), now=NOW)


def pair(campaign: Campaign) -> list[Participation]:
    people = [waiting(campaign) for _ in range(2)]
    for person in people:
        opening.meet(person=person, now=NOW)
    return [Participation.objects.get(pk=person.pk) for person in people]


def test_both_characters_are_of_one_series_and_differ() -> None:
    campaign = campaign_of()
    met = Counter[str]()
    for _ in range(10):
        first, _second = pair(campaign)
        seats = list(conversation_of(first).seats.select_related("persona"))
        sheets = [seat.persona for seat in seats if seat.persona is not None]
        assert len({each.pk for each in sheets}) == 2
        (series,) = {each.group for each in sheets}
        met[series] += 1
    assert set(met) == set(SERIES)
    taken = Persona.objects.values_list("taken", flat=True)
    assert sum(taken) == 20, "what was held and not taken along was given back"


def test_who_waits_with_a_character_of_the_series_comes_first() -> None:
    campaign = campaign_of()
    people = [admitted(campaign) for _ in range(3)]
    for person, key in zip(people, ("H0", "N0", "H1"), strict=True):
        chosen = Persona.objects.get(key=key)
        Participation.objects.filter(pk=person.pk).update(
            persona=chosen,
            state="WAITING",
            waiting_at=NOW,
            system=campaign.systems.get(),
            holds_slot=True,
        )
    matching.match(campaign=campaign, now=NOW)
    states = [Participation.objects.get(pk=person.pk).state for person in people]
    assert states == ["MATCHED", "WAITING", "MATCHED"]


def test_each_side_sees_its_own_sheet_and_what_is_shared_of_the_partners() -> None:
    people = pair(campaign_of())
    pages = [screens.show(person=person, now=NOW) for person in people]
    mine, partner = pages
    assert mine.sheet is not None
    assert partner.sheet is not None
    assert mine.sheet.heading == "You are this character"
    assert mine.sheet.partner[0] == partner.sheet.name
    assert mine.sheet.partner[1] == f"{partner.sheet.name} works at the harbor."
    assert f"Only {mine.sheet.name} knows" in mine.persona[0]
    told = " ".join((*mine.persona, *mine.sheet.partner, mine.sheet.topic))
    assert partner.persona[0] not in told, "the partner's own lines are private"
    assert mine.sheet.topic == partner.sheet.topic != ""


def test_before_there_is_a_partner_only_the_own_sheet_is_shown() -> None:
    page = screens.show(person=waiting(campaign_of()), now=NOW)
    assert page.sheet is not None
    assert page.sheet.name
    assert (page.sheet.partner, page.sheet.topic) == ((), "")


def test_every_topic_comes_before_one_comes_again_and_those_of_a_series_to_it_alone() -> None:
    topics = ["food", "Harbor Street | the storm", "Night Shift | the crash"]
    campaign = campaign_of({"Harbor Street": 4}, changes={"chat.brief.topics": topics})
    for _ in range(4):
        pair(campaign)
    found = Counter(Conversation.objects.values_list("topic", flat=True))
    assert found == {"food": 2, "the storm": 2}


@pytest.mark.parametrize("about", [{"state": "ABANDONED"}, {"purpose": "REHEARSAL"}])
def test_a_topic_that_nobody_spoke_on_to_the_end_has_not_been_had(about: dict[str, str]) -> None:
    campaign = campaign_of(changes={"chat.brief.topics": ["food", "the sea"]})
    fields = {"campaign": campaign, "system": campaign.systems.get(), "seed": 1, "started_at": NOW}
    for topic, more in (("food", about), ("food", about), ("the sea", {"state": "FINISHED"})):
        Conversation.objects.create(**fields | {"topic": topic, **more})
    assert {conversation_of(person).topic for person in pair(campaign)} == {"food"}


def brief_of(campaign: Campaign) -> Brief:
    chat = protocol_of(campaign).chat
    assert chat is not None
    assert chat.brief is not None
    return chat.brief


def test_of_sheets_of_two_series_the_first_has_the_topic() -> None:
    topics = ["Harbor Street | the storm", "Night Shift | the crash"]
    campaign = campaign_of(changes={"chat.brief.topics": topics})
    room = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    sheets = [Persona.objects.get(key=key) for key in ("N0", "H0")]
    briefs.draw_topic(room, brief_of(campaign), sheets)
    assert room.topic == "the crash"
    briefs.draw_topic(room, brief_of(campaign), sheets[1:])
    assert room.topic == "the storm"


def test_a_topic_is_shown_in_the_words_of_the_translation() -> None:
    campaign = campaign_of(changes={"chat.brief.topics": ["food", "Harbor Street | the storm"]})
    first, _ = pair(campaign)
    translated = replace(brief_of(campaign), topics=("das Essen", "Harbor Street | der Sturm"))
    room = conversation_of(first)
    shown = briefs.sheet_of(translated, room.seats.get(participation=first)).topic
    assert shown == {"food": "das Essen", "the storm": "der Sturm"}[room.topic]


def test_the_export_has_sheets_and_topics(tmp_path: Path) -> None:
    campaign = campaign_of({"Harbor Street": 2})
    pair(campaign)
    with zipfile.ZipFile(
        exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    ) as archive:
        (talk,) = map(json.loads, archive.read("conversations.jsonl").decode().splitlines())
        sheets = [*map(json.loads, archive.read("personas.jsonl").decode().splitlines())]
    assert talk["topic"] == Conversation.objects.get().topic
    assert [(each["name"], each["group"], each["shared"]) for each in sheets] == [
        (f"Harbor {n}", "Harbor Street", [f"Harbor {n} works at the harbor."]) for n in range(2)
    ]


def test_a_question_that_was_not_asked_has_no_answer() -> None:
    person = join(campaign_of())
    answers = {"screening.watched": "0", "try": "screening-1"}
    admission.answer(person=person, answers=answers, now=NOW)
    person.refresh_from_db()
    assert person.outcome == "SCREENED_OUT"
    assert person.admissions.get().answers == {"watched": 0}


BAD = [
    ({"name": ""}, "has no name; write whose sheet it is"),
    ({"group": ""}, "has no group; both sheets of a conversation are of one"),
    ({"group": 3}, "group is “3”"),
    ({"series": "x"}, "has a field “series”; there are group, id, name"),
    ({"sentences": ["x" * 201]}, "sentences must have at most 40 texts of 200 characters"),
    ({"shared": ["x"] * 41}, "shared must have at most 40 texts"),
]


@pytest.mark.parametrize(("changes", "complaint"), BAD)
def test_a_sheet_that_cannot_be_is_refused_by_its_line(
    changes: dict[str, Any], complaint: str
) -> None:
    draft = make_campaign("role_play", personas=0, state="DRAFT")
    text = json.dumps(sheet("Harbor Street", 1) | changes)
    assert complaint in personas_import.preview(campaign=draft, text=text).rows[0].error
    with pytest.raises(Invalid):
        personas_import.store(campaign=draft, text=text, by=make_staff(), now=NOW)


@pytest.mark.parametrize(
    ("series", "ok", "text"),
    [
        ({"Harbor Street": 2}, True, ""),
        ({"Harbor Street": 2, "Night Shift": 1}, False, "one sheet only: Night Shift"),
        ({}, False, "Import at least two sheets of one group."),
    ],
)
def test_the_launch_asks_for_two_sheets_of_every_group(
    series: dict[str, int], ok: bool, text: str
) -> None:
    campaign = campaign_of(series) if series else make_campaign("role_play", personas=0)
    Campaign.objects.update(state="DRAFT")
    checks = checklist.checklist(Campaign.objects.get(pk=campaign.pk), NOW)
    (check,) = (each for each in checks if each.name == "Personas")
    assert check.ok == ok
    assert text in check.text


def test_the_built_in_characters_are_of_two_series_and_can_be_imported() -> None:
    draft = make_campaign("role_play", personas=0, state="DRAFT")
    text = personas_import.bundled(draft)
    assert personas_import.store(campaign=draft, text=text, by=make_staff(), now=NOW) == 10
    assert Counter(draft.personas.values_list("group", flat=True)) == SERIES


def test_the_built_in_sheets_of_an_advisor_are_pairs_who_share_what_was_taken() -> None:
    draft = make_campaign("student_advisor", personas=0, state="DRAFT")
    text = personas_import.bundled(draft)
    assert personas_import.store(campaign=draft, text=text, by=make_staff(), now=NOW) == 12
    groups: defaultdict[str, dict[str, Persona]] = defaultdict(dict)
    for sheet in draft.personas.all():
        groups[sheet.group][sheet.name] = sheet
    assert len(groups) == 6
    for pair in groups.values():
        student, advisor = pair["Student"], pair["Advisor"]
        assert student.shared == advisor.shared
        assert not {*student.sentences} & {*advisor.sentences}
        assert "Suggested" in str(advisor.sentences)


def test_the_page_says_how_sheets_are_written_and_shows_what_both_sides_have() -> None:
    draft = make_campaign("student_advisor", personas=0, state="DRAFT")
    staff, address = Client(), reverse("personas", args=[draft.pk])
    staff.force_login(draft.owner)
    page = staff.get(address).content.decode()
    assert "Both sheets of a conversation are of one group" in page
    assert "Five sentences" not in page
    line = json.dumps(sheet("advising", 1))
    shown = staff.post(address, {"action": "preview", "text": line}).content.decode()
    assert "advising 1 works at the harbor." in shown.split("<textarea")[0]
    personas_import.store(campaign=draft, text=line, by=draft.owner, now=NOW)
    listed = staff.get(address).content.decode()
    assert "advising · advising 1" in listed
    assert "advising 1 works at the harbor." in listed
