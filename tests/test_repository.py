"""What holds for every file of the repository: where it is, how long, and what it may not name."""

import ast
import re
import statistics
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP = {
    *("webapp", "evaluation", "bots", "analysis", "templates", "static", "tests", "docs", "script"),
    *("manage.py", "pyproject.toml", "README.md", "LICENSE"),
}
PRODUCT = ("webapp", "evaluation", "bots", "analysis")
NOT_OURS = ("static/vendor/", "webapp/migrations/")
TEXT = {
    ".py",
    ".js",
    ".css",
    ".html",
    ".md",
    ".toml",
    ".txt",
    ".json",
    ".jsonl",
    ".csv",
    ".lock",
    "",
}

# What only one machine or one workplace has.
ABSOLUTE = re.compile(r"""(?:^|[\s"'`(=:])/(?:root|work|tmp|home/\w+|Users/\w+)/""", re.MULTILINE)
REGISTRY = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.\w+)", re.IGNORECASE)
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@cache
def files() -> tuple[str, ...]:
    """Everything that is committed or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"git does not list the files: {run.stderr.strip()}")
    return tuple(name for name in run.stdout.splitlines() if (ROOT / name).is_file())


def ours(*suffixes: str) -> Iterator[str]:
    for name in files():
        if Path(name).suffix in suffixes and not name.startswith(NOT_OURS):
            yield name


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_top_holds_what_the_house_has() -> None:
    top = {name.split("/")[0] for name in files()}
    assert {name for name in top - TOP if not name.startswith(".")} == set()


@pytest.mark.parametrize("place", ["script", ".ci"])
def test_scripts_can_be_run(place: str) -> None:
    scripts = [ROOT / name for name in files() if Path(name).parent == Path(place)]
    started = [path for path in scripts if path.suffix == ""]
    assert started
    assert [path.name for path in started if not path.stat().st_mode & 0o100] == []


def test_functions_are_short() -> None:
    """House rule: half under 10 lines, nine in ten under 35."""
    lengths = [length for name in ours(".py") if name.startswith(PRODUCT) for length in spans(name)]
    assert statistics.median(lengths) < 10
    assert statistics.quantiles(lengths, n=10)[-1] < 35


def spans(name: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text(name))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def test_every_module_says_what_it_is_for() -> None:
    modules = [name for name in ours(".py") if text(name).strip()]
    assert [name for name in modules if not ast.get_docstring(ast.parse(text(name)))] == []


@pytest.mark.parametrize("pattern", [ABSOLUTE, REGISTRY], ids=["path", "registry"])
def test_nothing_names_one_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    """The lists of words and dialogues that people wrote may mention anything."""
    found = {
        name: match.group()
        for name in ours(*TEXT)
        if name not in {"LICENSE", "tests/test_repository.py"}
        and (match := pattern.search(text(name)))
    }
    assert found == {}


def test_names_without_meaning_are_not_used() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}
    assert [name for name in ours(".py", ".js") if Path(name).stem in empty] == []


def test_links_of_the_documentation_lead_somewhere() -> None:
    pages = list(ours(".md"))
    assert pages
    assert [(page, link) for page in pages for link in broken(page)] == []


def broken(page: str) -> Iterator[str]:
    for first, second in LINK.findall(FENCE.sub("", text(page))):
        link = first or second
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def anchors(page: Path) -> set[str]:
    """The names that headings get: lower case, spaces to dashes, punctuation gone."""
    headings = re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
