"""A shell for rows: runs the project's commands in this process and remembers what was run."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bots import bot_options, make_bot
from tests.analysis.examples import ROOT
from tests.bots.examples import SERVES, weights

SEED = "1"


@dataclass(frozen=True)
class Shown:
    """What running a row told: does its sentence hold, with which figures, by what."""

    holds: bool
    result: str
    command: str


@dataclass
class Shell:
    """Everything is written to one folder, and named as seen from there."""

    folder: Path
    commands: list[str] = field(default_factory=list)

    def path(self, name: str) -> str:
        """Return where a file of this name is."""
        return str(self.folder / name)

    def written(self, name: str, text: str) -> str:
        """Write a file and return where it is."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.path(name)

    def weights(self, name: str) -> str:
        """Return the weights of a bot, trained once for this folder on demo:train."""
        name = SERVES.get(name, name)
        where = self.folder / "weights" / name
        if not where.is_dir():
            shutil.copytree(weights(name), where)
        return str(where)

    def bot(self, name: str, **options: object) -> Any:
        """Return a bot with its weights, if it is one that is trained."""
        needed = any(each.name == "weights" for each in bot_options(name))
        return make_bot(name, **({"weights": self.weights(name)} if needed else {}), **options)

    def bots(self, *arguments: str, said: str = "") -> str:
        """Run `python -m bots` and return what it printed; `said` is its input."""
        from bots.__main__ import main

        return self._run("bots", main, arguments, said)

    def apart(self, library: str, *arguments: str) -> str:
        """Run `python -m LIBRARY` in a process of its own; return all that it printed."""
        self.commands.append(self._told(library, arguments, ""))
        command = [sys.executable, "-m", library, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.commands[-1]}: {done.stderr.strip()[-500:]}")
        return done.stdout + done.stderr

    def campaign(self, module: str, *arguments: str) -> Any:
        """Run a campaign of this folder's module with a database of its own; return its JSON."""
        name = f"tests.acceptance.{module}"
        self.commands.append(self._told(name, arguments, ""))
        folder = self.folder / module
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", name, *arguments],
            cwd=ROOT,
            env={**os.environ, "DATA_DIR": str(folder), "DEBUG": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-500:])
        return json.loads(done.stdout)

    def analysis(self, *arguments: str) -> str:
        """Run `python -m analysis` and return what it printed."""
        from analysis.__main__ import main

        return self._run("analysis", main, arguments, "")

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a JSON Lines file that a command wrote."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def shown(self, holds: object, result: str, *by: Callable[..., object]) -> Shown:
        """Return what a row showed, by the commands it ran and the functions it called."""
        called = list(dict.fromkeys([*self.commands, *map(named, by)]))
        return Shown(bool(holds), result, " ; ".join(called))

    def _run(
        self,
        library: str,
        main: Callable[[Sequence[str]], int],
        arguments: Sequence[str],
        said: str,
    ) -> str:
        self.commands.append(self._told(library, arguments, said))
        printed, refused = io.StringIO(), io.StringIO()
        with _reading(said), redirect_stdout(printed), redirect_stderr(refused):
            status = main(list(arguments))
        if status:
            raise RuntimeError(f"{self.commands[-1]}: {refused.getvalue().strip()}")
        return printed.getvalue()

    def _told(self, library: str, arguments: Sequence[str], said: str) -> str:
        words = " ".join(f"'{word}'" if " " in word else word for word in arguments)
        words = words.replace(f"{self.folder}/", "")
        lines = said.splitlines()
        asked = f"echo '{lines[0]}' | " if len(lines) == 1 else ""
        more = f" < {len(lines)} lines" if len(lines) > 1 else ""
        return f"{asked}python -m {library} {words}{more}"


@contextmanager
def _reading(said: str) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.StringIO(said)
    try:
        yield
    finally:
        sys.stdin = before


def named(function: Callable[..., object]) -> str:
    """Return the public name of a function or class, with its module."""
    module = function.__module__
    if module.rpartition(".")[2] == function.__qualname__:
        return module
    return f"{module}.{function.__qualname__}"


def slow(row: Callable[[Shell], Shown]) -> Callable[[Shell], Shown]:
    """Mark a row that trains a bot, or takes more than about a second."""
    row.is_slow = True  # type: ignore[attr-defined]
    return row
