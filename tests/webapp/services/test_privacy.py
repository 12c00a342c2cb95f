"""Pseudonyms and withdrawal: the words go, the pay stays (S14, R21)."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from django.apps import apps
from django.core import serializers
from django.db import connection
from pytest_django import Settings

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    say,
    start,
)
from webapp.models import CompletionCode, Event, ExternalId, Participation, QuotaCell, Rating
from webapp.services import (
    access,
    chat,
    enrolment,
    identity,
    payment,
    privacy,
    rating,
    refusals,
    stopping,
)

pytestmark = pytest.mark.django_db
CANARY = "canary-4711"


def everything() -> str:
    """Every row of the application as text."""
    models = apps.get_app_config("webapp").get_models()
    return json.dumps(
        [serializers.serialize("json", model._default_manager.all()) for model in models]
    )


def test_a_pseudonym_depends_on_the_key_the_campaign_the_platform_and_the_id() -> None:
    first, second = make_campaign(), make_campaign()
    names = [
        identity.pseudonym(first, "mturk", "A1"),
        identity.pseudonym(second, "mturk", "A1"),
        identity.pseudonym(first, "prolific", "A1"),
        identity.pseudonym(first, "mturk", "A2"),
        identity.pseudonym(first, "mturk", "A1", "another key"),
    ]
    assert len(set(names)) == 5
    assert identity.pseudonym(first, "mturk", "A1") == names[0]


def test_old_links_stay_valid_after_the_key_was_changed(settings: Settings) -> None:
    campaign = make_campaign()
    person = join(campaign, "A1")
    token = privacy.withdraw_token(person)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next key, long enough to be one " * 2
    assert join(campaign, "A1") == person
    assert privacy.holder(token) == person
    assert join(campaign, "A2").pseudonym == identity.pseudonym(campaign, "prolific", "A2")


@pytest.mark.parametrize("token", ["", "1", "x:y:z"])
def test_a_link_that_was_not_signed_here_is_refused(token: str) -> None:
    with pytest.raises(privacy.BadToken):
        privacy.withdraw(token=token, now=NOW)


def finished() -> tuple[Participation, CompletionCode]:
    """Return somebody who chatted with a parrot, rated it and was paid."""
    campaign = make_campaign()
    person = start(campaign, CANARY)
    conversation = conversation_of(person)
    say(person, f"I am {CANARY}")
    conversation.refresh_from_db()
    bot_says(conversation, f"you are {CANARY}")
    with pytest.raises(refusals.Refused):
        say(person, f"{CANARY} " * 20)
    type(conversation).objects.filter(pk=conversation.pk).update(minimum=1)
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(9))
    partner = conversation.seats.get(side=1).persona
    assert partner is not None
    answers = dict.fromkeys(("p.fluency", "p.engagingness", "p.consistency"), "3")
    code = rating.submit(person=person, answers=answers | {"p.persona": partner.key}, now=after(99))
    assert code is not None
    return person, code


def test_withdrawing_deletes_every_word_and_leaves_the_pay() -> None:
    person, code = finished()
    assert CANARY in everything()
    withdrawn = privacy.withdraw(token=privacy.withdraw_token(person), now=after(200))
    assert CANARY not in everything()
    assert withdrawn.code == code
    assert withdrawn.person.withdrawn_at == after(200)
    assert not Rating.objects.exists()
    assert not ExternalId.objects.exists()
    cell = QuotaCell.objects.get()
    assert (cell.completed, cell.reserved) == (0, 0)
    again = privacy.withdraw(token=privacy.withdraw_token(person), now=after(300))
    assert again.code == code
    assert again.person.withdrawn_at == after(200)


def test_who_withdrew_is_not_let_in_again() -> None:
    campaign = make_campaign()
    person, secret = enrolment.join(
        campaign=campaign, platform="link", external_id="x", language="en", now=NOW
    )
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(1))
    with pytest.raises(access.NotFound):
        access.participation(campaign.slug, secret)


def test_withdrawing_in_the_middle_of_a_chat_stops_first_and_pays_what_is_owed() -> None:
    person = start(make_campaign())
    say(person, CANARY)
    withdrawn = privacy.withdraw(token=privacy.withdraw_token(person), now=after(5))
    assert (withdrawn.person.outcome, withdrawn.code is not None) == ("QUIT", True)
    assert CANARY not in everything()


def test_a_partners_words_stay() -> None:
    first, second = pair(make_campaign("personachat_human", systems={"humans": "people"}))
    say(first, "hello from first")
    say(second, "hello from second")
    stopping.stop(person=first, now=after(9))
    privacy.withdraw(token=privacy.withdraw_token(first), now=after(10))
    texts = [event.content["text"] for event in Event.objects.filter(kind="message")]
    assert texts == ["", "hello from second"]
    second.refresh_from_db()
    assert second.state == "RATING"
    assert payment.code_of(second) is None


@pytest.mark.django_db(transaction=True)
def test_the_words_are_gone_from_the_files_too() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the files of a PostgreSQL server are its own: see its vacuum")
    file = Path(str(connection.settings_dict["NAME"]))
    person = start(make_campaign())
    say(person, "canary words of mine")
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(5))
    files = [one for one in file.parent.glob(f"{file.name}*") if one.is_file()]
    assert file in files
    assert not [one.name for one in files if b"canary words" in one.read_bytes()]
