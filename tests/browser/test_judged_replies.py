"""Pages of several replies: on a phone and on a desk, without a barrier, by keyboard alone.

Rules V10.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from evaluation import Protocol
from evaluation.registry import get_protocol, protocol_names
from tests.asking import rating
from tests.browser.looks import check_axe
from tests.browser.test_kinds import SITE, serve
from tests.webapp.services.judged import chats_campaign, replies_campaign
from webapp.models import Campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
SYSTEMS = ("north", "east", "south", "west", "centre")
TABS = 400
CHAT = [
    text
    for n in range(10)
    for text in (f"Hi! I have read book {n} by now. " * 2, f"What a long book number {n} is! " * 3)
]
COMPARED = [
    protocol.name
    for protocol in map(get_protocol, protocol_names())
    if protocol.after is not None and protocol.after.show != "one"
]


def page_html(protocol: Protocol) -> str:
    """Return the page of a rater in front of long replies."""
    assert protocol.after is not None
    if protocol.after.over == "speakers":
        return html_of(chats_campaign(protocol.name, {name: [CHAT] for name in SYSTEMS[:2]}))
    least, most = protocol.after.messages
    count = 2 if protocol.after.show == "pairs" else len(SYSTEMS)
    said = "I bought a phone last week, and since yesterday it has not turned on at all. "
    row = {
        "id": "k",
        "messages": [said * 2] * min(max(1, least), most),
        "replies": {
            name: {"text": f"I am sorry to hear that, says {number}. " * 3, "intended": "positive"}
            for number, name in enumerate(SYSTEMS[:count])
        },
    }
    return html_of(replies_campaign(protocol.name, [row]))


def html_of(campaign: Campaign) -> str:
    visit, _ = rating(campaign)
    html: str = visit.get().content.decode()
    words = set(re.findall(r"\w+", html))
    assert not words & set(SYSTEMS), "blinding: no system's name"
    return html


def answer_by_keys(page: Page) -> None:
    """Go through the form by Tab, digits and the space bar until its button has the focus.

    Positions of a ranking are chosen by their digits, each another.
    """
    position = 0
    for _ in range(TABS):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.evaluate("it => it.matches('#rate button')"):
            return
        if focused.get_attribute("data-alone") is not None:
            position += 1
            page.keyboard.press(str(position))
        elif focused.get_attribute("type") == "radio":
            page.keyboard.press("Space")
        elif focused.evaluate("it => it.matches('textarea')"):
            page.keyboard.type("It asked about my day.")
    raise AssertionError(f"the button was not reached by {TABS} tabs")


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", COMPARED)
def test_replies_are_judged_on_every_screen_by_keyboard_alone(
    page: Page, name: str, width: int, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    serve(page, page_html(get_protocol(name)), lambda route: route.fulfill(json={"saved": True}))
    page.goto(SITE)
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    answer_by_keys(page)
    unanswered = """() => [...document.querySelectorAll(".question:not(:disabled)")]
        .filter(one => !new FormData(document.getElementById("rate")).get(one.dataset.name))
        .map(one => one.dataset.name)"""
    assert page.evaluate(unanswered) == []
    page.screenshot(path=tmp_path / f"{name}-{width}.png", full_page=True)
