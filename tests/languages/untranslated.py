"""Texts that go past gettext, in templates, modules and scripts of participants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from django.template.base import TextNode

from tests.languages.extraction import COUNTED, ONE, called, nodes, parsed
from tests.languages.sources import ROOT

GAP = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for what a template fills in
NAMES = ("Parley",)
SHOWN = ("alt", "aria-label", "aria-roledescription", "aria-valuetext", "placeholder", "title")
WORD = re.compile(r"[^\W\d_]{2,}")
PROSE = re.compile(r"[^\W\d_][\w,’'“”-]*( \S+)+[.!?:]")  # a sentence that people read
QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`")
COMMENT = re.compile(r"^\s*//.*$|\s//[^\"'`]*$", re.MULTILINE)
SPOKEN = re.compile(r"[A-Za-z’']{2,}( [A-Za-z’']{2,})+[.!?…]?|[A-Z][a-z]+[.!?…]")
ASSIGNED = re.compile(
    r"\b(?:textContent|innerText|innerHTML|title|placeholder)\s*=\s*[\"`](\w[^\"`]*)"
)
UNSEEN = ("setting", "Words", "ours", "getLogger")  # their texts are staff's, or the protocol's


class _Page(HTMLParser):
    """Collects what a page shows by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self.inside.append(tag)
        self.found += [value for name, value in attrs if name in SHOWN and value]
        # sentences for scripts
        self.found += [v for name, v in attrs if name.startswith("data-") and v and " " in v]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(data)


def in_template(path: Path) -> list[str]:
    """Return the texts that a template shows in English whatever the language."""
    page = _Page()
    parts = (n.s if isinstance(n, TextNode) else GAP for n in nodes(parsed(path).nodelist))
    page.feed("".join(parts))
    texts = (text.replace(GAP, " ").strip() for text in page.found)
    return [text for text in texts if WORD.search(text) and text not in NAMES]


def in_module(path: Path) -> list[str]:
    """Return the sentences of a module that are handed to no function that translates them."""
    if path.is_relative_to(ROOT / "evaluation"):
        return []  # its complaints are `Sentence`s by type, its other texts are the protocols'
    tree = ast.parse(path.read_text("utf-8"))
    fine = set(_not_shown(tree))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in fine
        and PROSE.fullmatch(node.value)
    ]


def _not_shown(tree: ast.AST) -> Iterator[int]:
    """Yield constants that are translated, or that no participant sees."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and called(node) in (*ONE, *COUNTED, *UNSEEN)
        is_log = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log.")
        is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_fault = isinstance(node, ast.Raise) and "InvalidAnswer" not in ast.unparse(node)
        if is_call or is_log or is_doc or is_fault:
            yield from (id(each) for each in ast.walk(node))


def unreadable(path: Path) -> list[str]:
    """Return the calls whose text is put together before it is translated: it never would be."""
    calls = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call))
    return [
        ast.unparse(call)
        for call in calls
        if called(call) in (*ONE, *COUNTED)
        and call.args
        and isinstance(call.args[0], ast.JoinedStr)
    ]


def in_script(path: Path) -> list[str]:
    """Return the texts that a script brings along; its words come from the page."""
    code = COMMENT.sub("", path.read_text("utf-8"))
    texts = ("".join(match) for match in QUOTED.findall(code))
    return [*(text for text in texts if SPOKEN.fullmatch(text)), *ASSIGNED.findall(code)]
