"""Original and revised personas: which sentences each side has, is shown, and is exported with."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pytest

from evaluation import InvalidSetting
from evaluation.registry import get_protocol
from tests.factories import NOW, make_campaign
from tests.webapp.services.people import bot_says, conversation_of, join, send_message, start
from webapp.models import Campaign, Conversation, Event, Participation, Persona, System
from webapp.services.campaign import checklist
from webapp.services.conversation import chat, messages
from webapp.services.data import conversation_records, tables
from webapp.services.participation import enrolment, screens
from webapp.services.replies import rehearsal, worker
from webapp.services.rules import protocols

pytestmark = pytest.mark.django_db
BOAT, SHIP = "I own boat number", "My ship is called"  # the originals of the tests, the revised
FORMS = [
    ("original", "original"),
    ("original", "revised"),
    ("revised", "original"),
    ("revised", "revised"),
]
each_pair = pytest.mark.parametrize(("own", "partners"), FORMS)


def campaign_of(own: str, partners: str, **changes: Any) -> Campaign:
    settings = {"chat.form": own, "chat.partner_form": partners, "chat.minimum": [2]}
    return make_campaign(changes=settings, **changes)


def of_personas(campaign: Campaign) -> checklist.LaunchCheck:
    """Return the line of the checklist."""
    row = Campaign.objects.get(pk=campaign.pk)
    return next(each for each in checklist.checklist(row, NOW) if each.name == "Personas")


def words(form: str) -> str:
    return SHIP if form == "revised" else BOAT


def is_in(form: str, sentences: Sequence[str]) -> bool:
    return len(sentences) == 5 and all(each.startswith(words(form)) for each in sentences)


@each_pair
def test_each_side_has_its_form_from_the_instructions_to_the_export(
    own: str, partners: str
) -> None:
    campaign = campaign_of(own, partners)
    person = join(campaign)
    assert is_in(own, screens.show(person=person, now=NOW).persona)
    person = rated(person)
    mine, theirs = conversation_of(person).seats.all()
    assert (mine.persona_form, theirs.persona_form) == (own, partners)
    (record,) = conversation_records.conversations(campaign)
    for seat, form in zip(record["seats"], (own, partners), strict=True):
        assert seat["persona"]["form"] == form
        assert is_in(form, seat["persona"]["sentences"])
    told = tables.messages(campaign)
    assert list(told["persona_form"]) == [own, partners]
    described = tables.described_messages(campaign)["persona_text"]
    assert [is_in(f, t.split("\n")) for f, t in zip((own, partners), described, strict=True)] == [
        True,
        True,
    ]


def rated(person: Participation) -> Participation:
    """Return a person who has chatted and is asked."""
    person = enrolment.start(person=person, now=NOW)
    send_message(person, "Hello there.")
    bot_says(conversation_of(person), "Hello.")
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    person.refresh_from_db()
    assert person.state == "RATING"
    return person


@each_pair
def test_the_choice_shows_the_form_of_the_partner(own: str, partners: str) -> None:
    form = screens.show(person=rated(join(campaign_of(own, partners))), now=NOW).form
    assert form is not None
    assert len(form.personas) == 2
    assert all(is_in(partners, sentences) for sentences in form.personas.values())


@each_pair
def test_the_bot_is_given_its_form(own: str, partners: str) -> None:
    person = start(campaign_of(own, partners))
    send_message(person, "Hello there.")
    (job,) = conversation_of(person).jobs.all()
    ((persona, _history),) = worker._turns([job]).values()
    assert is_in(partners, persona)
    system = System.objects.get(campaign=person.campaign)
    rehearsal.start(system=system, by="ada", now=NOW)
    tried = Conversation.objects.get(purpose="REHEARSAL").seats.get(side=1)
    assert is_in(partners, tried.sentences)


@pytest.mark.parametrize(("form", "copied"), [("original", BOAT), ("revised", SHIP)])
def test_what_may_not_be_copied_is_what_the_participant_reads(form: str, copied: str) -> None:
    person = start(campaign_of(form, "original"))
    seat = conversation_of(person).seats.get(side=0)
    step = protocols.protocol_of(seat.conversation.campaign).chat
    kind, _content = messages._message_or_draft(step, seat, seat.sentences[0])
    assert kind == Event.Kind.STATE
    assert seat.sentences[0].startswith(copied)
    other = BOAT if copied == SHIP else SHIP
    kind, _content = messages._message_or_draft(step, seat, f"{other} 77.")
    assert kind == Event.Kind.MESSAGE


@pytest.mark.parametrize(
    ("own", "partners", "without", "ok"),
    [
        ("original", "original", 8, True),
        ("revised", "original", 0, True),
        ("revised", "original", 1, False),
        ("original", "revised", 1, False),
        ("revised", "revised", 8, False),
    ],
)
def test_a_pool_without_revised_forms_is_refused_where_they_are_wanted(
    own: str, partners: str, without: int, ok: bool
) -> None:
    campaign = campaign_of(own, partners)
    chosen = Persona.objects.order_by("-pk").values("pk")[:without]
    Persona.objects.filter(pk__in=list(chosen.values_list("pk", flat=True))).update(revised=[])
    line = of_personas(campaign)
    assert line.ok == ok
    if not ok:
        assert f"{without} of the pool “test” have no revised form" in line.text
        assert f"among them p{8 - without};" in line.text


def test_other_splits_need_no_revised_form() -> None:
    campaign = campaign_of("revised", "revised")
    Persona.objects.create(campaign=campaign, key="x", split="train", sentences=["a"], order=1)
    line = of_personas(campaign)
    assert line.ok


def test_only_the_two_forms_are_taken_and_people_alone_have_no_bots_form() -> None:
    with pytest.raises(InvalidSetting, match=r"chat\.form: “both” is none of original, revised"):
        get_protocol("personachat_bot").change({"chat.form": "both"})
    names = {each.name for each in get_protocol("personachat_human").settings()}
    assert "chat.form" in names
    assert "chat.partner_form" not in names
    assert not {"chat.form", "chat.partner_form"} & {
        each.name for each in get_protocol("meena_interactive").settings()
    }
