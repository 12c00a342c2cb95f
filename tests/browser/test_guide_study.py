"""A study of three own questions, instructions and a quiz, built by the words of the guide alone.

`docs/own_protocol.md` names every label that is used here. What it takes is counted and printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.serialized import from_json
from tests.browser.test_staff_pages import refused, sign_in
from webapp.models import OwnProtocol

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
GUIDE = Path(__file__).parents[2] / "docs" / "own_protocol.md"
MOST_CLICKS, MOST_FIELDS = 20, 40


class Requester:
    """Somebody who clicks and fills in by label, and is counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.counts: Counter[str] = Counter()
        self.words: set[str] = set()

    def click(self, name: str, role: str = "button") -> None:
        self.counts["clicks"] += 1
        self.words.add(name)
        self.page.get_by_role(role, name=name, exact=True).click()  # type: ignore[arg-type]

    def fill(self, label: str, value: str) -> None:
        """Fill in the last field of this label: that of the question added last."""
        self.counts["fields"] += 1
        found = self._last(label)
        if found.evaluate("each => each.tagName") == "SELECT":
            found.select_option(label=value)
        else:
            found.fill(value)

    def _last(self, label: str) -> Locator:
        return self.page.get_by_label(label, exact=True).last

    def ask(self, kind: str, text: str) -> None:
        self.fill("Kind", kind)
        self.click("Add a question")
        self.fill("Question", text)


def build(page: Page) -> Requester:
    """Build the study as the guide tells it."""
    someone = Requester(page)
    someone.click("Your protocols", "link")
    someone.click("Start from blank", "link")
    someone.fill("Title", "Which reply is kinder?")
    someone.fill("Instructions, one per line", "Read both replies first.\nThen judge each of them.")
    someone.fill("What participants do", "They judge replies to contexts that you import")
    someone.click("Show its fields")
    someone.fill("Replies to a context are shown", "in pairs, side by side")
    someone.ask("Slider", "How kind is the reply?")
    someone.ask("Choice", "How does it end?")
    someone.fill("Options, one per line", "open | With a question\nclosed | With a statement")
    someone.fill("Short name, for the data", "ending")
    someone.ask("Free text", "Why did it matter?")
    someone.ask("Preference", "Which reply is kinder?")
    someone.fill("When it is asked", "Once about all replies that are shown together")
    someone.ask("Yes or no", "Do you judge one reply only?")
    someone.fill("When it is asked", "About the instructions, in a quiz before the work")
    someone.click("Show its fields")
    someone.fill("Answers that pass, as stored, separated by commas", "0")
    someone.fill("Explanation for who was wrong", "There are two replies on every page.")
    someone.click("Save")
    return someone


def test_the_guide_alone_leads_to_a_study(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    sign_in(page, live_server)
    began = time.monotonic()
    someone = build(page)
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    took = time.monotonic() - began
    protocol = from_json(OwnProtocol.objects.get().content)
    assert protocol.quiz is not None
    assert protocol.after is not None
    assert protocol.after.show == "pairs"
    assert [one.kind for one in protocol.after.each] == ["slider", "choice", "free_text"]
    assert [one.kind for one in protocol.after.together] == ["preference"]
    assert protocol.instructions[0] == "Read both replies first."
    counts = someone.counts
    print(f"{counts['clicks']} clicks, {counts['fields']} fields, {took:.0f} s by a browser")
    assert (counts["clicks"] <= MOST_CLICKS, counts["fields"] <= MOST_FIELDS) == (True, True)
    bold = set(re.findall(r"\*\*(.+?)\*\*", GUIDE.read_text(encoding="utf-8")))
    assert someone.words <= bold, "the guide names every button"
    someone.click("Your protocols", "link")
    page.get_by_role("link", name="Use in a new campaign").click()
    expect(page.get_by_role("button", name="Save as a draft")).to_be_visible()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_study_of_the_guide_is_launched_simulated_and_reported(
    page: Page, live_server: LiveServer, refused: list[str], tmp_path: Path
) -> None:
    """Its file goes through a campaign's pages; three planted qualities come back in order."""
    sign_in(page, live_server)
    build(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as a file").click()
    file = tmp_path / "guide.json"
    download.value.save_as(file)
    command = [sys.executable, "-m", "tests.simulate", str(file), "--short", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.stdout.splitlines()[-1] == "1 of 1 recovered.", done.stdout + done.stderr
    assert "alpha > beta > gamma" in done.stdout
