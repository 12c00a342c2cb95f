"""Sources of participants' texts: every template, module and script that a participant may see.

Nothing here is a typed list of texts or files: templates are all but staff's, modules all that the
views and sockets of participants import, scripts all that those templates load.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
STATIC = ROOT / "static"
OF_STAFF = ("staff", "results", "registration")  # folders of templates
# Where a participant's request comes in; what it imports is found from there.
ENTRANCES = ("webapp.views.participant", "webapp.views.events", "webapp.sockets.consumers")
STAFF_ROOMS = tuple(f"webapp.services.{room}" for room in ("accounts", "campaign", "staff_forms"))
# What bots say and are told, and what a rehearsal says to them: words of a chat, or of staff.
OF_BOTS = ("bots.guards.filters", "bots.prompt_slots", "webapp.services.replies.rehearsal")
OPEN_FOLDERS = ("evaluation/kinds",)  # whose files are found by being there
SCRIPT = re.compile(r"{% static '(?P<name>[\w-]+\.js)' %}")
IMPORT = re.compile(r'from "\./(?P<name>[\w-]+\.js)"')


def templates() -> list[Path]:
    """Return the templates that are not staff's."""
    every = sorted(TEMPLATES.rglob("*.html"))
    return [each for each in every if each.relative_to(TEMPLATES).parts[0] not in OF_STAFF]


def scripts() -> list[Path]:
    """Return the scripts that those templates load, and what they import."""
    wanted = [name for each in templates() for name in SCRIPT.findall(each.read_text("utf-8"))]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += IMPORT.findall((STATIC / name).read_text("utf-8"))
    return [STATIC / name for name in sorted(found)]


@cache
def modules() -> tuple[Path, ...]:
    """Return the modules that a participant's request runs through."""
    wanted, found = [*ENTRANCES], set[Path]()
    while wanted:
        name = wanted.pop()
        path = _file(name)
        if path is None or path in found or name.startswith((*STAFF_ROOMS, *OF_BOTS)):
            continue
        found.add(path)
        wanted += _imports(path)
    open_files = (path for folder in OPEN_FOLDERS for path in (ROOT / folder).glob("*.py"))
    return tuple(sorted(found | set(open_files)))


def _file(module: str) -> Path | None:
    path = ROOT / module.replace(".", "/")
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((each for each in candidates if each.exists()), None)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
