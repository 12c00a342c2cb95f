"""Two people at one form: neither undoes in silence what the other saved, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.services import rated
from tests.webapp.views.staff.as_it_stands import opened, sent
from webapp import clock
from webapp.models import Amendment, Campaign, Heartbeat, QuotaCell, System
from webapp.services.campaign import launch
from webapp.services.rules import ledger

pytestmark = pytest.mark.django_db


def make_draft(**changes: Any) -> Campaign:
    consent = "You will chat with somebody, and tell how it was."
    return make_campaign(state="DRAFT", opened_at=None, consent=consent, **changes)


@pytest.fixture
def draft() -> Campaign:
    return make_draft(languages=["en", "de"])


def change_settings(campaign: Campaign) -> str:
    return reverse("settings", args=[campaign.pk])


def change_system(campaign: Campaign) -> str:
    return reverse("system", args=[campaign.pk, campaign.systems.get().pk])


def change_words(campaign: Campaign) -> str:
    return f"{reverse('campaign-words', args=[campaign.pk])}?language=de"


def stored_settings(campaign: Campaign) -> tuple[Any, ...]:
    row = Campaign.objects.get(pk=campaign.pk)
    return row.contact, str(row.pay), row.hold_payments


def stored_system(campaign: Campaign) -> tuple[Any, ...]:
    row = System.objects.get(campaign=campaign)
    return row.name, str(row.cell.target), row.is_control


def stored_words(campaign: Campaign) -> tuple[Any, ...]:
    found = Campaign.objects.get(pk=campaign.pk).translations.get("de", {})
    return tuple(found.get(name) for name in ("rate.fluency.text", "chat.told"))


@dataclass(frozen=True, kw_only=True)
class Edited:
    """A form, what each of two people changes in it, and what is stored once both have saved."""

    where: Callable[[Campaign], str]
    stored: Callable[[Campaign], tuple[Any, ...]]
    hers: dict[str, str]
    his: dict[str, str]
    both: tuple[Any, ...]


EDITED = [
    Edited(
        where=change_settings,
        stored=stored_settings,
        hers={"pay": "3.50", "hold_payments": "true"},
        his={"contact": "Bob, b@example.org"},
        both=("Bob, b@example.org", "3.50", True),
    ),
    Edited(
        where=change_system,
        stored=stored_system,
        hers={"target": "7", "is_control": "true"},
        his={"name": "renamed"},
        both=("renamed", "7", True),
    ),
    Edited(
        where=change_words,
        stored=stored_words,
        hers={"chat.told": "Sie unterhalten sich."},
        his={"rate.fluency.text": "Wie flüssig?"},
        both=("Wie flüssig?", "Sie unterhalten sich."),
    ),
]
edits = pytest.mark.parametrize("edit", EDITED, ids=["settings", "system", "words"])


@edits
def test_what_another_person_saved_meanwhile_is_shown_and_kept(
    ann: Client, draft: Campaign, edit: Edited
) -> None:
    address = edit.where(draft)
    page = opened(ann, address)
    assert ann.post(address, opened(ann, address) | edit.hers).status_code == 302
    between = edit.stored(draft)
    answer = ann.post(address, page | edit.his)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "since others saved meanwhile" in html
    for name in edit.hers:
        assert f'href="#id_{name}"' in html
    assert edit.stored(draft) == between
    again = sent(answer)
    assert {name: again[name] for name in (*edit.hers, *edit.his)} == edit.hers | edit.his
    assert ann.post(address, again).status_code == 302
    assert edit.stored(draft) == edit.both


@edits
def test_who_is_alone_is_not_stopped(ann: Client, draft: Campaign, edit: Edited) -> None:
    """As it stands, and with changes; twice the same is no change of somebody else."""
    address, changes = edit.where(draft), edit.hers | edit.his
    page = opened(ann, address)
    assert ann.post(address, page).status_code == 302
    assert ann.post(address, page | changes).status_code == 302
    assert edit.stored(draft) == edit.both
    assert ann.post(address, page | changes).status_code == 302
    assert ann.post(address, opened(ann, address)).status_code == 302
    assert edit.stored(draft) == edit.both


def test_of_two_values_of_one_field_the_second_says_which_one_it_replaces(
    ann: Client, draft: Campaign
) -> None:
    address = change_settings(draft)
    page = opened(ann, address)
    ann.post(address, page | {"pay": "3.50"})
    answer = ann.post(address, page | {"pay": "4.25"})
    html = answer.content.decode()
    assert "somebody saved “3.50” here meanwhile; saving now replaces it" in html
    assert stored_settings(draft)[1] == "3.50"
    ann.post(address, sent(answer))
    assert stored_settings(draft)[1] == "4.25"


def test_a_third_value_is_told_again(ann: Client, draft: Campaign) -> None:
    address = change_settings(draft)
    page = opened(ann, address)
    ann.post(address, page | {"pay": "3.50"})
    second = sent(ann.post(address, page | {"pay": "4.25"}))
    ann.post(address, opened(ann, address) | {"pay": "5.75"})
    assert "somebody saved “5.75” here" in ann.post(address, second).content.decode()
    assert stored_settings(draft)[1] == "5.75"


def test_beside_what_is_wrong_what_others_saved_is_told_too(ann: Client, draft: Campaign) -> None:
    address = change_settings(draft)
    page = opened(ann, address)
    ann.post(address, page | {"hold_payments": "true"})
    answer = ann.post(address, page | {"pay": "lots"})
    html = answer.content.decode()
    assert "“lots” is not an amount" in html
    assert "somebody saved on here meanwhile; saving now keeps it" in html
    assert sent(answer)["hold_payments"] == "true"
    assert sent(answer)["pay"] == "lots"


def test_a_wrong_value_in_place_of_what_others_saved_hides_nothing(
    ann: Client, draft: Campaign
) -> None:
    address = change_settings(draft)
    page = opened(ann, address)
    ann.post(address, page | {"pay": "3.50"})
    answer = ann.post(address, page | {"pay": "lots"})
    assert "somebody saved “3.50” here meanwhile" in answer.content.decode()
    again = ann.post(address, sent(answer))
    assert "“lots” is not an amount" in again.content.decode()
    assert stored_settings(draft)[1] == "3.50"


@pytest.mark.parametrize("basis", ["", "{", "[]", "1", '{"nothing": "x"}', "[" * 9_000])
def test_what_is_no_basis_is_none(ann: Client, draft: Campaign, basis: str) -> None:
    address = change_settings(draft)
    page = opened(ann, address) | {"basis": basis, "pay": "3.50"}
    assert ann.post(address, page).status_code == 302
    assert stored_settings(draft)[1] == "3.50"


def test_a_preset_keeps_what_the_page_was_filled_in_with(ann: Client) -> None:
    draft = make_draft(systems={"alpha": "beam"})
    address = change_system(draft)
    page = opened(ann, address)
    assert ann.post(address, page | {"target": "7", "act": "save"}).status_code == 302
    filled = ann.post(address, page | {"act": "preset", "preset": "nucleus"})
    answer = ann.post(address, sent(filled) | {"act": "save"})
    assert "somebody saved “7” here meanwhile" in answer.content.decode()
    assert System.objects.get(campaign=draft).cell.target == 7


def test_answers_of_a_datasheet(ann: Client) -> None:
    campaign = rated.static(contexts=4)
    campaign.plan = launch.plan_of(campaign)
    campaign.save()
    address = reverse("results-datasheet", args=[campaign.pk])
    page = opened(ann, address)
    ann.post(address, page | {"q1.3.1.1.c0": "Ada Lovelace"})
    answer = ann.post(address, page | {"q4.3.1.1.c1": "Wit"})
    assert "somebody saved “Ada Lovelace” here" in answer.content.decode()
    ann.post(address, sent(answer))
    campaign.refresh_from_db()
    assert len(campaign.datasheet) == 2


def test_only_the_plan_that_was_looked_at_is_frozen(ann: Client, draft: Campaign) -> None:
    Heartbeat.objects.create(name="here", kind="replies", bots=["parrot"], seen_at=clock.now())
    address = reverse("launch", args=[draft.pk])
    page = opened(ann, address, "plan")
    assert page["plan"] == launch.plan_hash(launch.plan_of(draft))
    Campaign.objects.filter(pk=draft.pk).update(pay="0.10")
    answer = ann.post(address, page)
    assert answer.status_code == 409
    assert "Not launched: the draft was changed" in answer.content.decode()
    draft.refresh_from_db()
    assert draft.state == "DRAFT"
    assert ann.post(address, sent(answer, "plan")).status_code == 302
    draft.refresh_from_db()
    assert (draft.state, str(draft.pay)) == ("OPEN", "0.10")


def test_who_extends_by_pressing_twice_extends_once(ann: Client) -> None:
    campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"})
    address = reverse("extend", args=[campaign.pk])
    page = opened(ann, address, "more.alpha") | {"more.alpha": "5", "reason": "As agreed."}
    assert ann.post(address, page).status_code == 302
    budget = ledger.books(campaign).budget
    answer = ann.post(address, page)
    assert answer.status_code == 422
    assert "alpha was extended meanwhile" in answer.content.decode()
    assert targets(campaign) == {"alpha": 15, "beta": 10}
    assert ledger.books(campaign).budget == budget
    assert Amendment.objects.count() == 1
    again = sent(answer, "more.alpha")
    assert (again["more.alpha"], again["reason"]) == ("5", "As agreed.")
    assert ann.post(address, again).status_code == 302
    assert targets(campaign) == {"alpha": 20, "beta": 10}


def targets(campaign: Campaign) -> dict[str, int]:
    return dict(
        QuotaCell.objects.filter(system__campaign=campaign).values_list("system__name", "target")
    )
