"""Registry of bots and datasets: a file in `zoo/` is a bot, a file in `datasets/` a dataset.

Names and options are found without importing the files, so that a process which only lists and
checks bots never loads torch.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

from bots import weights
from bots.dialogue import Dialogue
from bots.options import (
    InvalidOption,
    Option,
    check_options,
    read_needs,
    read_options,
    read_presets,
)

PATHS = ("weights", "checkpoint")  # paths of files; their content counts
HERE = Path(__file__).parent  # the folders are not imported: a bot that wraps another needs us

_built: dict[str, object] = {}
_building = threading.Lock()


class UnknownName(LookupError):
    """No file of that name in the folder."""


class Dataset(Protocol):
    """A file of `datasets/`: `source` is a path, or as the dataset documents it."""

    def read(self, source: str) -> list[Dialogue]: ...


class WritableDataset(Dataset, Protocol):
    """A dataset that is a layout of files, and not only data that came with a package."""

    def write(self, dialogues: Sequence[Dialogue], path: Path) -> None: ...


@cache
def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(HERE / folder)])))


def bot_names() -> list[str]:
    """Return the names of all bots, sorted, without importing them."""
    return list(_names("zoo"))


def dataset_names() -> list[str]:
    """Return the names of all datasets, sorted, without importing them."""
    return list(_names("datasets"))


def source_of(name: str) -> Path:
    """Return the file that declares a bot: `zoo/<name>.py`, or `__init__.py` of its package."""
    package = HERE / "zoo" / name
    return package / "__init__.py" if package.is_dir() else package.with_suffix(".py")


@cache
def bot_options(name: str) -> tuple[Option, ...]:
    """Return the options of a bot, without importing it."""
    _known(name, bot_names(), "bot")
    return read_options(source_of(name))


@cache
def bot_presets(name: str) -> dict[str, dict[str, Any]]:
    """Return a bot's named sets of options; "toy", its defaults, is always one of them."""
    _known(name, bot_names(), "bot")
    return {"toy": {}, **read_presets(source_of(name))}


@cache
def bot_docs(name: str) -> str:
    """Return the documentation of a bot, without importing it.

    Raises:
        UnknownName: there is no such bot.
    """
    _known(name, bot_names(), "bot")
    return ast.get_docstring(ast.parse(source_of(name).read_text("utf-8"))) or ""


def bot_summary(name: str) -> str:
    """Return the first paragraph of a bot's documentation, without importing it.

    Raises:
        UnknownName: there is no such bot.
    """
    return " ".join(bot_docs(name).partition("\n\n")[0].split())


def bot_lacks(name: str) -> str:
    """Return the extra that a bot needs and that is not installed here, or ""."""
    _known(name, bot_names(), "bot")
    needs = read_needs(source_of(name)).items()
    return next((extra for extra, modules in needs if not all(map(find_spec, modules))), "")


def preset(name: str, chosen: str) -> dict[str, Any]:
    """Return one named set of a bot's options. Raises UnknownName if the bot has no such preset."""
    known = bot_presets(name)
    if chosen not in known:
        raise UnknownName(f"{name} has no preset {chosen!r}; it has {', '.join(sorted(known))}")
    return dict(known[chosen])


ORIGIN = ("corpus", "license")


def get_bot(name: str, **options: object) -> object:
    """Return the bot with these options, building it once in the life of the process."""
    key = json.dumps([name, options], sort_keys=True, default=str)
    with _building:
        if key not in _built:
            _built[key] = make_bot(name, **options)
        return _built[key]


def make_bot(name: str, **options: object) -> object:
    """Build a new bot with these options; its training options come from its weights."""
    known = bot_options(name)
    checked = check_options(name, known, options)
    if checked.get("weights"):
        checked = _with_trained(name, known, checked)
    return importlib.import_module(f"bots.zoo.{name}").BOT(**checked)


def _with_trained(
    name: str, known: tuple[Option, ...], values: Mapping[str, object]
) -> dict[str, object]:
    about = weights.read_about(Path(str(values["weights"])))
    trained = {each.name for each in known if each.trained}
    settled = {key: value for key, value in about.options.items() if key in trained}
    for key in settled.keys() & values.keys():
        if settled[key] != values[key]:
            raise InvalidOption(
                f"{name}: {key} is {values[key]!r}, but these weights were trained with "
                f"{settled[key]!r}; leave it out, or train anew"
            )
    return {**settled, **values}


def get_dataset(name: str) -> Dataset:
    """Return the reader that the file `datasets/<name>.py` is."""
    _known(name, dataset_names(), "dataset")
    return cast(Dataset, importlib.import_module(f"bots.datasets.{name}"))


def _known(name: str, names: Sequence[str], kind: str) -> None:
    if name not in names:
        raise UnknownName(f"no {kind} {name!r}; there are {', '.join(names)}")


def version(bot: object) -> dict[str, str]:
    """Return the bot's name and a hash of its options and weights, for every reply's record.

    Where its weights say on which corpus they were trained, so does it, with the license.
    """
    name = type(bot).__module__.rpartition(".")[2]
    known = bot_options(name)
    options = {each.name: getattr(bot, each.name) for each in known if each.name not in PATHS}
    directory, folder = (str(getattr(bot, each, "")) for each in ("weights", "checkpoint"))
    learned = weights.digest(Path(directory)) if directory else ""
    learned = weights.digest_of_files(Path(folder)) if folder else learned
    inside = [version(bot.inner)] if hasattr(bot, "inner") else []
    about = {"model": name, "parameters": weights.digest_of([options, learned, *inside])}
    return about | (_origin(Path(directory)) if directory else _origin_of(inside))


def _origin(directory: Path) -> dict[str, str]:
    """Return the corpus and license that weights have on record."""
    about = weights.read_about(directory)
    return {name: value for name in ORIGIN if (value := getattr(about, name))}


def _origin_of(inside: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {name: one[name] for one in inside for name in ORIGIN if name in one}
