"""A place nobody has begun to use, as who waits for it sees it; words of a crisis (R40, S13)."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESK, PHONE, Visitors

pytestmark = pytest.mark.browser
HELP = "It sounds as if you are going through something very hard."


@pytest.mark.parametrize(("size", "theme"), [(PHONE, "light"), (DESK, "dark")])
def test_who_waits_sees_where_they_stand_and_begins_by_themselves(
    visitors: Visitors, size: tuple[int, int], theme: str
) -> None:
    holder, waiting = visitors(size, theme), visitors(size, theme)
    name = f"one place, {theme}"
    holder.begin(name)
    page = waiting.begin(name)
    expect(page.get_by_role("heading", name="One moment, please")).to_be_visible()
    expect(page.locator("[data-part=position]")).to_have_text("1")
    expect(page.locator("[data-part=left]")).to_contain_text("2:")  # of three minutes
    waiting.check("listed")
    page.reload()
    expect(page.locator("[data-part=position]")).to_have_text("1")

    told = holder.page.get_by_text("Others are waiting for a place in this study.")
    expect(told).to_contain_text("Time left: 2:", timeout=20_000)
    holder.check("unkept")

    holder.page.locator("summary", has_text="Stop").click()
    holder.page.get_by_role("button", name="Yes, stop here").click()
    expect(page.get_by_label("Your message")).to_be_visible()

    waiting.send_message("I want to die, to be honest.")
    expect(page.get_by_text(HELP)).to_be_visible()
    waiting.check("crisis")
    expect(page.locator(".msg-partner")).to_have_count(1)
    page.reload()
    expect(page.get_by_text(HELP)).to_have_count(1)
    waiting.send_message("But let us go on.")
    expect(page.locator(".msg-partner")).to_have_count(2)
    expect(page.get_by_text(HELP)).to_have_count(1)


def test_the_first_message_keeps_a_place_that_somebody_waits_for(visitors: Visitors) -> None:
    holder, waiting = visitors(), visitors(DESK)
    holder.begin("one place, kept")
    page = waiting.begin("one place, kept")
    expect(page.locator("[data-part=position]")).to_have_text("1")
    told = holder.page.locator("#unkept")
    expect(told).to_be_visible(timeout=20_000)
    holder.send_message("Hello, I am still reading.")
    expect(told).to_be_hidden(timeout=20_000)
    expect(page.get_by_role("heading", name="The study is full")).to_be_visible(timeout=20_000)
