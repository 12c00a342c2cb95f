"""Questions before the work, and characters with a topic, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, PHONE, Visitor, Visitors

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def agree(visitor: Visitor, name: str) -> Page:
    page = visitor.enter(name)
    visitor.check(f"{name}-entry")
    press(page, "I agree and take part")
    return page


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_screening_and_a_quiz_lead_to_the_conversation(
    visitors: Visitors, size: tuple[int, int]
) -> None:
    visitor = visitors(size)
    page = agree(visitor, "checked")
    expect(page.get_by_role("heading", level=1)).to_have_text("About you")
    visitor.check("screening")
    press(page, "Continue")
    expect(page.get_by_role("alert")).to_contain_text("Please look at these again")
    page.get_by_label("Yes").check()
    press(page, "Continue")
    press(page, "I am ready, start")
    page.get_by_label("A pet").check()
    page.keyboard.press("Tab")
    page.get_by_label("No", exact=True).check()
    press(page, "Continue")
    expect(page.get_by_role("status").first).to_contain_text("This is your last try")
    expect(page.get_by_label("A pet")).to_be_checked()
    visitor.check("quiz")
    page.reload()
    page.get_by_label("A bot").check()
    press(page, "Continue")
    expect(page.get_by_label("Your message")).to_be_visible()


def test_who_is_screened_out_is_thanked_and_paid(visitors: Visitors) -> None:
    visitor = visitors(PHONE)
    page = agree(visitor, "checked")
    page.get_by_label("No", exact=True).check()
    press(page, "Continue")
    expect(page.get_by_role("heading", level=1)).to_have_text("The study is for other people")
    expect(page.get_by_text("You are paid 0.20 USD")).to_be_visible()
    visitor.check("screened-out")


def test_two_characters_see_each_others_names_and_one_topic(visitors: Visitors) -> None:
    people = [visitors(PHONE), visitors(DESK)]
    for one in people:
        page = agree(one, "play")
        page.get_by_label("Yes").check()
        page.get_by_label("More than ten").check()
        press(page, "Continue")
        expect(page.get_by_text("You are this character")).to_be_visible()
        press(page, "I am ready, start")
    for one in people:
        one.page.get_by_role("button", name="I am here").click()
    for one in people:
        expect(one.page.get_by_label("Your message")).to_be_visible()
        expect(one.page.get_by_text("Your partner is this character:")).to_be_visible()
        one.check("role-play")
    topics = [one.page.locator("[data-part=topic]").inner_text() for one in people]
    assert topics[0] == topics[1]
    names = [one.page.locator("[data-part=persona] p").inner_text() for one in people]
    assert sorted(names) == ["Marta", "Oskar"]
