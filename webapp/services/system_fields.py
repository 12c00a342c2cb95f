"""The form of a system: what it can be, its options as fields, and what was typed as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.text import slugify
from django.utils.translation import gettext as _

from bots import Option, bot_names, bot_options, describe, parse_option
from bots.weights import ABOUT
from webapp.models import PEOPLE, Campaign, System
from webapp.services import third_parties
from webapp.services.fields import (
    BadField,
    Field,
    Invalid,
    Parse,
    Raw,
    collect,
    parse_all,
    shown,
    storable,
    text,
    whole,
    yes_no,
)
from webapp.services.plans import protocol_of

OPTION = "option."
LARGEST_TARGET = 100_000
SERVER_DECIDES = "device"  # filled in by the reply worker
LONGEST_OPTION = 500


@dataclass(frozen=True)
class Kind:
    """What a system can be: a bot by name, or people."""

    name: str
    about: str


def kinds(campaign: Campaign) -> list[Kind]:
    """Return what the protocol's partner may be."""
    if third_parties.judges(campaign):
        return []  # it comes with the messages that are taken
    chat = protocol_of(campaign).chat
    partner = chat.partner if chat else "bot"
    found = [Kind(name, about_bot(name)) for name in bot_names()] if partner != "person" else []
    if partner != "bot":
        found.append(Kind(PEOPLE, _("Two participants chat with each other.")))
    return found


def about_bot(name: str) -> str:
    """Return the first paragraph of a bot's documentation, without importing it."""
    path = Path(settings.BASE_DIR) / "bots" / "zoo" / f"{name}.py"
    lines = path.read_text("utf-8").split('"""')
    return " ".join(lines[1].split("\n\n")[0].split()) if len(lines) > 2 else ""


