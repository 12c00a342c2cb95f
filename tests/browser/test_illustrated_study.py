"""A study with images, a sheet for each side and a rule for messages, by pages alone.

Built, previewed, launched and taken on a phone and at a desk, on a real server with its workers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import DESK, PHONE, Site, Visitor, Visitors
from tests.browser.looks import check_axe
from tests.live import ROOT
from tests.webapp.services.campaign.test_image_bytes import drawn, with_place

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
RULE = "A message has at most so many words"
EXAMPLES = "Aye, captain! | the best point | Every word was of the sea.\nHello. | the worst point"
SHOWS = "Red stands for the captain, blue for the cook."


def folded(page: Page, title: str) -> Locator:
    """Open a fold of the builder and return it."""
    fold = page.locator("details.fold", has=page.locator("summary", has_text=title)).first
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return fold


@pytest.fixture
def staff(browser: Browser, site: Site) -> Iterator[Page]:
    """Somebody of staff, signed in at a desk."""
    command = [sys.executable, "manage.py", "staff", "illustrator", "--generate"]
    env: Any = site.server.env
    told = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    context = browser.new_context(
        viewport={"width": DESK[0], "height": DESK[1]}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"http://{site.server.host}/login/")
    page.get_by_label("Name").fill("illustrator")
    page.get_by_label("Password").fill(told.stdout.split()[-1])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/campaigns/")
    yield page
    context.close()


def upload(page: Page, content: bytes, name: str) -> None:
    file: Any = {"name": name, "mimeType": "image/png", "buffer": content}
    page.get_by_label("One more image").set_input_files(file)
    page.get_by_role("button", name="Add the image").click()


def look(page: Page, name: str) -> None:
    """Look at a page of staff as wide as phone and desk."""
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        check_axe(page, name)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)


def build(page: Page) -> None:
    begin(page)
    illustrate(page)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()


def begin(page: Page) -> None:
    page.get_by_role("link", name="Your protocols").click()
    page.get_by_role("link", name="Start from blank").click()
    page.get_by_label("Title").fill("Aboard")
    page.get_by_label("Minimum messages").fill("2")
    page.get_by_label("Split that personas").fill("test")
    brief = folded(page, "A sheet for each side")
    brief.get_by_label("Heading of the own sheet").fill("You play")
    brief.get_by_label("Heading of what is told").fill("Your partner plays")
    brief.get_by_label("Topics, one per line").fill("the weather at sea")
    rules = folded(page, "Rules for what participants write")
    rules.get_by_label(RULE, exact=True).check()
    rules.get_by_label("Maximum words per message").fill("5")
    page.get_by_label("Kind", exact=True).select_option("likert")
    page.get_by_role("button", name="Add a question").click()
    page.locator("[id='id_q1.text']").fill("How well was the role played?")
    page.locator("[id='id_q1.examples']").fill(EXAMPLES)


def illustrate(page: Page) -> None:
    """Upload a file that is refused, then an image for the instructions and one for a question."""
    upload(page, b"<svg/>", "scale.svg")
    expect(page.get_by_role("alert")).to_contain_text("is no PNG, JPEG or WebP image")
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Title")).to_have_value("Aboard")
    expect(folded(page, "Rules for what participants").get_by_label(RULE)).to_be_checked()
    look(page, "builder-image-refused")
    upload(page, drawn(size=(900, 300)), "captain.png")
    page.get_by_label("What image 1 shows").fill(SHOWS)
    upload(page, with_place("JPEG"), "scale.jpg")
    page.get_by_label("What image 2 shows").fill("Red is good.")
    page.get_by_label("Where image 2 stands").select_option("q1")
    upload(page, drawn(size=(300, 200)), "hello.png")
    page.get_by_label("What image 3 shows").fill("Nobody is at the wheel.")
    stands = page.get_by_label("Where image 3 stands")
    stands.select_option(label="within the example “Hello. | the worst point” of question 1")
    page.get_by_role("button", name="Show the sample").click()
    expect(page.locator(".protocol-image")).to_have_count(3)
    expect(page.get_by_role("img", name=SHOWS)).to_be_visible()
    look(page, "builder-images")


def launch(page: Page) -> str:
    """Make a campaign of it, and return its link."""
    page.get_by_role("link", name="Use in a new campaign").click()
    page.get_by_label("Name").fill("Aboard")
    page.get_by_label("Pay", exact=True).fill("2.00")
    page.get_by_label("Contact").fill("lab@example.org")
    page.get_by_role("button", name="Save as a draft").click()
    page.get_by_role("link", name="Choose a system").click()
    page.get_by_role("link", name="parrot", exact=True).click()
    page.get_by_label("Participations wanted").fill("4")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("link", name="Personas").first.click()
    page.get_by_role("button", name="Preview the built-in ones").click()
    page.get_by_role("button", name="Import").click()
    page.get_by_role("link", name="Preview", exact=True).click()
    page.get_by_role("link", name="Instructions").click()
    framed = page.frame_locator("iframe").first
    expect(framed.get_by_role("img", name=SHOWS)).to_be_visible()
    page.go_back()
    page.go_back()
    page.get_by_role("button", name="Rehearse parrot").click()
    page.get_by_role("link", name="Look at the plan and launch").click(timeout=60_000)
    look(page, "plan-illustrated")
    page.get_by_role("button", name="Freeze the plan and open").click()
    page.get_by_role("link", name="Live").click()
    return str(page.locator("#start-link").text_content()).strip()


def take(visitor: Visitor, link: str) -> None:
    page = visitor.page
    page.goto(f"{link}?PROLIFIC_PID=aboard{visitor.look}")
    page.get_by_role("button", name="I agree and take part").click()
    image = page.get_by_role("img", name=SHOWS)
    expect(image).to_be_visible()
    page.wait_for_load_state("load")
    assert image.evaluate("each => each.naturalWidth") == 900
    visitor.check("illustrated-ready")
    page.get_by_role("button", name="I am ready, start").click()
    expect(page.get_by_text("You play")).to_be_visible()
    expect(page.get_by_text("the weather at sea")).to_be_visible()
    box = page.get_by_label("Your message")
    box.fill("one two three four five six")
    expect(page.get_by_text("6 of at most 5 words")).to_be_visible()
    box.press("Enter")
    expect(page.get_by_text("Please use at most 5 words; this message has 6.")).to_be_visible()
    visitor.check("illustrated-chat")
    visitor.send_message("one two three four five")
    expect(page.locator(".msg-partner")).to_have_count(1)
    page.get_by_role("button", name="Finish the conversation").click()
    page.locator("details.examples summary").click()
    expect(page.get_by_role("img", name="Red is good.")).to_be_visible()
    example = page.get_by_role("listitem").filter(has_text="the worst point")
    inside = example.get_by_role("img", name="Nobody is at the wheel.")
    expect(inside).to_be_visible()
    assert inside.evaluate("each => each.naturalWidth") == 300
    visitor.check("illustrated-rate")
    page.get_by_role("radio").nth(3).check()
    page.get_by_role("button", name="Send my answers").click()
    expect(page.locator("#code")).to_be_visible()


def test_a_study_with_images_sheets_and_a_rule_is_built_and_taken(
    staff: Page, visitors: Visitors
) -> None:
    build(staff)
    link = launch(staff)
    for size in (PHONE, DESK):
        take(visitors(size), link)
