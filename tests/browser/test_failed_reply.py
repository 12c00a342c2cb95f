"""A reply that does not come: what can be done is shown, and the latest message stays in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.bots.chat_completions import Fake, running
from tests.browser.conftest import PHONE, Site, Visitors
from tests.browser.looks import wait_until
from tests.live import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
AT_END = """(() => { const log = document.querySelector('[role="log"]');
  return log.scrollHeight > log.clientHeight
    && log.scrollHeight - log.scrollTop - log.clientHeight < 2; })()"""


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake


@pytest.fixture
def site(tmp_path: Path, fake: Fake) -> Iterator[Site]:
    """A server of one campaign, whose system fails on some messages."""
    options = {"url": fake.url, "model": "fails on bad", "tries": 1}
    wanted: dict[str, Any] = {"bot": "chat_server", "options": options, "people": 0}
    with serving(tmp_path, wanted, BOT_PRIVATE_HOSTS=f"127.0.0.1:{fake.port}") as (server, study):
        yield Site(server, {"silent": study.slug})


def test_who_gets_no_answer_sees_their_message_and_is_paid(visitors: Visitors) -> None:
    visitor = visitors(PHONE)
    page = visitor.begin("silent")
    visitor.send_message("Do you like the sea?")
    expect(page.locator(".msg-partner")).to_have_count(1)
    visitor.send_message("Or is it a bad thing to you, with all that wind?")
    again = page.get_by_role("button", name="Try once more")
    expect(again).to_be_visible()
    wait_until(page, AT_END)
    visitor.check("no-answer")
    again.click()
    expect(again).to_be_hidden()
    wait_until(page, AT_END)
    page.get_by_role("button", name="Finish now, paid").click()
    expect(page.locator("#code")).to_be_visible()