def fields(
    campaign: Campaign,
    bot: str,
    system: System | None = None,
    raw: Raw | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[Field]:
    """Return the fields of a system's form."""
    problems = problems or {}
    stored = _stored(campaign, bot, system)
    given = stored if raw is None else {**dict.fromkeys(stored, ""), **raw}
    about = _own(campaign, bot)
    about |= {OPTION + each.name: _option_field(each) for each in _options(bot)}
    return [
        Field(name=name, raw=given[name], error=problems.get(name, ""), **kind)
        for name, kind in about.items()
    ]


def trained_weights() -> list[tuple[str, str]]:
    """Return the folders of weights on this server, and which bot each was trained for."""
    found = sorted(Path(settings.WEIGHTS_DIR).glob(f"*/{ABOUT}"))
    return [(path.parent.name, f"{path.parent.name} ({_bot_of(path)})") for path in found]


def checkpoints() -> list[tuple[str, str]]:
    """Return the folders of checkpoints on this server."""
    found = sorted(path.parent.name for path in Path(settings.WEIGHTS_DIR).glob("*/config.json"))
    return [(name, name) for name in found]


FOLDERS = {"weights": trained_weights, "checkpoint": checkpoints}  # options that name one


def _bot_of(path: Path) -> str:
    try:
        return str(json.loads(path.read_text("utf-8"))["bot"])
    except (OSError, ValueError, KeyError, TypeError):
        return _("cannot be read")


def _options(bot: str) -> list[Option]:
    if bot == PEOPLE:
        return []
    return [each for each in bot_options(bot) if not each.trained and each.name != SERVER_DECIDES]


def _has_cells(campaign: Campaign) -> bool:
    return protocol_of(campaign).chat is not None


def _stored(campaign: Campaign, bot: str, system: System | None) -> dict[str, str]:
    options = system.options if system else {}
    stored = {
        "name": system.name if system else slugify(bot.replace("_", "-")),
        "target": str(system.cell.target) if system else "100",
        "sees_persona": "true" if system is None or system.sees_persona else "false",
    }
    given = {each.name: options.get(each.name, each.default) for each in _options(bot)}
    stored |= {OPTION + name: _written(value) for name, value in given.items()}
    return stored


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _own(campaign: Campaign, bot: str) -> dict[str, dict[str, Any]]:
    chat = protocol_of(campaign).chat
    about: dict[str, dict[str, Any]] = {
        "name": {
            "label": _("Name"),
            "help": _("Letters, digits and hyphens; in reports, never shown to participants."),
        }
    }
    if chat is not None:
        about["target"] = {
            "label": _("Participations wanted"),
            "kind": "number",
            "least": "1",
            "help": _("How many people are to complete a conversation with this system."),
        }
    if chat is not None and chat.pool and bot != PEOPLE:
        about["sees_persona"] = {"label": _("The bot is told its persona"), "kind": "checkbox"}
    return about


def _option_field(each: Option) -> dict[str, Any]:
    about: dict[str, Any] = {"label": each.name, "help": f"{each.help} ({describe(each)})"}
    if each.name in FOLDERS:
        choices = (("", _("none")), *FOLDERS[each.name]())
        return about | {"kind": "select", "choices": choices, "help": each.help}
    if each.kind == "bool":
        return about | {"kind": "checkbox", "help": each.help}
    if each.choices:
        choices = tuple((choice, choice) for choice in each.choices)
        return about | {"kind": "select", "choices": choices, "help": each.help}
    return about | {"kind": "number" if each.kind == "int" else "text"}


def read(campaign: Campaign, bot: str, raw: Raw) -> dict[str, Any]:
    """Return the values of a form, or raise `Invalid` with every complaint."""
    if bot not in {kind.name for kind in kinds(campaign)}:
        raise Invalid({"bot": _("%(bot)s cannot be a partner here") % {"bot": shown(bot)}})
    parsers: dict[str, Parse] = {"name": _name}
    if _has_cells(campaign):
        parsers["target"] = whole(least=1, most=LARGEST_TARGET)

    def blocks() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        yield "own", lambda: parse_all(raw, parsers)
        yield "options", lambda: _read_options(bot, raw)

    parts = collect(blocks())
    asked = "sees_persona" in _own(campaign, bot)
    return {
        "target": 0,
        **parts["own"],
        "options": parts["options"],
        "sees_persona": yes_no(raw.get("sees_persona", "")) if asked else True,
    }


def _name(raw: str) -> str:
    name: str = text(most=60)(raw)
    if name != slugify(name):
        raise BadField(
            _("%(value)s may have only small letters, digits and hyphens, such as %(right)s")
            % {"value": shown(name), "right": slugify(name) or "retrieval-1"}
        )
    return name


def _read_options(bot: str, raw: Raw) -> dict[str, Any]:
    known = tuple(_options(bot))
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for each in known:
        try:
            value = _option_value(bot, known, each, raw.get(OPTION + each.name, ""))
        except BadField as problem:
            problems[OPTION + each.name] = str(problem)
        else:
            if value != each.default:
                values[each.name] = value
    if problems:
        raise Invalid(problems)
    return values


def _option_value(bot: str, known: tuple[Option, ...], each: Option, raw: str) -> object:
    if each.kind == "bool":
        return yes_no(raw)
    listed = FOLDERS[each.name]() if each.name in FOLDERS else None
    if listed is not None and raw not in {"", *(name for name, _about in listed)}:
        raise BadField(_("%(value)s is not a folder of weights here") % {"value": shown(raw)})
    if raw.strip() == "" and each.kind != "str":
        return each.default
    try:
        value = parse_option(bot, known, each.name, raw.strip()[: LONGEST_OPTION + 1])
    except (ValueError, MemoryError, RecursionError):
        value = None
    if value is None or not storable(value) or len(raw) > LONGEST_OPTION:
        raise BadField(
            _("%(value)s is not right; it must be %(what)s")
            % {"value": shown(raw), "what": describe(each)}
        )
    return value
