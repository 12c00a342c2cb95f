"""The wire between the suite and a server: browsers, their sockets, and who may meddle with both.

A `Meddler` stands on the wire as a proxy would: it changes what the server sends, and what is
sent to it, so that a server that breaks one rule can be shown to each rule.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any
from uuid import uuid4

import httpx
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from webapp.crowd.page import BrowserPage, PageForm, read

Frame = dict[str, Any]


class Broken(AssertionError):
    """A rule that the server does not keep."""


def expect(holds: object, text: str) -> None:
    if not holds:
        raise Broken(text)


@dataclass
class Meddler:
    """Changes on the wire; by default none."""

    sends: Callable[[Frame], list[Frame]] = lambda frame: [frame]  # the server
    gets: Callable[[Frame], list[Frame]] = lambda frame: [frame]
    closes: Callable[[int], int] = lambda code: code
    opens: bool = False  # whether a refused socket seems to open
    answers: Callable[[str, httpx.Response], httpx.Response] = lambda request, answer: answer


@dataclass
class Site:
    """A campaign on a server, and the people whom the suite brings."""

    link: str
    meddler: Meddler = field(default_factory=Meddler)
    patience: float = 10.0
    browsers: list[Browser] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.link.partition("/c/")[0]

    @property
    def slug(self) -> str:
        return self.link.rstrip("/").rpartition("/")[2]

    @property
    def path(self) -> str:
        return f"/c/{self.slug}/"

    def browser(self) -> Browser:
        self.browsers.append(Browser(self))
        return self.browsers[-1]

    def close(self) -> None:
        for browser in self.browsers:
            browser.close()

    def joined(self) -> Browser:
        """Return a browser of somebody new who has agreed."""
        browser = self.browser()
        browser.agree()
        return browser

    def chatting(self) -> Browser:
        """Return a browser of somebody new whose conversation is open."""
        browser = self.joined()
        browser.begin()
        return browser

    def pair(self) -> tuple[Browser, Browser]:
        """Return two browsers whose people chat with each other."""
        first, second = self.joined(), self.joined()
        for each in (first, second):
            each.press("/start")
        for each in (first, second):
            each.reach("MATCHED")
            each.press("/meet")
        for each in (first, second):
            each.reach("CHATTING")
        return first, second

    def until(self, done: Callable[[], Any], text: str) -> Any:
        end = time.monotonic() + self.patience
        while not (found := done()):
            expect(time.monotonic() < end, f"in {self.patience} s not: {text}")
            time.sleep(0.05)
        return found


@cache
def tls() -> ssl.SSLContext:
    """What a browser trusts, read once: it takes 40 ms."""
    return httpx.create_ssl_context(trust_env=False)


class Browser:
    """One browser: cookies, requests, and tabs."""

    def __init__(self, site: Site) -> None:
        self.site, self.name = site, f"suite-{uuid4().hex[:12]}"
        self.http = httpx.Client(base_url=site.base, timeout=20, trust_env=False, verify=tls())
        self.tabs: list[Tab] = []

    def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        answer = self.http.request(method, path, **how)
        return self.site.meddler.answers(f"{method} {path.partition('?')[0]}", answer)

    def page(self, path: str = "now") -> BrowserPage:
        return read(self.http.get(self.site.path + path, follow_redirects=True).text)

    def send(self, form: PageForm) -> httpx.Response:
        return self.ask("POST", form.action, data=form.sent)

    def consent_form(self) -> PageForm:
        form = self.page(f"?id={self.name}").form("/consent")
        expect(form, "the entry page has a form of the consent")
        assert form is not None
        return form

    def agree(self) -> httpx.Response:
        return self.send(self.consent_form())

    def press(self, ending: str) -> None:
        if form := self.page().form(ending):
            self.send(form)

    def begin(self) -> None:
        self.press("/start")
        self.reach("CHATTING")

    def step(self) -> Frame:
        answer = self.ask("GET", f"{self.site.path}status?version=2")
        expect(answer.status_code == 200, f"status: {answer.status_code}")
        found: Frame = answer.json()
        return found

    def reach(self, state: str) -> None:
        self.site.until(lambda: self.step()["state"] == state, state)

    @cached_property
    def chat(self) -> BrowserPage:
        return self.page()

    @property
    def cookies(self) -> str:
        return "; ".join(f"{each.name}={each.value}" for each in self.http.cookies.jar)

    def address(self, name: str, query: str = "version=2") -> str:
        return f"{self.site.path}{name}?conversation={self.chat.key}&{query}"

    def frames(self, frame: Any = None, query: str = "version=2", after: int = 0) -> httpx.Response:
        """Do over plain HTTP what a socket does."""
        address = self.address("frames", query)
        headers = {"X-Tab": "http", "Accept": "application/json"}
        if frame is None:
            return self.ask("GET", f"{address}&after={after}", headers=headers)
        headers["X-CSRFToken"] = self.chat.token
        return self.ask("POST", address, headers=headers, content=json.dumps(frame))

    def tab(self, **changes: Any) -> Tab:
        tab = Tab(self, **changes)
        self.tabs.append(tab)
        return tab

    def greeted(self, last_seq: int = 0) -> Tab:
        tab = self.tab()
        tab.hello(last_seq)
        return tab

    def close(self) -> None:
        for tab in self.tabs:
            tab.close()
        self.http.close()


class Tab:
    """One socket of a browser; keeps the frames that came."""

    def __init__(
        self, browser: Browser, *, query: str = "version=2", origin: str = "", cookie: str = ""
    ) -> None:
        site = browser.site
        self.site, self.name, self.meddler = site, uuid4().hex[:8], site.meddler
        self.came: list[Frame] = []
        self.waiting: list[Frame] = []  # that came, and was not read yet
        address = site.base.replace("http", "ws", 1) + browser.address("socket", query)
        options: dict[str, Any] = {"compression": None, "ping_interval": None, "proxy": None}
        options["origin"] = origin or site.base
        options["additional_headers"] = {"Cookie": cookie or browser.cookies}
        self.code: int | None = None
        self.socket: ClientConnection | None = None
        self.open = ExitStack()
        try:
            self.socket = self.open.enter_context(connect(address, close_timeout=0.5, **options))
        except InvalidStatus:
            self.code = 0 if self.meddler.opens else 1008  # closed before it was accepted

    def send(self, **frame: Any) -> str:
        """Send a frame; an item without an id gets one, which is returned."""
        if frame["type"] in ("message", "label", "finish", "retry", "give_up"):
            frame.setdefault("id", str(uuid4()))
        for each in self.meddler.gets(frame):
            self.raw(json.dumps(each))
        return str(frame.get("id", ""))

    def raw(self, text: str | bytes) -> None:
        assert self.socket is not None
        self.socket.send(text)

    def read(self, seconds: float) -> Frame | None:
        """Return the next frame; None where the socket has closed. Raises `TimeoutError`."""
        assert self.socket is not None
        if not self.waiting:
            try:
                came = json.loads(self.socket.recv(timeout=seconds))
            except ConnectionClosed as closed:
                self.code = self.meddler.closes(closed.rcvd.code if closed.rcvd else 1006)
                return None
            self.waiting = self.meddler.sends(came)
            if not self.waiting:
                return {"type": "nothing"}
        frame = self.waiting.pop(0)
        self.came.append(frame)
        return frame

    def until(self, found: Callable[[Frame], bool], text: str) -> Frame:
        """Read until a frame is found; returns it."""
        end = time.monotonic() + self.site.patience
        while True:
            try:
                frame = self.read(max(0.01, end - time.monotonic()))
            except TimeoutError:
                raise Broken(f"in {self.site.patience} s there came no {text}") from None
            if frame is None:
                raise Broken(f"closed by {self.code} before there came {text}")
            if found(frame):
                return frame
            expect(time.monotonic() < end, f"in {self.site.patience} s there came no {text}")

    def kind(self, *types: str) -> Frame:
        return self.until(lambda frame: frame["type"] in types, " or ".join(types))

    def hello(self, last_seq: int = 0) -> list[Frame]:
        """Say hello and return the replay."""
        before = len(self.came)
        self.send(type="hello", last_seq=last_seq, tab=self.name)
        self.kind("ready")
        return self.came[before:]

    def sync(self, last_seq: int = 0) -> list[Frame]:
        """Ask for a replay and return its entries; one that came besides counts once."""
        before = len(self.came)
        self.send(type="sync", last_seq=last_seq)
        self.kind("ready")
        entries = [each for each in self.came[before:] if each["type"] == "event"]
        return [each for number, each in enumerate(entries) if each not in entries[:number]]

    def item(self, **frame: Any) -> Frame:
        """Send an item and return its answer."""
        name = self.send(**frame)
        return self.until(
            lambda each: each["type"] in ("ack", "refused") and each["id"] == name,
            f"an answer to {frame['type']}",
        )

    def closed(self) -> int:
        """Read until the socket has closed; returns the code."""
        end = time.monotonic() + self.site.patience
        while self.code is None:
            expect(time.monotonic() < end, "the socket stays open")
            try:
                self.read(max(0.01, end - time.monotonic()))
            except TimeoutError:
                raise Broken("the socket stays open") from None
        return self.code

    def close(self) -> None:
        self.open.close()
