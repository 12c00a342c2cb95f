"""A reply that is seen to grow on the page before it is a message, and read out once (G14, G22)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import expect

from tests.bots.chat_completions import END, Fake, running
from tests.browser.conftest import Site, Visitors
from tests.live import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake


@pytest.fixture
def site(tmp_path: Path, fake: Fake) -> Iterator[Site]:
    """A server of one campaign, whose system streams."""
    options = {"url": fake.url, "model": "streams", "stream": True, "reasoning_ends": ""}
    wanted = {"bot": "chat_server", "options": options, "people": 0}
    wanted["changes"] = {"chat.streams": True}
    allowed = {"BOT_PRIVATE_HOSTS": f"127.0.0.1:{fake.port}"}
    with serving(tmp_path, wanted, **allowed) as (server, study):
        yield Site(server, {"streamed": study.slug})


def stored(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "parley.sqlite3")) as database:
        return "\n".join(database.iterdump())


def test_the_text_grows_before_it_is_stored_and_is_one_message_then(
    visitors: Visitors, fake: Fake, tmp_path: Path
) -> None:
    fake.pieces = ["Marmalade ", "and toast, ", "as a rule.", *END]
    fake.waits = {number: Event() for number in (1, 2, 3)}
    visitor = visitors()
    page = visitor.begin("streamed")
    visitor.send_message("What do you eat in the morning?")
    growing = page.locator(".msg-partial .msg-text")
    expect(growing).to_have_text("Marmalade ")
    fake.waits[1].set()
    expect(growing).to_have_text("Marmalade and toast, ")
    heard = page.get_by_role("log").get_by_role("article")  # what assistive technology has
    expect(heard).to_have_count(1)
    visitor.check("streamed")
    assert "armalade" not in stored(tmp_path)
    page.reload()
    expect(page.get_by_text("What do you eat in the morning?")).to_be_visible()
    fake.waits[2].set()
    expect(growing).to_have_text("Marmalade and toast, as a rule.")
    fake.waits[3].set()
    expect(heard).to_have_count(2)
    expect(page.locator(".msg-partial")).to_have_count(0)
    expect(page.locator(".msg-partner .msg-text")).to_have_text("Marmalade and toast, as a rule.")
    expect(page.get_by_label("Your message")).to_be_enabled()
    assert "Marmalade and toast, as a rule." in stored(tmp_path)
