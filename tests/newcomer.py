"""Newcomers with a fresh clone, who paste the code of docs/adding.md where the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^`([\w/.]+)`:\n\n```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINES = re.compile(
    r"^`([\w/.]+)`, below `([^`]+)`:\n\n```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(section: str) -> dict[str, str]:
    """Return the code of a section of the page by the path that stands above it."""
    return dict(BLOCK.findall(_text(section)))


def lines(section: str) -> list[tuple[str, str, str]]:
    """Return a section's code that goes into files that are there: path, line above it, code."""
    return LINES.findall(_text(section))


def _text(section: str) -> str:
    page = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    _, _, rest = page.partition(f"\n## {section}\n")
    return rest.partition("\n## ")[0]


def clone(folder: Path) -> None:
    """Copy every file that git has or would take, as a fresh clone has them."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    told = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in told.split("\0"):
        source = ROOT / name
        if name and source.is_file() and not source.is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    _compiled(folder)
    (folder / "var").mkdir(exist_ok=True)
    for kept in (ROOT / "var").glob("migrated-*.sqlite3"):  # of the same migrations, or not used
        shutil.copyfile(kept, folder / "var" / kept.name)


def _compiled(folder: Path) -> None:
    """Copy what was compiled of these files, so that no process of the clone does it again."""
    for cache in [each for each in ROOT.glob("*/**/__pycache__") if ".venv" not in each.parts]:
        if (beside := folder / cache.relative_to(ROOT)).parent.is_dir():
            shutil.copytree(cache, beside, ignore=shutil.ignore_patterns("*.pyc.*"))


def paste(section: str, folder: Path) -> None:
    """Write a section's code into the clone; none of its files may be there."""
    for path, code in blocks(section).items():
        assert not (folder / path).exists(), path
        (folder / path).write_text(code, encoding="utf-8")


def insert(section: str, folder: Path) -> None:
    """Write a section's lines into files of the clone, each below a line that is there once."""
    for path, above, code in lines(section):
        content = (folder / path).read_text(encoding="utf-8").splitlines(keepends=True)
        (index,) = (k for k, line in enumerate(content) if line.strip() == above)
        content.insert(index + 1, code)
        (folder / path).write_text("".join(content), encoding="utf-8")


def passed(folder: Path, *arguments: str) -> Counter[str]:
    """Run pytest in the clone and return how many tests of each file passed; any failure fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-rpfE", "-p", "no:cacheprovider", *arguments]
    kept = {name: value for name, value in os.environ.items() if name != "DATA_DIR"}
    env = {**kept, "DEBUG": "1"}
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
    return Counter(re.findall(r"^PASSED ([^:]+)::", ran.stdout, re.MULTILINE))
