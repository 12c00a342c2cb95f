"""Guides for the people who use Parley: the pages of `docs`, on pages of staff.

The Markdown is ours, and is cleaned all the same. Links to other pages of `docs` lead to their
addresses here, pictures to the static files, and what is served nowhere stays as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import nh3
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from webapp.services.rules import access
from webapp.views.staff.access import READ, NavLink, staff_page

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FOLDER = Path(settings.BASE_DIR) / "docs"
PICTURES = "images/"
# For people who use the product, in this order; the others are for who runs or changes it.
FIRST = (
    "first_study",
    "prolific",
    "reading_the_report",
    "ratings_table",
    "which_bot",
    "own_protocol",
)
OPENING = '<div class="table-scroll" tabindex="0" role="region" aria-label="Box {}">'
TAGS = {
    *("h2", "h3", "h4", "p", "ul", "ol", "li", "strong", "em", "blockquote", "code", "pre", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "img", "hr", "div"),
}
ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "div": {"class", "tabindex", "role", "aria-label"},
    **{heading: {"id"} for heading in ("h2", "h3", "h4")},
}


@dataclass(frozen=True)
class Guide:
    """One page: its name in addresses, its title, and its first paragraph as a summary."""

    name: str
    title: str
    about: str


@dataclass(frozen=True)
class GuideText:
    """A guide to be read."""

    guide: Guide
    html: SafeString


def guides() -> tuple[Guide, ...]:
    """Return the pages, those for people who use the product first."""
    others = sorted({file.stem for file in FOLDER.glob("*.md")} - {*FIRST})
    return tuple(_guide(FOLDER / f"{name}.md") for name in (*FIRST, *others))


def text(name: str, folder: Path = FOLDER) -> GuideText:
    """Return one page; raise `access.NotFound` where there is none of this name."""
    page = next((file for file in folder.glob("*.md") if file.stem == name), None)
    if page is None:
        raise access.NotFound(f"guide {name}")
    tokens = _parsed(page)
    parser = _parser()
    html = parser.renderer.render(tokens[3:], parser.options, {})  # without the title
    clean = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, link_rel=None)
    return GuideText(_guide(page), SafeString(clean))


def anchor(heading: str) -> str:
    """Return the anchor of a heading: lower case, dashes, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def _guide(page: Path) -> Guide:
    tokens = _parsed(page)
    paragraphs = (
        tokens[index + 1].content
        for index, token in enumerate(tokens)
        if token.type == "paragraph_open"
    )
    about = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", next(paragraphs, ""))
    return Guide(page.stem, tokens[1].content, about.replace("\n", " ").partition(". ")[0])


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # for these pages alone

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _parsed(page: Path) -> list[Token]:
    """Return the page's tokens, with addresses of this server and names for headings."""
    tokens = _parser().parse(page.read_text(encoding="utf-8"))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[index + 1].content))
        for child in token.children or ():
            _lead(child)
    return list(_scrolling(tokens))


def _lead(token: Token) -> None:
    """Lead a link or a picture to what this server has."""
    if token.type == "image":
        source = str(token.attrGet("src"))
        ours = source.startswith(PICTURES)
        token.attrs = {"src": static(f"docs/{source.removeprefix(PICTURES)}")} if ours else {}
    elif token.type == "link_open":
        address = _address(str(token.attrGet("href")))
        token.attrs = {"href": address} if address else {}


def _address(link: str) -> str:
    target, hash_, anchor_ = link.partition("#")
    if re.match(r"https?://", link) or not target:
        return link
    page = PurePosixPath(target)
    if page.suffix == ".md" and len(page.parts) == 1 and (FOLDER / page).is_file():
        return reverse("guide", args=[page.stem]) + hash_ + anchor_
    return ""


def _scrolling(tokens: Sequence[Token]) -> Iterator[Token]:
    """Put tables and commands into boxes that scroll by themselves on a phone, each with a name."""
    boxes = count(1)
    for token in tokens:
        if token.type in ("table_open", "fence"):
            yield _markup(OPENING.format(next(boxes)))
        yield token
        if token.type in ("table_close", "fence"):
            yield _markup("</div>")


def _markup(content: str) -> Token:
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=f"{content}\n")


# --- pages --------------------------------------------------------------------------------------


@staff_page(*READ, role=None, link=NavLink(gettext_lazy("Guides"), 30))
def index(request: HttpRequest) -> HttpResponse:
    """List the guides."""
    found = guides()
    first = len(FIRST)
    context = {"guides": found[:first], "others": found[first:]}
    return render(request, "staff/guides.html", context)


@staff_page(*READ, role=None)
def guide(request: HttpRequest, guide: str) -> HttpResponse:
    """Show one guide."""
    return render(request, "staff/guide.html", {"text": text(guide), "tab": "guides"})


urlpatterns = [
    path("docs/", index, name="guides"),
    path("docs/<slug:guide>/", guide, name="guide"),
]
