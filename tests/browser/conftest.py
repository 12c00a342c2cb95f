"""A real server with campaigns, and visitors whose every refusal by the policy is noted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.looks import check_axe
from tests.databases import kept, put_copy
from tests.live import ROOT, Server, environment

LISTEN = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`));"""
PHONE, DESK = (360, 740), (1280, 800)
_numbers = count(1)
expect.set_options(timeout=15_000)


@dataclass(frozen=True)
class Site:
    """The server's address, and the slugs of its campaigns."""

    server: Server
    slugs: dict[str, str]

    def address(self, name: str, rest: str = "") -> str:
        return f"http://{self.server.host}/c/{self.slugs[name]}/{rest}"


@dataclass
class Visitor:
    """Somebody at a browser of their own."""

    site: Site
    context: BrowserContext
    page: Page
    look: str  # width and theme, for the names of pictures
    problems: list[str] = field(default_factory=list)
    traffic: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("websocket", lambda socket: socket.on("framereceived", self._receive))
        page.on("request", lambda request: self.traffic.append(request.url))

    def _hear(self, message: ConsoleMessage) -> None:
        if "policy" in message.text.lower():
            self.problems.append(message.text)

    def _receive(self, payload: Any) -> None:
        self.traffic.append(str(payload))

    def enter(self, name: str, query: str | None = None) -> Page:
        """Open a campaign's link, as a new person unless a query says who."""
        query = f"?PROLIFIC_PID=visitor{next(_numbers)}" if query is None else query
        self.page.goto(self.site.address(name, query))
        return self.page

    def begin(self, name: str) -> Page:
        """Consent and start."""
        page = self.enter(name)
        page.get_by_role("button", name="I agree and take part").click()
        page.get_by_role("button", name="I am ready, start").click()
        return page

    def send_message(self, text: str) -> None:
        box = self.page.get_by_label("Your message")
        box.fill(text)
        expect(self.page.get_by_role("button", name="Send")).to_be_enabled()
        box.press("Enter")

    def check(self, picture: str = "", page: Page | None = None) -> None:
        """No barrier that axe knows, nothing wider than the window; take a picture if asked."""
        page = page or self.page
        page.wait_for_load_state("load")
        check_axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        folder = os.environ.get("SCREENSHOTS")
        if folder and picture:
            page.screenshot(path=Path(folder) / f"{picture}-{self.look}.png")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    env = environment(folder)
    migrate = [sys.executable, "manage.py", "migrate", "-v0"]
    file = folder / "parley.sqlite3"
    if not put_copy(file):
        with kept(file):
            subprocess.run(migrate, cwd=ROOT, env=env, check=True)
    command = [sys.executable, "-m", "tests.browser.seed"]
    told = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    server = Server(env)
    server.start()
    yield Site(server, json.loads(told.stdout.splitlines()[-1]))
    server.kill(signal.SIGTERM)


class Visitors:
    """Opens the door to as many as a test wants."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self.browser, self.site = browser, site
        self.here: list[Visitor] = []

    def __call__(
        self, size: tuple[int, int] = DESK, theme: Any = "light", language: str = "en-US"
    ) -> Visitor:
        """Open a browser; its language is said, since versions differ in what they send unasked."""
        width, height = size
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            locale=language,
            reduced_motion="reduce",
            has_touch=size == PHONE,
        )
        context.add_init_script(LISTEN)
        visitor = Visitor(self.site, context, context.new_page(), f"{width}-{theme}")
        visitor.watch(visitor.page)
        self.here.append(visitor)
        return visitor


@pytest.fixture
def visitors(browser: Browser, site: Site) -> Iterator[Visitors]:
    """Afterwards: no script failed, the policy refused nothing, and no system was named (S11)."""
    everybody = Visitors(browser, site)
    yield everybody
    for visitor in everybody.here:
        visitor.context.close()
        assert visitor.problems == []
        named = [text for text in visitor.traffic if re.search(r"parrot|alpha|beta", text)]
        assert named == []
