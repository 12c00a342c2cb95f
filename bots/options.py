"""A bot's options: the fields of its dataclass, read from its file without running it.

The web shows and checks options but must never load torch, so they are read from the source. The
rule this asks for is kept by a contract test: a bot's file declares all its options itself, in the
class that `BOT` names, as `name: type = option(default, "what it does")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Scalar = str | int | float | bool
TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "dict": dict}


class InvalidOption(ValueError):
    """An option that the bot does not have, or a value it cannot take."""


@dataclass(frozen=True)
class Option:
    """One field of a bot; `choices` is empty where any value of the type will do."""

    name: str
    kind: str  # a key of TYPES
    default: Any  # of that kind
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    trained: bool = False  # settled when the bot is trained: weights carry it
    needed: bool = True  # of `weights`: without them it can do nothing


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    trained: bool = False,
    needed: bool = True,
) -> Any:
    """Declare an option of a bot; the arguments must be written as literals."""
    about = {"help": help, "least": least, "most": most, "trained": trained, "needed": needed}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=about)
    return field(default=default, metadata=about)


def read_options(path: Path) -> tuple[Option, ...]:
    """Return the options that the bot in this file declares."""
    tree = ast.parse(path.read_text("utf-8"))
    named = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name("BOT")], value=ast.Name(bot)):
                return tuple(_options(named[bot]))
    raise InvalidOption(f"{path.name} must end with `BOT = ` and the name of its class")


def read_presets(path: Path) -> dict[str, dict[str, Any]]:
    """Return the named sets of options in this file's `PRESETS`, a literal; none if it has none."""
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name("PRESETS")], value=found):
                return dict(ast.literal_eval(found))
            case ast.AnnAssign(target=ast.Name("PRESETS"), value=ast.expr() as found):
                return dict(ast.literal_eval(found))
    return {}


def _options(bot: ast.ClassDef) -> Iterator[Option]:
    for node in bot.body:
        match node:
            case ast.AnnAssign(ast.Name(name), kind, ast.Call(ast.Name("option")) as call):
                yield _option(name, ast.unparse(kind), call)


def _option(name: str, kind: str, call: ast.Call) -> Option:
    default, text = (ast.literal_eval(argument) for argument in call.args)
    more = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    choices: tuple[str, ...] = ()
    if kind.startswith("Literal["):
        listed = ast.literal_eval(kind.removeprefix("Literal"))
        choices, kind = tuple(listed), "str"
    return Option(name, kind.split("[")[0], default, text, choices, **more)


def check_options(
    bot: str, options: tuple[Option, ...], given: Mapping[str, object]
) -> dict[str, Any]:
    """Return the given values, each of its option's type, or refuse one by name."""
    known = {each.name: each for each in options}
    for name in given:
        if name not in known:
            raise InvalidOption(f"{bot} has no option {name!r}; it has {_listed(known)}")
    return {name: _checked(bot, known[name], value) for name, value in given.items()}


def _listed(known: Mapping[str, Option]) -> str:
    return ", ".join(sorted(known)) or "none"


def _checked(bot: str, wanted: Option, value: object) -> object:
    if wanted.kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    right = type(value) is TYPES[wanted.kind]
    if right and wanted.choices:
        right = value in wanted.choices
    if right and isinstance(value, int | float):
        least, most = wanted.least, wanted.most
        right = (least is None or value >= least) and (most is None or value <= most)
    if not right:
        raise InvalidOption(f"{bot}: {wanted.name} is {value!r}, but must be {describe(wanted)}")
    return value


def describe(wanted: Option) -> str:
    """Say in words which values an option takes."""
    if wanted.choices:
        return "one of " + ", ".join(wanted.choices)
    words = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "dict": "a mapping",
    }[wanted.kind]
    if wanted.least is not None:
        words += f", at least {wanted.least:g}"
    if wanted.most is not None:
        words += f", at most {wanted.most:g}"
    return words


def parse_option(bot: str, options: tuple[Option, ...], name: str, raw: str) -> object:
    """Return the value written as text, on a command line or in a form."""
    known = {each.name: each for each in options}
    if name not in known:
        raise InvalidOption(f"{bot} has no option {name!r}; it has {_listed(known)}")
    kind = known[name].kind
    value: object = raw
    if kind == "bool" and raw.lower() in {"true", "false"}:
        value = raw.lower() == "true"
    elif kind in {"int", "float", "dict"}:
        try:
            value = ast.literal_eval(raw)
        except (ValueError, SyntaxError):
            value = raw
    return _checked(bot, known[name], value)
