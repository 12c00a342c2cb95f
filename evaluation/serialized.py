"""Protocols as JSON and back, without loss, known by the SHA-256 of their canonical text.

A field is read by its declared type, so that a new field of a step or a new kind of question needs
nothing here. What stands in a file of another schema is refused by name, never guessed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal, Union, cast, get_args, get_origin, get_type_hints

from evaluation import checks
from evaluation.admission import Attention, Onboarding, Quiz, Screening
from evaluation.chat import Chat
from evaluation.protocol import Protocol
from evaluation.questions import Question
from evaluation.rating import Rate
from evaluation.registry import UnknownKind, get_kind, kind_names
from evaluation.settings import TAGS, Tag, in_present_words
from evaluation.words import NOT_SHOWN, OURS, Words, typed
from evaluation.writing import Write

SCHEMA = 1
STEPS: dict[str, type] = {
    "screening": Screening,
    "quiz": Quiz,
    "onboarding": Onboarding,
    "attention": Attention,
    "chat": Chat,
    "rate": Rate,
    "write": Write,
}
CHECKS: dict[str, type] = {
    each.name: each
    for each in (
        checks.MaxWords,
        checks.MinWords,
        checks.NoNonstopOverlap,
        checks.NoPersonaCopy,
        checks.NoProfile5Gram,
        checks.SentenceLength,
    )
}


class InvalidProtocol(ValueError):
    """A value of JSON that is no protocol; the text names field, value and what is right."""


def to_json(protocol: Protocol) -> dict[str, Any]:
    """Return a protocol as a value of JSON."""
    return {"schema": SCHEMA, **_fields_of(protocol)}


def from_json(value: Any) -> Protocol:
    """Return the protocol that a value of JSON describes. Raises `InvalidProtocol`."""
    if not isinstance(value, Mapping):
        raise InvalidProtocol(f"protocol is {_short(value)}; it must be an object in braces")
    schema = value.get("schema")
    if schema != SCHEMA:
        raise InvalidProtocol(f"schema is {_short(schema)}; this version of Parley reads {SCHEMA}")
    rest = {name: each for name, each in value.items() if name != "schema"}
    return _dataclass(Protocol, rest, "")  # type: ignore[no-any-return]


def question_to_json(question: Question) -> dict[str, Any]:
    """Return a question as it stands in a protocol's JSON."""
    return _fields_of(question)


def question_from_json(value: Any) -> Question:
    """Return the question that a value of JSON describes. Raises `InvalidProtocol`."""
    return _sorted_part("kind", value, "question")  # type: ignore[no-any-return]


