"""The table of acceptance: which rows there are, and what comes of running them."""

from __future__ import annotations

import csv
import importlib
import io
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.acceptance.shell import Shell, Shown

HERE = Path(__file__).parent
PAGES = "protocols"  # the folder of rows that go through pages and sockets, each for a minute
KINDS = {
    "": ("b_", "d_", "m_", "a_", "f_"),
    PAGES: ("pc_", "ca_", "me_", "pm_", "nl_", "x_", "a_", "f_"),
}
Run = Callable[[Shell], Shown]


class NotShown(Exception):
    """What a row would need is not here."""


@dataclass(frozen=True)
class Wanted:
    """A row of the checklist."""

    id: str
    what: str
    acceptance: str


@dataclass(frozen=True)
class Row:
    """A row with what came of it; `holds` is None where it could not be shown."""

    id: str
    what: str
    acceptance: str
    command: str
    result: str
    holds: bool | None
    seconds: float

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "does not hold", None: "not shown"}[self.holds]


@cache
def wanted() -> tuple[Wanted, ...]:
    """Return the rows in scope, in the order of the checklist."""
    with (HERE / "rows.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(Wanted(**each) for each in csv.DictReader(lines))


@cache
def functions() -> dict[str, Run]:
    """Return what shows each row, by its id; an id that two functions have is an error."""
    ids, found = {each.id.upper(): each.id for each in wanted()}, dict[str, Run]()
    for name, value in _named():
        row = ids.get(row_of(name), row_of(name))
        if row in found:
            raise ValueError(f"{row} is shown twice")
        found[row] = value
    return found


def _named() -> Iterator[tuple[str, Run]]:
    for room, kinds in KINDS.items():
        package = f"{__package__}.{room}".rstrip(".")
        for module in pkgutil.iter_modules([str(HERE / room)]):
            if module.ispkg or module.name == "__main__":
                continue
            here = importlib.import_module(f"{package}.{module.name}")
            for name, value in vars(here).items():
                if name.startswith(kinds) and getattr(value, "__module__", "") == here.__name__:
                    yield name, value


def row_of(name: str) -> str:
    """Return the id of the row that a function of this name shows."""
    kind, _, rest = name.partition("_")
    return f"{kind}-{rest}".upper()


def is_slow(id: str) -> bool:
    """Tell whether a row trains a bot or takes long."""
    return bool(getattr(functions()[id], "is_slow", False)) or is_through_pages(id)


def is_through_pages(id: str) -> bool:
    """Tell whether a row goes through pages and sockets, with a server of its own."""
    return functions()[id].__module__.startswith(f"{__package__}.{PAGES}.")


def rows(folder: Path, ids: Sequence[str] = ()) -> Iterator[Row]:
    """Run the rows asked for, or all; yield each as soon as it is there."""
    for each in wanted():
        if not ids or each.id in ids:
            yield run(each, folder)


def run(each: Wanted, folder: Path) -> Row:
    """Run one row; what it lacks, or where it fails, is told."""
    shell, began = Shell(folder), time.monotonic()
    found: tuple[str, str, bool | None]
    try:
        with redirect_stderr(io.StringIO()):  # progress of training
            shown = functions()[each.id](shell)
        found = (shown.command, shown.result, shown.holds)
    except (NotShown, pytest.skip.Exception) as reason:
        found = (" ; ".join(shell.commands), str(reason), None)
    except Exception as error:  # whatever goes wrong is this row's result, not the table's end
        told = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")
        found = (" ; ".join(shell.commands), told, False)
    command, result, holds = found
    spent = time.monotonic() - began
    return Row(each.id, each.what, each.acceptance, command, result, holds, spent)
