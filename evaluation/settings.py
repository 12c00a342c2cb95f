"""Settings of a protocol: what a requester may change, and where each value comes from.

A field of a step or of a message check becomes a setting by `setting(...)`, which states its
label, its type with the bounds, and its help. Forms, checks, the plan and exports read them there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar
from typing import Protocol as Interface

from evaluation.setting_types import InvalidValue, SettingType


class HasFields(Interface):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Part = TypeVar("Part", bound=HasFields)
Tag = Literal["S", "R", "D"]
FormerWords = Mapping[str, Mapping[str, str]]  # of a field: what a value was called before
TAGS: dict[str, str] = {
    "S": "stated by the paper",
    "R": "from the authors' released code",
    "D": "our default",
}


class InvalidSetting(ValueError):
    """A setting that the protocol does not have, or a value that it cannot take."""


def in_present_words(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a stored part in the words of today; `kind.FORMER` has those before."""
    former: FormerWords = getattr(kind, "FORMER", {})
    return {
        name: former[name].get(value, value) if name in former and isinstance(value, str) else value
        for name, value in values.items()
    }


def setting(
    label: str,
    type: SettingType,
    *,
    default: Any = dataclasses.MISSING,
    help: str = "",
    formerly: Any = dataclasses.MISSING,
) -> Any:
    """Return a dataclass field that a requester may change.

    formerly: what a plan means that was frozen before there was the setting; else as today.
    """
    facts = {"setting": SettingFacts(label=label, type=type, help=help)}
    former = {} if formerly is dataclasses.MISSING else {"formerly": formerly}
    return dataclasses.field(default=default, metadata={**facts, **former})


@dataclass(frozen=True, kw_only=True)
class SettingFacts:
    """Facts of a field that is a setting."""

    label: str
    type: SettingType
    help: str = ""


@dataclass(frozen=True)
class Source:
    """Origin of a setting's value: stated (S), released code (R) or our default (D)."""

    tag: Tag
    where: str


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a protocol as a requester sees it."""

    name: str
    label: str
    type: SettingType
    help: str
    value: Any
    source: Source


DEFAULT = Source("D", "our default")


def settings_of(
    part: HasFields,
    prefix: str,
    sources: Mapping[str, Source],
    has: Callable[[str], bool] = lambda name: True,
) -> list[Setting]:
    """Return each setting of one part of a protocol, in the order of its fields."""
    return [
        Setting(
            name=(name := f"{prefix}.{field.name}"),
            label=facts.label,
            type=facts.type,
            help=facts.help,
            value=getattr(part, field.name),
            source=sources.get(name, DEFAULT),
        )
        for field in dataclasses.fields(part)
        if (facts := field.metadata.get("setting")) and has(field.name)
    ]


def replaced(part: Part, prefix: str, values: Mapping[str, object]) -> Part:
    """Return the part with the settings that `values` names replaced. Raises `InvalidSetting`."""
    changes = {}
    for field in dataclasses.fields(part):
        name = f"{prefix}.{field.name}"
        if "setting" in field.metadata and name in values:
            try:
                value = field.metadata["setting"].type.accept(values[name])
            except InvalidValue as problem:
                raise InvalidSetting(f"{name}: {problem}") from None
            if value != getattr(part, field.name):  # equal words keep their provenance
                changes[field.name] = value
    return dataclasses.replace(part, **changes) if changes else part