def canonical(protocol: Protocol) -> str:
    """Return the text that is the same for the same protocol."""
    return json.dumps(to_json(protocol), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(protocol: Protocol) -> str:
    """Return the SHA-256 by which a protocol is known."""
    return hashlib.sha256(canonical(protocol).encode()).hexdigest()


# --- to JSON ----------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    if isinstance(value, Words):
        if value.tag == "D" and value.where == OURS:
            return str(value)
        marked = {"text": value.marked, "tag": value.tag, "where": value.where}
        return marked | ({"quoted": True} if value.quoted else {})
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _fields_of(value) if dataclasses.is_dataclass(value) else value


def _fields_of(part: Any) -> dict[str, Any]:
    """Return the fields that are not at their default, after what sort of part it is."""
    sorts = _sorts()
    sort = next((s for s, known in sorts.items() if isinstance(part, tuple(known.values()))), "")
    names = {known: name for name, known in sorts.get(sort, {}).items()}
    return ({sort: names[type(part)]} if sort else {}) | {
        field.name: _plain(getattr(part, field.name))
        for field in dataclasses.fields(part)
        if field.init and not _is_default(field, getattr(part, field.name))
    }


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    """Tell whether a value can be left out; equal words of another source are another value."""
    default = _default(field)
    return default is not dataclasses.MISSING and _plain(value) == _plain(default)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _sorts() -> dict[str, dict[str, type]]:
    """Return the parts of which there are several sorts, by the field that names the sort."""
    return _sorts_of(tuple(kind_names()))


@lru_cache(maxsize=4)
def _sorts_of(names: tuple[str, ...]) -> dict[str, dict[str, type]]:
    kinds: dict[str, type] = {name: get_kind(name) for name in names}
    return {"step": STEPS, "kind": kinds, "check": CHECKS}


# --- from JSON --------------------------------------------------------------------------------


def _read(hint: Any, value: Any, path: str) -> Any:
    """Return the value of a declared type. Raises `InvalidProtocol`."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(hint), value, path)
    if origin is Literal:
        return _literal(get_args(hint), value, path)
    if origin is tuple:
        return _tuple(get_args(hint), value, path)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(get_args(hint)[1], value, path)
    if isinstance(hint, type) and issubclass(hint, Question):
        return _question(hint, value, path)
    if hint is checks.MessageCheck:
        return _sorted_part("check", value, path)
    if hint in STEPS.values():
        return _sorted_part("step", value, path)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, value, path)
    return SCALARS[hint](value, path)


def _one_of(hints: tuple[Any, ...], value: Any, path: str) -> Any:
    """Return the value of the first type that takes it; the complaint of the last else."""
    for hint in hints[:-1]:
        try:
            return None if hint is type(None) and value is None else _read(hint, value, path)
        except (InvalidProtocol, KeyError):
            continue
    if hints[-1] is type(None) and value is None:
        return None
    return _read(hints[0] if hints[-1] is type(None) else hints[-1], value, path)


def _literal(options: tuple[Any, ...], value: Any, path: str) -> Any:
    if value in options and type(value) in map(type, options):
        return value
    named = ", ".join(map(_short, options))
    raise InvalidProtocol(f"{path} is {_short(value)}; it must be one of {named}")


def _tuple(hints: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise InvalidProtocol(f"{path} is {_short(value)}; it must be a list")
    each = [hints[0]] * len(value) if hints[-1] is Ellipsis else list(hints)
    if len(each) != len(value):
        raise InvalidProtocol(f"{path} has {len(value)} values; it must have {len(each)}")
    return tuple(
        _read(hint, one, f"{path}.{number}")
        for number, (hint, one) in enumerate(zip(each, value, strict=True), start=1)
    )


def _mapping(hint: Any, value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidProtocol(f"{path} is {_short(value)}; it must be an object in braces")
    return {name: _read(hint, each, f"{path}.{name}") for name, each in value.items()}


def _question(kind: type[Question], value: Any, path: str) -> Question:
    """Read a question, of one kind where no other will do."""
    question: Question = _sorted_part("kind", value, path)
    if isinstance(question, kind):
        return question
    right = next(name for name in kind_names() if get_kind(name) is kind)
    raise InvalidProtocol(f"{path}.kind is {_short(question.kind)}; it must be {_short(right)}")


def _sorted_part(sort: str, value: Any, path: str) -> Any:
    """Read a step, a question or a check by the field that says which it is."""
    if not isinstance(value, Mapping):
        raise InvalidProtocol(f"{path} is {_short(value)}; it must be an object in braces")
    name = value.get(sort)
    try:
        known = get_kind(str(name)) if sort == "kind" else _sorts()[sort][str(name)]
    except (UnknownKind, KeyError):
        there = ", ".join(sorted(_sorts()[sort]))
        where = f"{path}.{sort}"
        raise InvalidProtocol(f"{where} is {_short(name)}; it must be one of {there}") from None
    return _dataclass(known, {n: each for n, each in value.items() if n != sort}, path)


@cache
def field_types(kind: type) -> Mapping[str, Any]:
    """Return the types of a dataclass's fields by name, which are costly to find."""
    return {n: h for n, h in get_type_hints(kind).items() if get_origin(h) is not ClassVar}


def _dataclass(kind: Any, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise InvalidProtocol(f"{path} is {_short(value)}; it must be an object in braces")
    value = in_present_words(kind, value)
    hints = field_types(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    prefix = f"{path}." if path else ""
    for name in value:
        if name not in fields:
            raise InvalidProtocol(
                f"{prefix}{name} is no field here; there are {', '.join(sorted(fields))}"
            )
    for name, field in fields.items():
        if name not in value and _default(field) is dataclasses.MISSING:
            raise InvalidProtocol(f"{prefix}{name} is missing")
    read = {name: _read(hints[name], each, f"{prefix}{name}") for name, each in value.items()}
    read |= {n: str(each) for n, each in read.items() if n in NOT_SHOWN and isinstance(each, str)}
    try:
        return kind(**read)
    except ValueError as problem:
        raise InvalidProtocol(f"{path or 'protocol'}: {problem}") from None


def _text(value: Any, path: str) -> str:
    if isinstance(value, str):
        return typed(value)
    if not isinstance(value, Mapping) or set(value) - {"text", "tag", "where", "quoted"}:
        raise InvalidProtocol(
            f"{path} is {_short(value)}; it must be a text, or have text, tag, where and quoted"
        )
    tag, where = value.get("tag"), value.get("where", "")
    if not isinstance(tag, str) or tag not in TAGS:
        raise InvalidProtocol(f"{path}.tag is {_short(tag)}; it must be one of {', '.join(TAGS)}")
    for name, text in (("text", value.get("text")), ("where", where)):
        if not isinstance(text, str):
            raise InvalidProtocol(f"{path}.{name} is {_short(text)}; it must be a text")
    try:
        return Words(
            value["text"], tag=cast(Tag, tag), where=where, quoted=bool(value.get("quoted"))
        )
    except ValueError as problem:
        raise InvalidProtocol(f"{path}: {problem}") from None


def _scalar(kind: type, name: str) -> Callable[[Any, str], Any]:
    def read(value: Any, path: str) -> Any:
        wanted = (int, float) if kind is float else (kind,)
        if (isinstance(value, bool) and kind is not bool) or not isinstance(value, wanted):
            raise InvalidProtocol(f"{path} is {_short(value)}; it must be {name}")
        return kind(value)

    return read


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


SCALARS: dict[Any, Callable[[Any, str], Any]] = {
    str: _text,
    int: _scalar(int, "a whole number"),
    float: _scalar(float, "a number"),
    bool: _scalar(bool, "true or false"),
}
