"""Words that a protocol shows: each text with its provenance, and where in the protocol it is."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.settings import TAGS, Tag

EXACT = re.compile("«([^«»]+)»")
# Fields that hold text which no participant sees: names, choices of the code, stored values.
NOT_SHOWN = frozenset(
    {
        *("name", "title", "source", "sources"),  # of a protocol or a question
        *("partner", "first", "pool", "form", "partner_form", "instead"),  # of a chat
        *("over", "when", "sides", "show", "keep"),  # of a rating
        *("only_if", "otherwise", "intended"),  # of a question
        *("passes", "question", "values"),  # of a screening and a quiz
        "value",  # of an option
    }
)


class Words(str):
    """A text with its provenance, and else an ordinary text.

    tag: S stated by the paper, R released code, D our default. where: the section. What stands
    between « and » is the source's to the letter (`exact`), the rest of the text is ours; the marks
    are not shown. quoted: exact words stand in quotation marks in the source, some at least; in a
    text without marks they are the whole.
    """

    tag: Tag
    where: str
    quoted: bool
    exact: tuple[str, ...]
    marked: str

    def __new__(cls, text: str, *, tag: Tag, where: str, quoted: bool = False) -> Words:
        """Return the words. Raises `ValueError` for a provenance that cannot be."""
        plain = EXACT.sub(r"\1", text)
        words = super().__new__(cls, plain)
        words.tag, words.where, words.quoted, words.marked = tag, where, quoted, text
        words.exact = tuple(EXACT.findall(text)) or ((plain,) if quoted else ())
        words._check()
        return words

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return what makes a copy."""
        return (self.marked,), {"tag": self.tag, "where": self.where, "quoted": self.quoted}

    def _check(self) -> None:
        about = f"words “{self.marked}”"
        if self.tag not in TAGS:
            raise ValueError(f"{about}: tag “{self.tag}” is none of {', '.join(TAGS)}")
        if not self.where.strip():
            raise ValueError(f"{about}: where is empty; name the section, or who wrote them")
        if "«" in self or "»" in self:
            raise ValueError(f"{about}: a mark has no partner; write «exact words»")
        if self.tag == "D" and self.exact:
            raise ValueError(f"{about}: tag D has no source to be exact about; use S or R")


def ours(text: str) -> Words:
    """Return words that we wrote."""
    return Words(text, tag="D", where="ours")


def texts(part: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each text that a protocol, or a part of one, shows, after the path of its field.

    Parts of a list are called by their names (`rate.fluency.text`), texts of a list by number.
    """
    if isinstance(part, str):
        if part:
            yield ".".join(path), part
    elif isinstance(part, Mapping):
        for name, value in part.items():
            yield from texts(value, (*path, str(name)))
    elif isinstance(part, tuple | list):
        for number, each in enumerate(part, start=1):
            name = _name(each)
            yield from texts(each, (*path[:-1], name) if name else (*path, str(number)))
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            if field.name not in NOT_SHOWN:
                yield from texts(getattr(part, field.name), (*path, field.name))


def words_of(part: object) -> list[tuple[str, Words]]:
    """Return the shown texts with their provenance; a plain one is ours."""
    return [(path, text if isinstance(text, Words) else ours(text)) for path, text in texts(part)]


def _name(part: object) -> str:
    """Return what a part is called in the paths of its fields: a step's prefix, else its name."""
    return str(getattr(part, "prefix", "") or getattr(part, "name", ""))
