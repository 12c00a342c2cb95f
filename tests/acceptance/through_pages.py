"""Pages and sockets for rows: campaigns of simulated people, and tests that visit pages."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.shell import Shell
from tests.analysis.examples import ROOT

SEED = "7"
LONGEST = 1800.0  # seconds that a command may take


@dataclass(frozen=True)
class Simulated:
    """A campaign that simulated people took: its files, and the line that told what came back."""

    folder: Path
    line: str

    @property
    def export(self) -> str:
        return str(self.folder / "export.zip")

    @property
    def study(self) -> str:
        """The export of the study, where the campaign is a phase of one."""
        return str(self.folder / "study.zip")

    def table(self, name: str, export: str = "") -> list[dict[str, str]]:
        """Return the rows of a table of the export, or of another, as ratings or messages."""
        with zipfile.ZipFile(export or self.export) as archive:
            text = archive.read(f"{name}.csv").decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))


def simulated(shell: Shell, protocol: str, *flags: str) -> Simulated:
    """Let people take a campaign of a protocol, once for the shell's folder with the same flags.

    A file of an own protocol is named as the protocol.
    Raises `RuntimeError` with the problems where the planted truth does not come back.
    """
    into = shell.folder / "simulated" / ("_".join(re.findall(r"\w+", " ".join(flags))) or "own")
    words = [protocol, "--short", "--seed", SEED, *flags]
    shell.commands.append(f"script/simulate {' '.join(words)}".replace(f"{shell.folder}/", ""))
    protocol = Path(protocol).stem
    told = into / f"{protocol}.txt"
    if not told.exists():
        into.mkdir(parents=True, exist_ok=True)
        done = _run("tests.simulate", *words, "--keep", str(into))
        if done.returncode:
            raise RuntimeError(f"{shell.commands[-1]}: {_end(done)}")
        told.write_text(done.stdout, encoding="utf-8")
    lines = told.read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(protocol))
    return Simulated(into / protocol, re.sub(r"\s{2,}", " · ", line.strip()))


def passed(shell: Shell, *nodes: str) -> int:
    """Run tests that visit pages, slow ones too; return how many passed.

    Raises `RuntimeError` where one fails or is skipped, or where a name finds none.
    """
    shell.commands.append(f"python -m pytest {' '.join(nodes)}")
    done = _run("pytest", "-q", "-m", "", "-p", "no:cacheprovider", *nodes)
    counts = dict[str, int]()
    for number, word in re.findall(r"(\d+) (\w+)", done.stdout.strip().splitlines()[-1]):
        counts[word] = int(number)
    if done.returncode or "skipped" in counts or not counts.get("passed"):
        raise RuntimeError(f"{shell.commands[-1]}: {_end(done)}")
    return counts["passed"]


def _run(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env={**os.environ, "DEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}\n{done.stderr}".strip()[-800:]
