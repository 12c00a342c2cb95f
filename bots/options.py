"""Options of a bot: the fields of its dataclass, read from its file without running it.

The web shows and checks options but must never load torch, so they are read from the source. The
rules that this asks for are kept by a contract test: the class that `BOT` names, or a class of ours
that it inherits from, declares each option as `name: type = option(default, "help")`, with literals
only. A class that wants other defaults than those it inherits says so with `@defaults(name=value)`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bots.prompt_slots import unknown_slot

PACKAGE = Path(__file__).parent
Class = TypeVar("Class")
Scalar = str | int | float | bool
OR_NONE = " | None"  # of the type of an option that may be absent
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
    after: str = ""  # the option that it is listed behind; "": behind the one declared before it
    required: bool = False  # without it the bot can say nothing
    pattern: str = ""  # a text must match it, unless it is empty
    like: str = ""  # a text that does
    longest: int = 500  # characters of a text that a form takes; more than 500: of several lines
    last: bool = False  # listed behind those that are not, wherever it was declared
    label: str = ""  # in a form; "": its name
    slots: bool = False  # a prompt with slots (bots.prompt_slots)
    optional: bool = False  # may be None: nothing is passed on

    @property
    def words(self) -> str:
        """Label of its field."""
        return self.label or self.name


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    trained: bool = False,
    needed: bool = True,
    after: str = "",
    required: bool = False,
    pattern: str = "",
    like: str = "",
    longest: int = 500,
    last: bool = False,
    label: str = "",
    slots: bool = False,
) -> Any:
    """Declare an option of a bot; the arguments must be written as literals."""
    about: dict[str, Any] = {
        "help": help,
        "least": least,
        "most": most,
        "trained": trained,
        "needed": needed,
    }
    about |= {"after": after, "required": required, "pattern": pattern, "like": like}
    about |= {"longest": longest, "last": last, "label": label, "slots": slots}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=about)
    return field(default=default, metadata=about)


def defaults(**values: Scalar) -> Callable[[type[Class]], type[Class]]:
    """Give inherited options other defaults; stands below `@dataclass`, with literals.

    Raises:
        InvalidOption: a name that the class does not inherit.
    """

    def changed(bot: type[Class]) -> type[Class]:
        known = {name: each for base in reversed(bot.__mro__) for name, each in _fields(base)}
        for name, value in values.items():
            if name not in known:
                raise InvalidOption(f"{bot.__name__} inherits no option {name!r}")
            bot.__annotations__[name] = known[name].type
            setattr(bot, name, field(default=value, metadata=known[name].metadata))
        return bot

    return changed


def _fields(base: type) -> list[tuple[str, Field[Any]]]:
    return list(vars(base).get("__dataclass_fields__", {}).items())


def read_options(path: Path) -> tuple[Option, ...]:
    """Return the options of the bot in this file, in the order in which they are listed.

    Raises:
        InvalidOption: the file names no class as its `BOT`.
    """
    for node in _tree(path).body:
        match node:
            case ast.Assign(targets=[ast.Name("BOT")], value=ast.Name(bot)):
                return _listed(_declared(path, bot))
    raise InvalidOption(f"{path.name} must end with `BOT = ` and the name of its class")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _declared(path: Path, name: str) -> dict[str, Option]:
    """Return a class's options in the order of its fields: those it inherits come first."""
    named = {node.name: node for node in _tree(path).body if isinstance(node, ast.ClassDef)}
    found: dict[str, Option] = {}
    for base in reversed(named[name].bases):
        where = _module_of(base, path)
        if where is not None and isinstance(base, ast.Name):
            found |= _declared(where, base.id)
    for decorator in named[name].decorator_list:
        match decorator:
            case ast.Call(func=ast.Name("defaults"), keywords=changed):
                values = {str(word.arg): ast.literal_eval(word.value) for word in changed}
                found |= {key: replace(found[key], default=values[key]) for key in values}
    for each in _options(named[name]):
        old = found.pop(each.name, None) if each.after else found.get(each.name)
        found[each.name] = replace(each, after=each.after or old.after) if old else each
    return found


def _module_of(base: ast.expr, path: Path) -> Path | None:
    """Return the file of ours that a base class comes from."""
    for node in _tree(path).body:
        match node:
            case ast.ClassDef(name=name) if isinstance(base, ast.Name) and name == base.id:
                return path
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("bots."):
                if isinstance(base, ast.Name) and base.id in {each.name for each in names}:
                    return PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    return None


