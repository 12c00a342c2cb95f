"""The builder of protocols in a real browser: built by hand, refused once, saved, used."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.serialized import from_json
from tests.browser.test_staff_pages import check, refused, sign_in
from webapp.models import OwnProtocol

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]


def ask(page: Page, kind: str, number: int, text: str) -> None:
    """Add a question of a kind and give it its words."""
    page.get_by_label("Kind", exact=True).select_option(kind)
    page.get_by_role("button", name="Add a question").click()
    page.locator(f"[id='id_q{number}.text']").fill(text)


def test_a_protocol_is_built_and_leads_into_a_campaign(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    sign_in(page, live_server)
    page.get_by_role("link", name="Your protocols").click()
    check(page, "own-protocols-empty")
    page.get_by_role("link", name="Start from blank").click()
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    check(page, "builder-blank")
    ask(page, "likert", 1, "How warm was your partner?")
    ask(page, "free_text", 2, "Why?")
    page.get_by_role("button", name="Show the sample").click()
    expect(page.locator(".sample .question")).to_have_count(2)
    check(page, "builder-sample")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Question", exact=True).first).to_have_value(
        "How warm was your partner?"
    )
    check(page, "builder-errors")
    page.get_by_label("Title").fill("Tone of voice")
    page.get_by_role("button", name="Move up question 2").click()
    expect(page.get_by_label("Question", exact=True).first).to_have_value("Why?")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    after = from_json(OwnProtocol.objects.get().content).after
    assert after is not None
    assert [question.kind for question in after.each] == ["free_text", "likert"]
    check(page, "builder-saved")
    page.get_by_role("link", name="Your protocols").click()
    check(page, "own-protocols")
    page.get_by_role("link", name="Use in a new campaign").click()
    expect(page.get_by_role("button", name="Save as a draft")).to_be_visible()
    page.goto(f"{live_server.url}/campaigns/new/")
    check(page, "choose-own")
