"""Settings of a protocol: what a requester may change, and where each value comes from.

A dataclass field whose metadata has `setting` (its label) is a setting; `least` is the smallest
whole number it takes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar
from typing import Protocol as Interface


class HasFields(Interface):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Part = TypeVar("Part", bound=HasFields)
Tag = Literal["S", "R", "D"]
TAGS: dict[str, str] = {
    "S": "stated by the paper",
    "R": "from the authors' released code",
    "D": "our default",
}


class InvalidSetting(ValueError):
    """A setting that the protocol does not have, or a value it cannot take."""


@dataclass(frozen=True)
class Draw:
    """One of `options`, drawn uniformly for each conversation."""

    options: tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """Where a setting's value comes from: stated (S), released code (R) or our default (D)."""

    tag: Tag
    where: str


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a protocol as a requester sees it."""

    name: str
    label: str
    value: Any
    source: Source


DEFAULT = Source("D", "our default")


def settings_of(
    part: HasFields, prefix: str, has: Callable[[str], bool] = lambda name: True
) -> list[tuple[str, str, object]]:
    """Return the name, label and value of each setting of one part of a protocol."""
    return [
        (f"{prefix}.{field.name}", field.metadata["setting"], getattr(part, field.name))
        for field in dataclasses.fields(part)
        if "setting" in field.metadata and has(field.name)
    ]


def replaced(part: Part, prefix: str, values: Mapping[str, object]) -> Part:
    """Return the part with the settings that `values` names replaced, or raise `InvalidSetting`."""
    fresh = {
        field.name: _cast(
            f"{prefix}.{field.name}",
            getattr(part, field.name),
            values[f"{prefix}.{field.name}"],
            int(field.metadata.get("least", 2)),
        )
        for field in dataclasses.fields(part)
        if "setting" in field.metadata and f"{prefix}.{field.name}" in values
    }
    return dataclasses.replace(part, **fresh) if fresh else part


def _cast(name: str, old: object, value: object, least: int) -> object:
    """Return `value` as the kind of value that `old` is."""
    for kind, cast in ((bool, _flag), (Draw, _draw), (str, _text), (float, _number)):
        if isinstance(old, kind):
            return cast(name, value)
    if value is None and name == "chat.maximum":
        return None
    if _is_whole(value, least):
        return value
    raise InvalidSetting(f"{name}: {value!r} is not a whole number from {least} to 1000")


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidSetting(f"{name}: {value!r} is not true or false")


def _draw(name: str, value: object) -> Draw:
    if isinstance(value, list | tuple) and value and all(_is_whole(v, 2) for v in value):
        return Draw(tuple(value))
    raise InvalidSetting(f"{name}: {value!r} is not a list of whole numbers of 2 or more")


def _text(name: str, value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InvalidSetting(f"{name}: {value!r} is not a text")


def _number(name: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10:
        return float(value)
    raise InvalidSetting(f"{name}: {value!r} is not a number from 0 to 10")


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 1000
