"""A form as a browser would send it: what the page was filled in with, nothing typed."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.test import Client


class _Forms(HTMLParser):
    """Each form of a page that stores something; a browser takes line breaks out of one line."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self._select = self._text = ""
        self._is_open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: value or "" for name, value in attrs}
        name = have.get("name", "")
        if tag == "form":
            self._is_open = have.get("method") == "post"
            self.forms += [{}] if self._is_open else []
        elif not self._is_open:
            return
        elif tag == "textarea" and name:
            self.forms[-1][name], self._text = "", name
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in self.forms[-1] or "selected" in have):
            self.forms[-1][self._select] = have["value"]
        elif tag == "input" and name:
            self._input(name, have)

    def _input(self, name: str, have: dict[str, str]) -> None:
        if have.get("type") not in ("checkbox", "radio"):
            self.forms[-1][name] = "".join(have.get("value", "").splitlines())
        elif "checked" in have:
            self.forms[-1][name] = have.get("value", "on")

    def handle_data(self, data: str) -> None:
        if self._text:
            self.forms[-1][self._text] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text:
            text = self.forms[-1][self._text].removeprefix("\n")
            self.forms[-1][self._text], self._text = "\r\n".join(text.split("\n")), ""
        elif tag == "form":
            self._is_open = False


def sent(response: Any, having: str = "basis") -> dict[str, str]:
    """Return what a browser sends of the page's form that has such a field."""
    forms = _Forms(response.content.decode()).forms
    return next(form for form in forms if having in form)


def opened(client: Client, address: str, having: str = "basis") -> dict[str, str]:
    """Open a page and return what its form would send."""
    return sent(client.get(address), having)
