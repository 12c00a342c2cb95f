"""Line files: every bad line is named, and nothing is returned if there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value")


class InvalidData(ValueError):
    """Data that cannot be read; `problems` has a line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class BadLine(ValueError):
    """A problem with one line; the reader of the file adds its name and the number."""


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file. Raises InvalidData if it cannot be read."""
    try:
        text = path.read_text("utf-8-sig")  # every line end is \n then
    except OSError as error:
        raise InvalidData([f"{path}: cannot be read ({error.strerror})"]) from error
    except UnicodeDecodeError as error:
        raise InvalidData([f"{path}: not UTF-8 text, at byte {error.start}"]) from error
    # Not splitlines: a message may hold a line separator of Unicode, which JSON leaves as it is.
    return text.removesuffix("\n").split("\n") if text else []


def read_records(path: Path, parse: Callable[[Mapping[str, Any]], Value]) -> list[Value]:
    """Return what `parse` makes of each line of a JSON Lines file; it raises BadLine."""
    values, problems = [], []
    for number, record in _records(path):
        try:
            values.append(parse(_mapping(record)))
        except BadLine as problem:
            problems.append(f"{path}, line {number}: {problem}")
    if not values and not problems:
        problems.append(f"{path}: no records")
    if problems:
        raise InvalidData(problems)
    return values


def read_listed(path: Path, parse: Callable[[Mapping[str, Any]], Value]) -> list[Value]:
    """Return what `parse` makes of each object of a file: one JSON list of them, or JSON Lines.

    Raises InvalidData, naming every bad record; `parse` raises BadLine.
    """
    text = "\n".join(read_lines(path))
    if not text.lstrip().startswith("["):
        return read_records(path, parse)
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData([f"{path}: not JSON ({error})"]) from error
    values, problems = [], []
    for number, record in enumerate(listed, start=1):
        try:
            if not isinstance(record, dict):
                raise BadLine(f"must be an object, is {str(record)[:40]!r}")
            values.append(parse(record))
        except BadLine as problem:
            problems.append(f"{path}, record {number}: {problem}")
    if not values and not problems:
        problems.append(f"{path}: no records")
    if problems:
        raise InvalidData(problems)
    return values


def _records(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield number, line


def _mapping(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not JSON ({error})") from error
    if not isinstance(record, dict):
        raise BadLine(f"must be an object, is {line[:40]!r}")
    return record


def text_of(record: Mapping[str, Any], field: str) -> str:
    """Return a field that must be text with something in it. Raises BadLine."""
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise BadLine(f"{field} is {value!r}, but must be text")
    return value


def one_of(record: Mapping[str, Any], field: str, right: Sequence[object]) -> Any:
    """Return a field that must be one of these values (absent: None). Raises BadLine."""
    value = record.get(field)
    if isinstance(value, bool | list | dict) or value not in right:
        shown = ", ".join("null" if each is None else str(each) for each in right)
        raise BadLine(f"{field} is {value!r}, but must be one of {shown}")
    return value


def objects_of(record: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    """Return a field that must be a list of objects (absent: empty). Raises BadLine."""
    value = record.get(field, [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BadLine(f"{field} is {str(value)[:40]!r}, but must be a list of objects")
    return value


def texts_of(record: Mapping[str, Any], field: str, least: int = 0) -> tuple[str, ...]:
    """Return a field that must be a list of texts (absent: empty). Raises BadLine."""
    value = record.get(field, [])
    if not isinstance(value, list) or not all(isinstance(t, str) and t.strip() for t in value):
        raise BadLine(f"{field} is {value!r}, but must be a list of texts")
    if len(value) < least:
        raise BadLine(f"{field} has {len(value)} texts, but must have at least {least}")
    return tuple(value)


def write_records(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a JSON Lines file."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines), "utf-8")
