"""The results page in a real browser: charts under the policy, tables without JavaScript, axe."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.looks import check_axe
from tests.factories import make_campaign, make_staff
from tests.webapp.services import rated
from webapp.models import Campaign, Flag

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def campaign() -> Campaign:
    made = rated.personachat(each=11)
    person, talk = rated.rate(made, made.systems.get(name="poor"))
    Flag.objects.create(campaign=made, participation=person, conversation=talk, kind="quick")
    rated.rate(made, made.systems.get(name="fair"), outcome="QUIT")
    return made


@pytest.fixture
def said(page: Page) -> list[str]:
    """What the browser complains of, refusals by the policy among it."""
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            said.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer) -> Page:
    client = Client()
    client.force_login(make_staff("ada"))
    cookies = [
        {"name": k, "value": m.value, "url": live_server.url} for k, m in client.cookies.items()
    ]
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    return page


def address(server: LiveServer, name: str, *arguments: Any) -> str:
    return f"{server.url}{reverse(name, args=arguments)}"


def opened(page: Page, server: LiveServer, campaign: Campaign) -> Page:
    page.goto(address(server, "results", campaign.pk))
    page.wait_for_selector("html[data-charts=drawn]")
    return page


def test_every_chart_is_drawn_and_nothing_is_refused(
    signed_in: Page, said: list[str], campaign: Campaign, live_server: LiveServer
) -> None:
    page = opened(signed_in, live_server, campaign)
    figures = page.locator("figure[data-chart]")
    assert figures.count() >= 8
    assert page.locator("figure svg.marks").count() == figures.count()
    assert page.get_by_text("could not be drawn").count() == 0
    assert said == []


def test_a_chart_leads_to_its_table_and_its_values(
    signed_in: Page, campaign: Campaign, live_server: LiveServer
) -> None:
    page = opened(signed_in, live_server, campaign)
    figure = page.locator('figure[data-chart="ranking-fluency"]')
    figure.get_by_role("link", name="The same as a table").press("Enter")
    assert page.url.endswith("#ranking-fluency-table")
    with page.expect_download() as saved:
        figure.get_by_role("link", name="Values as CSV").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text.splitlines()[0].startswith("system,score,")
    for kind in ("SVG", "PNG"):
        with page.expect_download() as saved:
            figure.get_by_role("button", name=f"Save as {kind}").click()
        assert saved.value.suggested_filename == f"ranking-fluency.{kind.lower()}"


def test_the_data_comes_by_a_button(
    signed_in: Page, campaign: Campaign, live_server: LiveServer, tmp_path: Path
) -> None:
    page = opened(signed_in, live_server, campaign)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the data").click()
    saved.value.save_as(tmp_path / "data.zip")
    with zipfile.ZipFile(tmp_path / "data.zip") as archive:
        assert json.loads(archive.read("manifest.json"))["files"]["ratings.csv"]["rows"] == 136


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits(
    signed_in: Page, campaign: Campaign, live_server: LiveServer, width: int, scheme: Any
) -> None:
    signed_in.set_viewport_size({"width": width, "height": 900})
    signed_in.emulate_media(color_scheme=scheme)
    page = opened(signed_in, live_server, campaign)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_axe(page)


def test_empty_early_and_report_pages_are_accessible(
    signed_in: Page, said: list[str], campaign: Campaign, live_server: LiveServer
) -> None:
    addresses = [
        address(live_server, "results", make_campaign().pk),
        address(live_server, "results", rated.personachat(each=1).pk),
        address(live_server, "results-report", campaign.pk, "summary"),
    ]
    for each in addresses:
        signed_in.goto(each)
        check_axe(signed_in)
    assert said == []


def test_without_javascript_every_table_is_there(
    browser: Browser, campaign: Campaign, live_server: LiveServer
) -> None:
    client = Client()
    client.force_login(make_staff("bea"))
    context = browser.new_context(java_script_enabled=False)
    try:
        cookies = [
            {"name": k, "value": m.value, "url": live_server.url} for k, m in client.cookies.items()
        ]
        context.add_cookies(cookies)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(address(live_server, "results", campaign.pk))
        expect(page.locator("#ranking-fluency-table tbody tr")).to_have_count(3)
        expect(page.locator("#flow-table tbody tr").first).to_contain_text("35")
    finally:
        context.close()