def _listed(declared: Mapping[str, Option]) -> tuple[Option, ...]:
    """Return the options in the order that `after` asks for."""
    listed: list[str] = []
    before = -1
    for name, each in declared.items():
        before = (listed.index(each.after) if each.after else before) + 1
        listed.insert(before, name)
    return tuple(sorted((declared[name] for name in listed), key=lambda each: each.last))


def read_presets(path: Path) -> dict[str, dict[str, Any]]:
    """Return the named sets of options in this file's `PRESETS`, a literal; none if it has none."""
    return _literal(path, "PRESETS")


def read_needs(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the modules of each extra in this file's `NEEDS`, a literal; none if it has none."""
    return _literal(path, "NEEDS")


def _literal(path: Path, name: str) -> dict[str, Any]:
    for node in _tree(path).body:
        match node:
            case ast.Assign(targets=[ast.Name(found)], value=value) if found == name:
                return dict(ast.literal_eval(value))
            case ast.AnnAssign(target=ast.Name(found), value=ast.expr() as value) if found == name:
                return dict(ast.literal_eval(value))
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
    plain = kind.removesuffix(OR_NONE)
    return Option(name, plain.split("[")[0], default, text, choices, optional=plain != kind, **more)


def check_options(
    bot: str, options: tuple[Option, ...], values: Mapping[str, object]
) -> dict[str, Any]:
    """Return the values, each of its option's type, or refuse one by name.

    Raises InvalidOption, naming the option, the value and what is right.
    """
    known = {each.name: each for each in options}
    for name in values:
        if name not in known:
            raise InvalidOption(f"{bot} has no option {name!r}; it has {_names(known)}")
    return {name: _checked(bot, known[name], value) for name, value in values.items()}


def _names(known: Mapping[str, Option]) -> str:
    return ", ".join(sorted(known)) or "none"


def _checked(bot: str, wanted: Option, value: object) -> object:
    if value is None and wanted.optional:
        return None
    if wanted.kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    right = type(value) is TYPES[wanted.kind]
    if right and wanted.choices:
        right = value in wanted.choices
    if right and isinstance(value, str) and value and wanted.pattern:
        right = re.fullmatch(wanted.pattern, value) is not None
    if right and isinstance(value, int | float):
        least, most = wanted.least, wanted.most
        right = (least is None or value >= least) and (most is None or value <= most)
    if right and wanted.slots and (complaint := unknown_slot(str(value))):
        raise InvalidOption(f"{bot}: {wanted.name}: {complaint}")
    if not right:
        raise InvalidOption(f"{bot}: {wanted.name} is {value!r}, but must be {describe(wanted)}")
    return value


def describe(wanted: Option) -> str:
    """Return the values that an option takes, in words."""
    if wanted.choices:
        return "one of " + ", ".join(wanted.choices)
    if wanted.like:
        return f"like {wanted.like}"
    words = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "dict": "a JSON object",
    }[wanted.kind]
    if wanted.least is not None:
        words += f", at least {wanted.least:g}"
    if wanted.most is not None:
        words += f", at most {wanted.most:g}"
    return f"{words}; empty: not sent" if wanted.optional else words


def parse_option(bot: str, options: tuple[Option, ...], name: str, raw: str) -> object:
    """Return the value written as text, on a command line or in a form.

    Raises InvalidOption, naming the option, the value and what is right.
    """
    known = {each.name: each for each in options}
    if name not in known:
        raise InvalidOption(f"{bot} has no option {name!r}; it has {_names(known)}")
    kind = known[name].kind
    value: object = raw
    if kind == "bool" and raw.lower() in {"true", "false"}:
        value = raw.lower() == "true"
    elif known[name].optional and not raw.strip():
        value = None
    elif kind == "dict" and (found := _json(raw)) is not None:
        value = found
    elif kind in {"int", "float", "dict"}:
        try:
            value = ast.literal_eval(raw)
        except (ValueError, SyntaxError):
            value = raw
    return _checked(bot, known[name], value)


def _json(raw: str) -> object | None:
    """Return what a text holds as JSON, None where it is none."""
    try:
        return json.loads(raw, parse_constant=_refuse)  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
