"""A reply that is seen to grow on the page before it is a message, and read out once (G14, G22)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.bots.chat_completions import END, running
from tests.browser.conftest import Site, Visitors
from tests.live import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
WRITTEN = ("Marmalade ", "and toast, ", "as a rule.")


@dataclass
class Source:
    """A model whose pieces come one by one as they are let, and the system that it is."""

    let: Callable[[int], None]
    bot: str
    options: dict[str, Any]
    allowed: dict[str, str]


@contextmanager
def server() -> Iterator[Source]:
    """Give a chat server."""
    with running() as fake:
        fake.pieces = [*WRITTEN, *END]
        fake.waits = {number: Event() for number in (1, 2, 3)}
        options = {"url": fake.url, "model": "streams"}
        allowed = {"BOT_PRIVATE_HOSTS": f"127.0.0.1:{fake.port}"}
        yield Source(lambda piece: fake.waits[piece].set(), "chat_server", options, allowed)


@contextmanager
def function(folder: Path) -> Iterator[Source]:
    """Give an async function that yields."""
    (folder / "pieces").write_text(json.dumps(WRITTEN))
    options = {"function": "tests.bots.functions.written"}
    allowed = {"BOT_CALLABLES": options["function"], "PIECES": str(folder)}
    yield Source(lambda piece: (folder / str(piece)).touch(), "callable", options, allowed)


@pytest.fixture(params=["server", "function"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    is_server = request.param == "server"
    with server() if is_server else function(tmp_path_factory.mktemp("pieces")) as source:
        yield source


@pytest.fixture
def site(tmp_path: Path, source: Source) -> Iterator[Site]:
    """A server of one campaign, whose system streams."""
    options = {**source.options, "stream": True, "reasoning_ends": ""}
    wanted: dict[str, Any] = {"bot": source.bot, "options": options, "people": 0}
    wanted["changes"] = {"chat.streams": True}
    with serving(tmp_path, wanted, **source.allowed) as (server, study):
        yield Site(server, {"streamed": study.slug})


def stored(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "parley.sqlite3")) as database:
        return "\n".join(database.iterdump())


def test_the_text_grows_before_it_is_stored_and_is_one_message_then(
    visitors: Visitors, source: Source, tmp_path: Path
) -> None:
    visitor = visitors()
    page = visitor.begin("streamed")
    visitor.send_message("What do you eat in the morning?")
    growing = page.locator(".msg-partial .msg-text")
    expect(growing).to_have_text("Marmalade ")
    source.let(1)
    expect(growing).to_have_text("Marmalade and toast, ")
    heard = page.get_by_role("log").get_by_role("article")  # what assistive technology has
    expect(heard).to_have_count(1)
    visitor.check("streamed")
    assert "armalade" not in stored(tmp_path)
    page.reload()
    expect(page.get_by_text("What do you eat in the morning?")).to_be_visible()
    source.let(2)
    expect(growing).to_have_text("Marmalade and toast, as a rule.")
    source.let(3)
    expect(heard).to_have_count(2)
    expect(page.locator(".msg-partial")).to_have_count(0)
    expect(page.locator(".msg-partner .msg-text")).to_have_text("Marmalade and toast, as a rule.")
    expect(page.get_by_label("Your message")).to_be_enabled()
    assert "Marmalade and toast, as a rule." in stored(tmp_path)
