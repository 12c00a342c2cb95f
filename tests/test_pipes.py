"""Pipes whose reader has left: the command lines end without a word, as Unix tools do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "a list": ("bots", "list"),
    "help of bots": ("bots", "--help"),
    "help": ("analysis", "--help"),
    "a report": ("analysis", "ratings.csv"),
    "numbers": ("analysis", "ratings.csv", "--json"),
    "another command": ("analysis", "tasks", "cases.jsonl"),
}
ROWS = [f"{rater},{system},funny,{value}" for rater, system, value in
        (("ann", "a", 1), ("ann", "b", 2), ("bob", "a", 2), ("bob", "b", 3))]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table of ratings and a file of cases."""
    table = "\n".join(["rater,system,question,value", *ROWS])
    (tmp_path / "ratings.csv").write_text(table, encoding="utf-8")
    case = '{"task": "mentions", "ranked": ["a"], "gold": "a"}'
    (tmp_path / "cases.jsonl").write_text(case, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_ends_quietly_when_nobody_reads_on(
    command: tuple[str, ...], folder: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    assert "Traceback" not in ran.stderr
    assert "BrokenPipe" not in ran.stderr
    assert ran.returncode == 0
