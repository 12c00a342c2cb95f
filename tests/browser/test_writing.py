"""Writing in a real browser: by keyboard, over a reload, on a phone, until others use the texts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_staff_pages import check, refused, sign_in
from tests.webapp.services.written import REVISED, SENTENCES, draft_of, of_personas, of_replies
from webapp.models import Campaign, Contribution

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]


def begin(page: Page, link: str, name: str) -> None:
    page.goto(f"{link}?PROLIFIC_PID={name}")
    page.get_by_role("button", name="I agree and take part").click()
    expect(page.get_by_text("Examples" if "revis" in name else "An example").first).to_be_visible()
    page.get_by_role("button", name="I am ready, start").click()


def write_persona(page: Page) -> None:
    """Fill the form by keyboard, one sentence too short, over a reload; then put it right."""
    boxes = page.get_by_role("textbox")
    expect(boxes).to_have_count(5)
    boxes.first.focus()
    for number, text in enumerate(("Too short.", *SENTENCES[1:])):
        expect(boxes.nth(number)).to_be_focused()
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(boxes.nth(4)).to_have_value(SENTENCES[4])
    page.get_by_role("button", name="Send").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("this sentence has 2 words")
    expect(boxes.nth(4)).to_have_value(SENTENCES[4])
    check(page, "writing-refused")
    page.get_by_role("alert").get_by_role("link").click()
    expect(boxes.first).to_be_focused()
    boxes.first.fill(SENTENCES[0])
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="You are done")).to_be_visible()


def accept_and_use(page: Page, source: str, draft: str) -> None:
    """Accept the only contribution, take it into a draft and open that."""
    page.goto(f"{source}contributions/")
    check(page, "contributions")
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("1 was accepted.")).to_be_visible()
    page.goto(f"{draft}personas/")
    page.get_by_role("button", name="Use 1 as personas").click()
    expect(page.get_by_text("1 was taken.")).to_be_visible()
    check(page, "personas-used")
    page.goto(f"{draft}launch/")
    page.get_by_role("button", name="Freeze the plan and open").click()
    expect(page.get_by_role("button", name="Copy")).to_be_visible()


def test_a_persona_is_written_by_keyboard_and_used_and_revised(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    source, draft = of_personas(), draft_of("personachat_revisions")
    begin(page, f"{live_server.url}/c/{source.slug}/", "author")
    write_persona(page)
    sign_in(page, live_server)
    staff = f"{live_server.url}/campaigns/"
    accept_and_use(page, f"{staff}{source.pk}/", f"{staff}{draft.pk}/")
    page.context.clear_cookies()
    begin(page, f"{live_server.url}/c/{draft.slug}/", "reviser")
    for number, text in enumerate(REVISED):
        expect(page.locator("blockquote")).to_have_text(SENTENCES[number])
        if number == 2:
            check(page, "writing-revision")
        page.get_by_role("textbox").fill(text)
        page.get_by_role("button", name="Send" if number == 4 else "Next sentence").click()
    expect(page.get_by_role("heading", name="You are done")).to_be_visible()
    assert Contribution.objects.latest("pk").texts == list(REVISED)
    assert not refused


def test_a_reply_is_written_below_its_context(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    page.goto(f"{live_server.url}/c/{of_replies().slug}/?PROLIFIC_PID=ann")
    check(page, "writing-entry")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()
    check(page, "writing-reply")
    page.get_by_role("textbox").fill("It is well.")
    page.get_by_role("button", name="Send and go on").click()
    expect(page.get_by_text("Task 2 of 2")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("")
    assert not refused


def test_lists_of_words_are_sent_as_they_are_shown(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    """In a field of one line a browser made one word of the whole list: no sentence passed."""
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/new/personachat_revisions/")
    words = page.get_by_label("Stop words, which may be repeated")
    shown, departs = words.input_value(), words.locator("xpath=..").locator("[data-departs]")
    words.fill(f"{shown}\nzebra")
    expect(departs).to_be_visible()
    words.fill(shown)
    expect(departs).to_be_hidden()
    for name, text in (("Name", "Revisions"), ("Pay", "1.00"), ("Contact", "lab@example.org")):
        page.get_by_label(name, exact=True).fill(text)
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_text("Every setting is as in the source")).to_be_visible()
    assert Campaign.objects.get().changes == {}
