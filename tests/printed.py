"""Commands that README and the pages of docs print, by the heading that they stand below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^##? (.+)$")
PROMPT = "$ "
OF_SHELL = {"console", "shell", "sh", "bash"}


@dataclass(frozen=True)
class Section:
    """The commands below one heading of a page."""

    page: str
    heading: str
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {self.heading}"


def sections(page: Path) -> Iterator[Section]:
    heading, found = "", dict[str, list[str]]()
    place = 0
    text = page.read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        for line in FENCE.sub("", text[place : block.start()]).splitlines():
            heading = match[1] if (match := HEADING.match(line)) else heading
        place = block.end()
        if block[1] in OF_SHELL:
            found.setdefault(heading, []).extend(_commands(block[2]))
    for name, commands in found.items():
        yield Section(page.relative_to(ROOT).as_posix(), name, tuple(commands))


def _commands(block: str) -> Iterator[str]:
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith(PROMPT):
            yield line.removeprefix(PROMPT).strip()


SECTIONS = [section for page in PAGES for section in sections(page)]
