"""Ids of the repository's own papers stay there: no page or command line shows one to people.

The pages of reports are looked at by test_results.py, which draws them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from django.test import Client
from django.urls import reverse

from analysis.__main__ import main as analysis_main
from bots.__main__ import main as bots_main
from evaluation.registry import protocol_names
from tests.webapp.views.ids import ids_in, ids_on
from tests.webapp.views.staff.addresses import addresses
from tests.webapp.views.visiting import Visit, campaign_of
from webapp import notices
from webapp.models import Campaign
from webapp.views.staff import guides


def test_an_id_would_be_found() -> None:
    html = "<p>Pay (R21), as <b>ME-P3</b> says; S7 too, and row A-REV.</p><svg>R5</svg>"
    assert ids_on(html) == ["R21", "ME-P3", "S7", "A-REV"]


@pytest.mark.django_db
def test_no_page_of_staff_shows_one(ann: Client, campaign: Campaign) -> None:
    found = {}
    for address in addresses(campaign):
        answer = ann.get(address)
        if answer.status_code == 200 and "html" in answer["Content-Type"]:
            found[address] = ids_on(answer.content.decode())
    assert len(found) > 20
    assert {address: names for address, names in found.items() if names} == {}


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", protocol_names())
def test_no_form_of_a_protocol_shows_one(ann: Client, protocol: str) -> None:
    page = ann.get(reverse("create-campaign", args=[protocol])).content.decode()
    assert 'name="name"' in page
    assert ids_on(page) == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", [guide.name for guide in guides.guides()[: len(guides.FIRST)]])
def test_no_guide_for_people_who_run_studies_shows_one(ann: Client, name: str) -> None:
    assert ids_on(ann.get(reverse("guide", args=[name])).content.decode()) == []


@pytest.mark.django_db
def test_no_page_of_a_participant_shows_one() -> None:
    visit = Visit(campaign_of())
    pages = [visit.get(""), visit.join(), visit.get(), visit.post("ready"), visit.get()]
    assert len({page.content for page in pages}) > 2
    assert [ids_on(page.content.decode()) for page in pages] == [[]] * len(pages)
    assert [text for text in map(str, notices.NOTICES.values()) if ids_in(text)] == []


def test_the_list_of_bots_shows_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert bots_main(["list"]) == 0
    told = capsys.readouterr().out
    assert "parrot" in told
    assert ids_in(told) == []


@pytest.mark.parametrize(
    ("command", "arguments"),
    [(bots_main, []), (bots_main, ["train"]), (analysis_main, []), (analysis_main, ["simulate"])],
)
def test_the_help_of_a_command_shows_none(
    command: Callable[[Sequence[str]], int],
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        command([*arguments, "--help"])
    told = capsys.readouterr().out
    assert "usage" in told
    assert ids_in(told) == []
