"""A page as a person's browser has it: its forms, what can be chosen, its token."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

Attributes = dict[str, str]


@dataclass
class Form:
    """A form: where it goes, what it sends unasked, and what can be chosen."""

    action: str
    sent: dict[str, str] = field(default_factory=dict)
    options: dict[str, list[str]] = field(default_factory=dict)
    ticks: list[str] = field(default_factory=list)


@dataclass
class Page:
    """What of a page matters to somebody who fills it in."""

    forms: list[Form] = field(default_factory=list)
    token: str = ""
    talk: str = ""  # what the page calls its conversation
    marks: dict[str, str] = field(default_factory=dict)  # text, by data-part or id
    items: dict[str, list[str]] = field(default_factory=dict)  # the list items in such elements

    def form(self, ending: str) -> Form | None:
        """Return the form whose address ends so."""
        fitting = (form for form in self.forms if form.action.split("?")[0].endswith(ending))
        return next(fitting, None)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.form: Form | None = None
        self.open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta" and given.get("name") == "csrf-token":
            self.page.token = given.get("content", "")
        if "data-frames" in given:
            self.page.talk = given["data-frames"].rpartition("?talk=")[2]
        if tag == "form":
            self.form = Form(given.get("action", ""))
            self.page.forms.append(self.form)
        elif tag == "input" and self.form is not None:
            _take(self.form, given)
        if tag not in VOID:
            self.open.append((tag, given.get("data-part") or given.get("id", "")))
            self._start(tag)

    def _start(self, tag: str) -> None:
        for mark in self._marks():
            self.page.marks.setdefault(mark, "")
            if tag == "li":
                self.page.items.setdefault(mark, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        while self.open and tag in [name for name, _ in self.open]:
            if self.open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        in_item = any(tag == "li" for tag, _ in self.open)
        for mark in self._marks():
            self.page.marks[mark] += data
            if in_item and mark in self.page.items:
                self.page.items[mark][-1] += data

    def _marks(self) -> list[str]:
        return [mark for _, mark in self.open if mark]


VOID = {"input", "meta", "link", "br", "img", "hr", "source", "area", "col", "wbr"}


def _take(form: Form, given: Attributes) -> None:
    name, kind = given.get("name", ""), given.get("type", "text")
    if not name:
        return
    if kind == "radio":
        form.options.setdefault(name, []).append(given.get("value", "on"))
    elif kind == "checkbox":
        form.ticks.append(name)
    else:
        form.sent[name] = given.get("value", "")


def read(html: str) -> Page:
    """Return what matters of a page."""
    reader = _Reader()
    reader.feed(html)
    return reader.page
