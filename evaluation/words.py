"""Words that a protocol shows: each text with its provenance, and where in the protocol it is."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from evaluation.settings import TAGS, Tag

Part = TypeVar("Part")
OURS = "ours"  # where words are from that no source has
EXACT = re.compile("«([^«»]+)»")
# Fields that hold text which no participant sees: names, choices of the code, stored values.
NOT_SHOWN = frozenset(
    {
        *("name", "title", "source", "sources"),  # of a protocol or a question
        *("language", "translations"),  # of a protocol
        *("partner", "first", "turns", "pool", "form", "partner_form", "instead"),  # of a chat
        *("over", "when", "sides", "show", "keep"),  # of a rating
        *("only_if", "otherwise", "intended", "better"),  # of a question
        *("passes", "question", "values"),  # of a screening, a quiz, attention checks
        "value",  # of an option
        "sha256",  # of an image
        *("makes", "stop_words", "allowed", "review", "split"),  # of writing and its checks
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
    marks: bool

    def __new__(
        cls, text: str, *, tag: Tag, where: str, quoted: bool = False, marks: bool = True
    ) -> Words:
        """Return the words; without `marks`, « and » are quotation marks like any other.

        Raises `ValueError` for a provenance that cannot be.
        """
        plain = EXACT.sub(r"\1", text) if marks else text
        words = super().__new__(cls, plain)
        words.tag, words.where, words.quoted, words.marked = tag, where, quoted, text
        found = tuple(EXACT.findall(text)) if marks else ()
        words.exact = found or ((plain,) if quoted else ())
        words.marks = marks
        words._check()
        return words

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return what makes a copy."""
        return (self.marked,), {
            "tag": self.tag,
            "where": self.where,
            "quoted": self.quoted,
            "marks": self.marks,
        }

    def _check(self) -> None:
        about = f"words “{self.marked}”"
        if self.tag not in TAGS:
            raise ValueError(f"{about}: tag “{self.tag}” is none of {', '.join(TAGS)}")
        if not self.where.strip():
            raise ValueError(f"{about}: where is empty; name the section, or who wrote them")
        if self.marks and ("«" in self or "»" in self):
            raise ValueError(f"{about}: a mark has no partner; write «exact words»")
        if self.tag == "D" and self.exact:
            raise ValueError(f"{about}: tag D has no source to be exact about; use S or R")


def ours(text: str) -> Words:
    """Return words that we wrote."""
    return Words(text, tag="D", where=OURS)


def typed(text: str) -> Words:
    """Return words that a requester typed, in whose language « and » may be quotation marks."""
    return Words(text, tag="D", where=OURS, marks=False)


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
        for each, at in _numbered(part, path):
            yield from texts(each, at)
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            if field.name not in NOT_SHOWN:
                yield from texts(getattr(part, field.name), (*path, field.name))


def like(model: str, text: str) -> str:
    """Return a text that was made from another, in that one's language."""
    return Translated(text, model.language) if isinstance(model, Translated) else text


class Translated(str):
    """A text in a language, where that is not English."""

    language: str

    def __new__(cls, text: str, language: str) -> Translated:
        """Return the text; it is an ordinary one otherwise."""
        made = super().__new__(cls, text)
        made.language = language
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has the text alone
        """Return what makes a copy."""
        return str(self), self.language


def translated(part: Part, to: Mapping[str, Translated], path: tuple[str, ...] = ()) -> Part:
    """Return a protocol, or a part of one, with those texts replaced that `to` has by their path.

    Paths are those of `texts`; what is empty or missing stays as it is.
    """
    if isinstance(part, str):
        text = to.get(".".join(path)) if part else None
        return cast(Part, text) if text else part
    if isinstance(part, tuple):
        return cast(Part, tuple(translated(each, to, at) for each, at in _numbered(part, path)))
    if not dataclasses.is_dataclass(part):
        return part
    changes = {
        field.name: translated(getattr(part, field.name), to, (*path, field.name))
        for field in dataclasses.fields(part)
        if field.init and field.name not in NOT_SHOWN
    }
    return cast(Part, dataclasses.replace(cast(Any, part), **changes))


def _numbered(parts: Sequence[Any], path: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each part of a list with its path: by its name, a text by its number."""
    for number, each in enumerate(parts, start=1):
        name = _name(each)
        yield each, (*path[:-1], name) if name else (*path, str(number))


def words_of(part: object) -> list[tuple[str, Words]]:
    """Return the shown texts with their provenance; a plain one is ours."""
    return [(path, text if isinstance(text, Words) else typed(text)) for path, text in texts(part)]


def _name(part: object) -> str:
    """Return what a part is called in the paths of its fields: a step's prefix, else its name."""
    return str(getattr(part, "prefix", "") or getattr(part, "name", ""))
