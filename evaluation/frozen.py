"""Protocols as plans froze them: a study goes on in the words and numbers that it began with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from evaluation.protocol import Protocol
from evaluation.questions import Gate
from evaluation.settings import in_present_words

Part = TypeVar("Part")
READ = {"only_if": Gate.read}  # fields whose value a plan has as a whole, also in older forms
SCALARS = (str, int, float, bool, type(None))


def as_planned(protocol: Protocol, planned: Mapping[str, Any]) -> Protocol:
    """Return the protocol with the texts and values of a plan's `protocol`, a value of JSON.

    What the plan does not have is as it was `formerly` (`evaluation.settings`), else as today: it
    was written before there was such a field. Parts of a list (steps, questions) that are not the
    plan's by name and number are as today too.
    """
    shaping = {
        name: planned[name] for name in ("instructions", "images", "steps") if name in planned
    }
    return _as_planned(protocol, shaping)


def _as_planned(part: Part, planned: Any) -> Part:
    if dataclasses.is_dataclass(part) and isinstance(planned, Mapping):
        planned = in_present_words(type(part), planned)
        changes = {
            field.name: READ[field.name](planned[field.name])
            if field.name in READ
            else _as_planned(getattr(part, field.name), planned[field.name])
            for field in dataclasses.fields(part)
            if field.init and field.name in planned
        }
        former = {
            field.name: field.metadata["formerly"]
            for field in dataclasses.fields(part)
            if "formerly" in field.metadata and field.name not in planned
        }
        return cast(Part, dataclasses.replace(cast(Any, part), **changes, **former))
    if isinstance(part, tuple) and isinstance(planned, Sequence) and not isinstance(planned, str):
        return cast(Part, _list(part, planned))
    is_other = isinstance(part, SCALARS) and isinstance(planned, SCALARS) and part != planned
    return cast(Part, planned) if is_other else part


def _list(parts: tuple[Any, ...], planned: Sequence[Any]) -> tuple[Any, ...]:
    if all(isinstance(each, SCALARS) for each in (*parts, *planned)):
        return parts if list(parts) == list(planned) else tuple(planned)
    if len(parts) != len(planned) or not all(map(_is_same, parts, planned)):
        return parts
    return tuple(map(_as_planned, parts, planned))


def _is_same(part: object, planned: object) -> bool:
    """Tell whether a plan's part is this one: its kind, and its name or value where it has one."""
    if not isinstance(planned, Mapping):
        return False
    kinds = (type(part).__name__, type(part).__name__.lower())
    own = {field.name for field in dataclasses.fields(cast(Any, part))} & {"name", "value"}
    return planned.get("type", planned.get("step", kinds[0])) in kinds and all(
        planned.get(name) == getattr(part, name) for name in own
    )
