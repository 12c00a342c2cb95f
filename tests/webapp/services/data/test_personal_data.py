"""All that is stored about one person: complete by the models, theirs alone, for who may (S14)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import make_member
from tests.webapp.services.people import after, pair, people_campaign, send_message
from webapp.models import AuditEntry, ExternalId, Participation
from webapp.services.data import personal_data
from webapp.services.monitoring import audit_log
from webapp.services.participation import privacy, stopping
from webapp.services.rules import payment

pytestmark = pytest.mark.django_db


@pytest.fixture
def couple() -> tuple[Participation, Participation]:
    """Two people who talked; the first stopped."""
    first, second = pair(people_campaign(least_work=1))
    send_message(first, "I live in Trier.")
    send_message(second, "I live in Metz.")
    stopping.stop(person=first, now=after(60))
    first.refresh_from_db()
    return first, second


def asked(person: Participation, role: str = "administrator") -> Any:
    client = Client()
    project = person.campaign.project
    client.force_login(make_member(f"{role} {person.pk}", role, project=project))
    return client.post(reverse("personal-data", args=[person.campaign_id, person.pk]))


def test_every_model_that_leads_to_a_person_is_included_or_says_why_not() -> None:
    assert personal_data.unclear() == [], "say in personal_data.py how it leads to a person"
    assert set(personal_data.OF_OTHERS) - personal_data.leading() == set(), "of no use"
    assert "Receipt" in personal_data.about(Participation()), "a link of its own is enough"


def test_a_model_that_nobody_said_anything_of_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_data, "OF_OTHERS", {})
    assert "ReplyCall" in personal_data.unclear()


def test_the_file_has_all_that_is_theirs_and_nothing_of_their_partner(
    couple: tuple[Participation, Participation],
) -> None:
    person, _ = couple
    answer = asked(person)
    text = answer.content.decode()
    stored = json.loads(text)["stored"]
    code, known = payment.code_of(person), ExternalId.objects.get(participation=person)
    assert code is not None
    assert [row["value"] for row in stored["ExternalId"]] == [known.value]
    assert [row["code"] for row in stored["CompletionCode"]] == [code.code]
    assert "I live in Trier." in text
    assert "I live in Metz." not in text
    for secret in ("secret_hash", "salt", person.secret_hash):
        assert secret not in text
    assert {row["participation_id"] for row in stored["Seat"]} == {person.pk}
    entry = AuditEntry.objects.latest("number")
    said = audit_log.sentence(entry.action, entry.detail)
    assert said == f"took all that is stored about participation {person.pk}"


def test_after_a_withdrawal_only_what_is_left_is_in_it(
    couple: tuple[Participation, Participation],
) -> None:
    person, _ = couple
    known = ExternalId.objects.get(participation=person).value
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(90))
    text = asked(person).content.decode()
    stored = json.loads(text)["stored"]
    assert (stored["ExternalId"], stored["Rating"]) == ([], [])
    assert known not in text
    assert "Trier" not in text
    assert len(stored["CompletionCode"]) == 1


@pytest.mark.parametrize("role", ["viewer", "runner", "exporter", "payer"])
def test_only_an_administrator_takes_it(
    role: str, couple: tuple[Participation, Participation]
) -> None:
    assert asked(couple[0], role).status_code == 403


def test_the_command_finds_a_person_by_id_code_or_number(
    couple: tuple[Participation, Participation], tmp_path: Path
) -> None:
    person, out = couple[0], tmp_path / "data.json"
    code, known = payment.code_of(person), ExternalId.objects.get(participation=person)
    assert code is not None
    found = []
    for name in (known.value, code.code, str(person.pk)):
        call_command("personal_data", str(person.campaign_id), name, out=out)
        found.append(json.loads(out.read_text())["stored"]["Participation"][0]["id"])
    assert found == [person.pk] * 3
    with pytest.raises(CommandError, match="'nobody' is no id, code or number"):
        call_command("personal_data", str(person.campaign_id), "nobody", out=out)
