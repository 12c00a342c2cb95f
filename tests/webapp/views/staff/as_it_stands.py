"""Forms as a browser sends them when Enter is pressed: what the page was filled in with."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client


@dataclass
class StandingForm:
    """A form that stores something; `typed` are the fields in which a person writes."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)


class _Forms(HTMLParser):
    """Each form of a page; a browser takes line breaks out of what stands in one line."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[StandingForm] = []
        self._select = self._text = ""
        self._is_open = self._has_button = False
        self.feed(html)

    @property
    def _fields(self) -> dict[str, str]:
        return self.forms[-1].fields

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: value or "" for name, value in attrs}
        name = have.get("name", "")
        if tag == "form":
            self._is_open = have.get("method") == "post"
            self.forms += [StandingForm(have.get("action", ""))] if self._is_open else []
            self._has_button = False
        elif not self._is_open:
            return
        elif tag == "textarea" and name:
            self._fields[name], self._text = "", name
            self.forms[-1].typed |= {name} if "hidden" not in have else set()
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in self._fields or "selected" in have):
            self._fields[self._select] = have["value"]
        elif tag == "input" and name:
            self._input(name, have)
        elif tag == "button" and not self._has_button:
            self._has_button = True
            self._fields.update({name: have.get("value", "")} if name else {})

    def _input(self, name: str, have: dict[str, str]) -> None:
        kind = have.get("type", "text")
        if kind not in ("checkbox", "radio"):
            self._fields[name] = "".join(have.get("value", "").splitlines())
            self.forms[-1].typed |= {name} if kind not in ("hidden", "password", "file") else set()
        elif "checked" in have:
            self._fields[name] = have.get("value", "on")

    def handle_data(self, data: str) -> None:
        if self._text:
            self._fields[self._text] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text:
            text = self._fields[self._text].removeprefix("\n")
            self._fields[self._text], self._text = "\r\n".join(text.split("\n")), ""
        elif tag == "form":
            self._is_open = False


def forms(response: Any) -> list[StandingForm]:
    """Return the forms of a page that store something; of anything else there are none."""
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    return _Forms(response.content.decode()).forms if is_page else []


def sent(response: Any, having: str = "basis") -> dict[str, str]:
    """Return what a browser sends of the page's form that has such a field."""
    return next(form.fields for form in forms(response) if having in form.fields)


def opened(client: Client, address: str, having: str = "basis") -> dict[str, str]:
    """Open a page and return what its form would send."""
    return sent(client.get(address), having)
