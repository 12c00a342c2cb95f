"""Imported texts in a browser: lists by keyboard, sliders, rankings, on a phone and on a desk."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.asking import imported
from tests.browser.test_staff_pages import SHOTS, check, refused
from webapp.models import Assignment, Campaign, Rating

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
TEXTS = 50
LIST: dict[str, Any] = {
    "id": "list1",
    "messages": [],
    "character": "Captain Hook, a pirate who fears a crocodile",
    "replies": {
        author: [f"Line {n} of somebody who has a little more to say." for n in range(first, last)]
        for author, first, last in (("hook", 0, 25), ("doctor", 25, TEXTS))
    },
}


def begin(page: Page, live_server: LiveServer, campaign: Campaign) -> None:
    """Consent and start."""
    page.goto(f"{live_server.url}/c/{campaign.slug}/?PROLIFIC_PID=visitor")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()


def answered(page: Page) -> int:
    return page.locator(".reply input:checked").count()


def check_nothing_is_covered(page: Page) -> None:
    """Look whether the question that stays on top leaves the last utterance in sight."""
    box = page.locator(".list-question").bounding_box()
    last = page.locator(".reply").nth(TEXTS - 1).bounding_box()
    assert box is not None
    assert last is not None
    assert last["y"] >= box["y"] + box["height"] - 1
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/list-phone.png")


def test_a_list_of_fifty_by_keyboard_alone_survives_a_reload(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    begin(page, live_server, imported("persona_likely", [LIST]))
    expect(page.locator(".reply")).to_have_count(TEXTS)
    expect(page.get_by_text("Captain Hook").first).to_be_visible()
    assert "doctor" not in page.content()
    check(page, "list")
    page.set_viewport_size({"width": 360, "height": 740})
    for number in range(TEXTS - 1):
        page.keyboard.press("y1n0"[number % 4])
        expect(page.locator(".reply").nth(number + 1)).to_be_in_viewport(ratio=0.9)
        assert answered(page) == number + 1
    expect(page.get_by_text("Captain Hook")).to_be_in_viewport()
    check_nothing_is_covered(page)
    expect(page.locator("[data-part=saved]")).to_have_text("Saved")
    page.reload()
    assert answered(page) == TEXTS - 1
    page.get_by_role("button", name="Send my answers").click()  # one is missing
    expect(page.get_by_role("alert")).to_contain_text("Choose yes or no.")
    assert answered(page) == TEXTS - 1
    assert not Rating.objects.exists(), "a list counts when it is complete"
    page.locator(".reply input").nth(2 * TEXTS - 1).focus()
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Send my answers")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you").first).to_be_visible()
    assert Rating.objects.count() == TEXTS
    values = [
        rating.value
        for key in Assignment.objects.get().shown
        for rating in Rating.objects.filter(candidate__key=key)
    ]
    assert values == [int("1100"[n % 4]) for n in range(TEXTS - 1)] + [0]


PROMPTS = [
    {
        "id": f"p{n}",
        "messages": ["The city councilmen refused the demonstrators a permit because ?"],
        "dataset": "WSCG",
        "replies": {f"model{k}": f"they had reason {k} to fear {n}." for k in range(9)},
    }
    for n in range(1)
]


def test_nine_explanations_are_ranked_by_keyboard(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    begin(page, live_server, imported("explanation_ranking", PROMPTS))
    expect(page.locator(".reply")).to_have_count(9)
    check(page, "ranking")
    for position in range(9, 0, -1):  # each digit goes to the first that has no position
        page.locator(".question:not(:has(:checked)) input").first.focus()
        page.keyboard.press(str(position))
    check(page, "ranked")
    page.get_by_role("button", name="Send my answers").press("Enter")
    expect(page.get_by_text("Thank you").first).to_be_visible()
    assert sorted(Rating.objects.values_list("value", flat=True)) == list(range(1, 10))


def test_five_sliders_are_moved_by_keyboard(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    rows = [{**PROMPTS[0], "replies": {"original": "they feared violence."}}]
    begin(page, live_server, imported("explanation_rating", rows))
    sliders = page.get_by_role("slider")
    expect(sliders).to_have_count(5)
    check(page, "sliders")
    page.get_by_role("button", name="Send my answers").click()
    expect(page.get_by_role("alert").get_by_role("link")).to_have_count(5)
    for number in range(5):
        sliders.nth(number).focus()
        page.keyboard.press("End")
        for _ in range(number):
            page.keyboard.press("ArrowLeft")
    check(page, "slid")
    page.get_by_role("button", name="Send my answers").press("Enter")
    expect(page.get_by_text("Thank you").first).to_be_visible()
    values = Rating.objects.order_by("value").values_list("value", flat=True)
    assert list(values) == [0.96, 0.97, 0.98, 0.99, 1]


def test_perceived_sentiment_is_chosen_by_a_digit(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    reply = {"text": "What a wonderful day!", "intended": "positive"}
    rows = [{"id": "u", "messages": ["It is sunny."], "replies": {"model": reply}}]
    begin(page, live_server, imported("perceived_sentiment", rows))
    check(page, "sentiment")
    page.keyboard.press("2")
    page.get_by_role("button", name="Send my answers").press("Enter")
    expect(page.get_by_text("Thank you").first).to_be_visible()
    assert Rating.objects.get().value == "negative"
