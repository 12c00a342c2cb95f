"""Text that a requester pastes or uploads: JSON Lines, each row with what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.utils.translation import gettext as _

from webapp.services.staff_forms.fields import Invalid, shown, storable

LARGEST = 900_000  # bytes; a form may have a megabyte
MOST_ROWS = 2_000
LONGEST_KEY = 40
Value = TypeVar("Value")
Parse = Callable[[Mapping[str, Any]], Value]


class BadRow(ValueError):
    """The complaint about a row."""


@dataclass(frozen=True)
class PastedRow(Generic[Value]):
    """A row of a preview: its value, or what is wrong; `note` is a departure that is allowed."""

    number: int
    key: str
    value: Value | None
    error: str = ""
    note: str = ""


@dataclass(frozen=True)
class Preview(Generic[Value]):
    """Everything that was pasted, row by row; nothing is stored yet."""

    rows: tuple[PastedRow[Value], ...]

    @property
    def bad(self) -> tuple[PastedRow[Value], ...]:
        return tuple(row for row in self.rows if row.error)

    @property
    def notes(self) -> tuple[PastedRow[Value], ...]:
        return tuple(row for row in self.rows if row.note)

    @property
    def good(self) -> bool:
        return bool(self.rows) and not self.bad


def decode(upload: bytes, most: int = LARGEST) -> str:
    """Return the text of an uploaded file of so many bytes at most, or raise `Invalid`."""
    if len(upload) > most:
        about = {"kilobytes": most // 1000}
        raise Invalid({"file": _("has more than %(kilobytes)d kB; split it") % about})
    try:
        return upload.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        complaint = _("is not UTF-8 text (byte %(place)d); save it as UTF-8")
        raise Invalid({"file": complaint % {"place": problem.start}}) from None


def checked(text: str) -> str:
    """Return pasted text with plain line ends, or raise `Invalid`: none at all, or too much."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").strip("\n")
    if not text.strip():
        raise Invalid({"text": _("is empty; paste lines here or choose a file")})
    if len(text.encode(errors="replace")) > LARGEST:
        raise Invalid({"text": _("has more than 900 kB; split it")})
    return text


def json_rows(
    text: str, parse: Callable[[Mapping[str, Any]], PastedRow[Value]]
) -> list[PastedRow[Value]]:
    """Return a row for each line of JSON Lines; `parse` may raise `BadRow`."""
    return [
        _row(number, line, parse)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ][: MOST_ROWS + 1]


def _row(
    number: int, line: str, parse: Callable[[Mapping[str, Any]], PastedRow[Value]]
) -> PastedRow[Value]:
    key = ""
    try:
        record = _record(line)
        key = str(record.get("id", ""))[:LONGEST_KEY]
        row = parse(record)
    except BadRow as problem:
        return PastedRow(number, key, None, str(problem))
    return PastedRow(number, row.key, row.value, row.error, row.note)


def _record(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise BadRow(_("is not JSON: %(line)s") % {"line": shown(line)}) from None
    if not isinstance(record, dict):
        raise BadRow(_("must be an object in braces, is %(line)s") % {"line": shown(line)})
    if not storable(record):
        raise BadRow(_("has characters that cannot be stored"))
    return record


def key_of(record: Mapping[str, Any]) -> str:
    """Return a record's id: a short text, or a number."""
    value = record.get("id")
    value = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_KEY:
        return value.strip()
    raise BadRow(
        _("id is %(value)s; it must be a text of 1 to %(most)d characters")
        % {"value": shown(value), "most": LONGEST_KEY}
    )


def texts_of(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a field that is a list of texts; an absent one is empty."""
    value = record.get(name, [])
    if isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value):
        return tuple(" ".join(each.split()) for each in value)
    raise BadRow(
        _("%(name)s is %(value)s; it must be a list of texts")
        % {"name": name, "value": shown(value)}
    )


def without_repeats(
    rows: list[PastedRow[Value]], known: Mapping[str, str]
) -> Iterator[PastedRow[Value]]:
    """Yield the rows, with an error where an id or a content is there before.

    `known` maps what is in the campaign, ids and contents (see `content`), to where it is.
    """
    found = dict(known)
    for row in rows:
        where = found.get(row.key) or (found.get(content(row.value)) if row.value else None)
        if not row.error and where:
            row = PastedRow(
                row.number, row.key, None, _("is there already: %(where)s") % {"where": where}
            )
        elif not row.error:
            here = _("line %(number)d") % {"number": row.number}
            found |= {row.key: here, content(row.value): here}
        yield row


def content(value: object) -> str:
    """Return what two rows of the same text have in common; no id begins so."""
    return "\n" + str(value).casefold()


def limited(rows: list[PastedRow[Value]]) -> Preview[Value]:
    """Return the preview, or raise `Invalid` where there are too many rows."""
    if len(rows) > MOST_ROWS:
        complaint = _("has more than %(most)d rows; import it in parts")
        raise Invalid({"text": complaint % {"most": MOST_ROWS}})
    return Preview(tuple(rows))
