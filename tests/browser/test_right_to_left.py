"""A study in Arabic, from consent to the code: on a phone in the light, on a desk in the dark."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, PHONE, Visitor
from tests.languages.leftovers import left_over

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def look(visitor: Visitor, name: str) -> None:
    """No barrier, nothing wider than the window, no English of ours, and read from the right."""
    visitor.check(f"arabic-{name}")
    page = visitor.page
    assert page.evaluate("document.documentElement.dir") == "rtl"
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    assert left_over(page.content()) == []


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


@pytest.mark.parametrize(("size", "theme"), [(PHONE, "light"), (DESK, "dark")])
def test_a_study_in_arabic(visitors: Any, size: tuple[int, int], theme: str) -> None:
    visitor = visitors(size, theme, "ar")
    page = visitor.enter("arabic")
    look(visitor, "entry")
    press(page, "أوافق وأشارك")
    look(visitor, "ready")
    press(page, "أنا جاهز، ابدأ")
    for number in (1, 2):
        page.get_by_label("رسالتك").fill("مرحبا، كيف حالك؟")
        press(page, "إرسال")
        expect(page.locator(".msg-partner")).to_have_count(number)
    expect(page.locator("[data-part=count]")).to_have_text("الرسائل: 4، وهذا يكفي للإنهاء")
    look(visitor, "chat")
    own = page.locator(".msg-you").first.bounding_box()
    other = page.locator(".msg-partner").first.bounding_box()
    assert own is not None
    assert other is not None
    assert own["x"] < other["x"] + other["width"] - own["width"] + 1, "one's own are on the left"
    press(page, "إنهاء المحادثة")
    expect(page.get_by_role("heading", level=1)).to_have_text("كيف كان شريكك؟")
    look(visitor, "rate")
    press(page, "إرسال إجاباتي")
    expect(page.get_by_role("alert")).to_contain_text("اختر أحد الخيارات")
    look(visitor, "missing")
    for question in page.locator(".question").all():
        question.locator("input").first.check()
    press(page, "إرسال إجاباتي")
    expect(page.get_by_role("heading", level=1)).to_have_text("لقد انتهيت")
    look(visitor, "ended")
    press(page, "English")
    expect(page.get_by_role("heading", level=1)).to_have_text("You are done")
    assert page.evaluate("document.documentElement.dir") == "ltr"
