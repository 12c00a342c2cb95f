"""A protocol's settings as fields: the source's value, where it comes from, and what departs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from evaluation import TAGS, Draw, InvalidSetting, Protocol, Setting
from webapp.services.fields import BadField, Field, Invalid, Raw, shown, storable

PREFIX = "setting."
LONGEST = {"chat.pool": 10}  # characters, as personas store their split
MAY_BE_EMPTY = "chat.maximum"


def fields(
    protocol: Protocol, changes: Mapping[str, Any], raw: Raw | None, problems: Mapping[str, str]
) -> list[Field]:
    """Return a field for each setting, showing what was typed, else what is stored."""
    now = {setting.name: setting.value for setting in protocol.change(changes).settings()}
    return [
        _field(setting, written(now[setting.name]), raw, problems)
        for setting in protocol.settings()
    ]


def read(protocol: Protocol, raw: Raw) -> dict[str, Any]:
    """Return the settings that depart from the source, or raise `Invalid`."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for setting in protocol.settings():
        name = PREFIX + setting.name
        try:
            value = _value(setting, raw.get(name, "").strip())
        except BadField as problem:
            problems[name] = str(problem)
            continue
        if value != plain(setting.value):
            values[setting.name] = value
    problems |= _refused(protocol, values)
    if problems:
        raise Invalid(problems)
    return values


def departures(protocol: Protocol, changes: Mapping[str, Any]) -> list[tuple[Setting, str, str]]:
    """Return each changed setting with the source's value and the campaign's, in words."""
    return [
        (setting, written(setting.value), written(changes[setting.name]))
        for setting in protocol.settings()
        if setting.name in changes
    ]


def written(value: Any) -> str:
    """Return a value as it is typed."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return "" if value is None else str(value)


def plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    return list(value.options) if isinstance(value, Draw) else value


def _field(setting: Setting, stored: str, raw: Raw | None, problems: Mapping[str, str]) -> Field:
    name = PREFIX + setting.name
    kind, help = _kind(setting)
    original = written(setting.value)
    typed = stored if raw is None else raw.get(name, "")
    if kind == "checkbox":
        typed = "true" if typed in ("true", "on", "1") else "false"
    return Field(
        name=name,
        label=setting.label,
        raw=typed,
        kind=kind,
        help=help,
        error=problems.get(name, ""),
        tag=setting.source.tag,
        tag_means=TAGS[setting.source.tag],
        where=setting.source.where,
        original=original,
    )


def _kind(setting: Setting) -> tuple[str, str]:
    value = setting.value
    if isinstance(value, bool):
        return "checkbox", ""
    if isinstance(value, Draw):
        return "text", _("Whole numbers with commas between; one is drawn for each conversation.")
    if value is None or setting.name == MAY_BE_EMPTY:
        return "number", _("Leave it empty for no limit.")
    if isinstance(value, int):
        return "number", ""
    return ("number", "") if isinstance(value, float) else ("text", "")


def _value(setting: Setting, raw: str) -> Any:
    old = setting.value
    if isinstance(old, bool):
        return raw in ("true", "on", "1")
    if isinstance(old, Draw):
        parts = [part.strip() for part in raw.split(",") if part.strip()]
        return [_whole(part) for part in parts[:50]]
    if isinstance(old, str):
        most = LONGEST.get(setting.name, 200)
        if len(raw) > most or not storable(raw):
            complaint = _("is too long or cannot be stored; write at most %(most)d characters")
            raise BadField(complaint % {"most": most})
        return raw
    if isinstance(old, float):
        return _number(raw)
    unlimited = raw == "" and (old is None or setting.name == MAY_BE_EMPTY)
    return None if unlimited else _whole(raw)


def _whole(raw: str) -> int:
    if raw.isascii() and raw.isdigit() and len(raw) < 10:
        return int(raw)
    raise BadField(_("%(value)s is not a whole number") % {"value": shown(raw)})


def _number(raw: str) -> float:
    try:
        return float(raw)
    except ValueError:
        raise BadField(_("%(value)s is not a number") % {"value": shown(raw)}) from None


def _refused(protocol: Protocol, values: dict[str, Any]) -> dict[str, str]:
    """Ask the protocol until it accepts what is left; each refusal begins with its setting."""
    left, problems = dict(values), {}
    while True:
        try:
            protocol.change(left)
        except InvalidSetting as problem:
            name, _colon, complaint = str(problem).partition(": ")
            problems[PREFIX + name] = complaint
            if left.pop(name, None) is None:
                return problems
        else:
            return problems
