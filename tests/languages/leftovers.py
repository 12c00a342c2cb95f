"""English that is left on a page in Arabic, besides what is marked as somebody's own words."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from tests.languages.untranslated import SHOWN

LATIN = re.compile(r"[A-Za-z]{2,}")
NAMES = {"USD", "JavaScript", "Parley"}
VOID = {"br", "hr", "img", "input", "link", "meta"}


class _Page(HTMLParser):
    """Collects the words of a page that are not marked as English, nor people's own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.skipped: list[str] = []  # open elements, from the first that is not looked at
        self.script = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        is_marked = tag != "html" and "lang" in about
        if not self.skipped and not is_marked:
            self.found += [value for name, value in attrs if name in SHOWN and value]
        self.script = about.get("type") or "code" if tag == "script" else ""
        is_own = (
            tag in ("bdi", "style") or about.get("dir") == "auto" or about.get("class") == "code"
        )
        if tag not in VOID and (self.skipped or is_marked or is_own):
            self.skipped.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.script = ""
        if self.skipped:
            self.skipped.pop()

    def handle_data(self, data: str) -> None:
        if self.script == "application/json":
            self.found += _words(json.loads(data))
        elif not self.skipped and not self.script:
            self.found.append(data)


def _words(data: dict[str, object]) -> list[str]:
    """Return the words that a page hands to its script."""
    words = data.get("words", data if "here" in data else {})
    assert isinstance(words, dict)
    return [re.sub(r"\{\w+\}", "", str(word)) for word in words.values()]


def left_over(html: str) -> list[str]:
    """Return the texts with English words, each with what stands around them."""
    page = _Page()
    page.feed(html)
    return [text.strip() for text in page.found if {*LATIN.findall(text)} - NAMES]
