"""Copies of the tree, their warm processes, and which tests are a module's own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutation.operators import Mutant

WARM = Path(__file__).with_name("warm.py")
LEFT_OUT = (".git", ".venv", "var", "build", ".*_cache", "staticfiles", "node_modules", "weights")
IMPORTED = "tests/webapp/services/campaign/test_transcripts_import.py"
# Tests of a module besides those of its own room, where these say more of it than the room does.
ELSEWHERE: Mapping[str, Sequence[str]] = {
    "webapp.services.conversation.allocation": [
        "tests/webapp/services/participation/test_enrolment.py"
    ],
    "webapp.services.conversation.messages": ["tests/webapp/views/test_chat_service.py"],
    "webapp.services.rating.attention": ["tests/webapp/views/test_attention.py"],
    "webapp.services.rating.judged_conversations": [
        "tests/webapp/services/writing/test_paraphrases.py",
        IMPORTED,
    ],
    "webapp.services.rating.submission": ["tests/webapp/views/test_attention.py"],
    "webapp.services.rating.transcript_rules": [IMPORTED],
    "webapp.services.rating.transcripts": [IMPORTED],
    "webapp.services.rules.payment": ["tests/webapp/services/participation/test_rounds.py"],
    "webapp.services.rules.quota": ["tests/webapp/services/rating/test_rating_sides.py"],
}
# The tests run on SQLite, without a broker; which settings they need is the tree's to say.
NOT_PASSED_ON = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")


class TestsFail(Exception):
    """The tests fail, or cannot be imported, before anything is changed."""


@dataclass(frozen=True)
class Touched:
    """What one test ran: its seconds, and lines by file."""

    seconds: float
    lines: Mapping[str, frozenset[int]]


def file_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def own_tests(tree: Path, module: str) -> list[str]:
    """Return the files with the tests of a module: its own, its room's, and those of the table.

    Raises `LookupError` where there are none.
    """
    room, _, name = module.rpartition(".")
    folder = tree / "tests" / Path(*room.split("."))
    files = sorted(folder.glob("test_*.py"), key=lambda file: file.stem != f"test_{name}")
    found = [file.relative_to(tree).as_posix() for file in files] + [*ELSEWHERE.get(module, ())]
    if not found:
        raise LookupError(f"module: {module} has no tests in {folder}; it should have some")
    return found


class Copy:
    """A copy of the tree in which one module at a time is changed."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.root = folder / "tree"
        shutil.copytree(tree, self.root, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        (self.root / "var").mkdir(exist_ok=True)
        (self.root / ".venv").symlink_to(Path(sys.prefix))
        environment = {
            name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WARM)],
            cwd=self.root,
            env=environment | {"DEBUG": "1", "DATA_DIR": str(self.root / "var")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send one request to the warm process and return its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        self.process.stdin.flush()
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply

    def load(self, tests: Sequence[str], modules: Sequence[str]) -> None:
        """Warm the process up. Raises `TestsFail` where the tests cannot be imported."""
        reply = self.ask("load", tests=tests)
        if "problem" in reply:
            raise TestsFail(reply["problem"])
        early = sorted(set(reply["ours"]) & set(modules))
        if early:  # a change to them would not be seen
            raise TestsFail(f"imported with the settings, so out of reach: {', '.join(early)}")

    def trace(self, tests: Sequence[str], files: Sequence[str]) -> dict[str, Touched]:
        """Return what each test touches of `files`. Raises `TestsFail` where one fails."""
        reply = self.ask("trace", tests=tests, files=files, seconds=1800)
        if reply["outcome"] != "passed":
            problem = f"{reply['test']}: {reply['outcome']} before anything was changed"
            raise TestsFail(f"{problem}\n{reply['log']}")
        return _touched(reply["touched"])

    def run(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> dict[str, Any]:
        """Run tests on the tree with one change."""
        file = self.root / file_of(mutant.module)
        source, times = file.read_text(), (file.stat().st_atime, file.stat().st_mtime)
        file.write_text(mutant.apply(source))
        os.utime(file, (1, 1))  # older than anything compiled, whatever its size
        try:
            return self.ask("run", tests=tests, seconds=seconds)
        finally:
            file.write_text(source)
            os.utime(file, times)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def remembered(
    tree: Path, tests: Sequence[str], files: Sequence[str], trace: Callable[[], dict[str, Touched]]
) -> dict[str, Touched]:
    """Return what `trace` does, or did when no line of Python in the tree was another."""
    folders = [one for one in tree.iterdir() if not one.name.startswith((".", "var", "build"))]
    names = sorted(name for folder in folders for name in folder.glob("**/*.py"))
    state = hashlib.sha256(repr((sorted(tests), sorted(files))).encode())
    for name in names:
        state.update(f"\0{name.relative_to(tree)}\0".encode() + name.read_bytes())
    kept = tree / "var" / "mutation.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if found.get("state") != state.hexdigest():
        touched = {
            test: {"seconds": one.seconds, "lines": {at: [*row] for at, row in one.lines.items()}}
            for test, one in trace().items()
        }
        found = {"state": state.hexdigest(), "touched": touched}
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(found))
    return _touched(found["touched"])


def _touched(found: Mapping[str, Any]) -> dict[str, Touched]:
    return {
        test: Touched(one["seconds"], {at: frozenset(row) for at, row in one["lines"].items()})
        for test, one in found.items()
    }


@contextmanager
def copies(tree: Path, count: int) -> Iterator[list[Copy]]:
    """Make copies of the tree, each with a warm process; both are gone afterwards."""
    made: list[Copy] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        try:
            for number in range(count):
                place = Path(folder, str(number))
                place.mkdir()
                made.append(Copy(tree, place))
            yield made
        finally:
            for one in made:
                one.close()
