"""What the documents name exists: files, tests, models, variables, commands, options (S20).

Links are checked with those of all pages in `tests/test_repository.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from celery.bin.celery import celery
from django.apps import apps
from django.core.management import CommandError, CommandParser, get_commands, load_command_class
from uvicorn.main import main as uvicorn

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("README.md"), *(ROOT / "docs").rglob("*.md")])
PLACES = "webapp|evaluation|bots|analysis|templates|static|tests|docs|script|\\.ci"
NAMED = re.compile(rf"`((?:{PLACES})/[\w./<>{{}}*-]*)`")
MANAGE = re.compile(r"manage\.py ([a-z_]+)")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([A-Z][A-Z_]+)` \|", re.MULTILINE)
SETTING = re.compile(r'\benv(?:\.\w+)?\(\s*"([A-Z_]+)"')
OF_BOTS = re.compile(r'\benviron\.get\(\s*"([A-Z_]+)"')
OF_SHELL = re.compile(r"\$\{([A-Z][A-Z_]+):-")
EXAMPLE = re.compile(
    r"humor|typed_number|echo_last_word|plain|answers|counts|quiet"
)  # adding.md makes these up


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def page(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


each_page = pytest.mark.parametrize("path", [name(one) for one in PAGES])


@each_page
def test_every_path_that_is_named_exists(path: str) -> None:
    named = {one for one in NAMED.findall(page(path)) if not re.search(r"[<>{}*]", one)}
    if path == "docs/adding.md":
        named = {one for one in named if not EXAMPLE.search(one)}
    assert sorted(one for one in named if not (ROOT / one).exists()) == []


def test_paths_are_found_at_all() -> None:
    assert "webapp/services/rules/access.py" in NAMED.findall(page("docs/security.md"))


@each_page
def test_every_command_that_is_named_exists(path: str) -> None:
    assert set(MANAGE.findall(page(path))) - set(get_commands()) == set()


def test_every_variable_is_in_the_tables_and_nothing_else_is() -> None:
    """Those of settings.py, those of bots, and those with a default that scripts read."""
    read = set(SETTING.findall(page("webapp/settings.py")))
    for module in (ROOT / "bots").rglob("*.py"):
        read |= set(OF_BOTS.findall(module.read_text(encoding="utf-8")))
    scripts = [one for folder in ("script", ".ci") for one in (ROOT / folder).iterdir()]
    for script in scripts:
        read |= set(OF_SHELL.findall(script.read_text(encoding="utf-8")))
    assert len(read) > 10
    assert set(ROW.findall(page("docs/running.md"))) == read


def test_the_data_map_has_every_model() -> None:
    table = page("docs/security.md").partition("## Data map")[2]
    rows = re.findall(r"^\| (\w+) \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(["model", *(model.__name__ for model in apps.get_models())])


def test_every_control_has_a_row() -> None:
    rows = re.findall(r"^\| (S\d+) \| .* \| (built|part|none) \|", page("docs/security.md"), re.M)
    assert [control for control, _ in rows] == [f"S{number}" for number in range(1, 21)]


def test_what_is_not_complete_is_said_plainly() -> None:
    text = page("docs/security.md")
    missing = text.partition("## What is not built")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (S\d+) \| .* \| (?:part|none) \|", text, re.M)
    assert [one for one in rows if not re.search(rf"\b{one}\b", missing)] == []


def commands() -> Iterator[str]:
    """What running.md tells to type, and what its units start."""
    for language, block in FENCE.findall(page("docs/running.md")):
        begin = {"console": "$ ", "ini": "ExecStart="}.get(language)
        for line in block.replace("\\\n", " ").splitlines():
            if begin and line.startswith(begin):
                yield line.removeprefix(begin)


def of_django(words: list[str]) -> None:
    command = load_command_class(get_commands()[words[0]], words[0])
    parser: CommandParser = command.create_parser("manage.py", words[0])
    parser.parse_args(words[1:])


def of_click(command: click.Command, words: list[str]) -> None:
    """Parse as the program would; whether the values can be had is not asked."""
    command.make_parser(click.Context(command)).parse_args(words)


def check(line: str) -> bool:
    """Parse a command of a program that is known here; tell whether it was."""
    words = shlex.split(line)
    programs = [Path(word).name for word in words]
    for program in ("manage.py", "uvicorn", "celery"):
        if program in programs:
            rest = words[programs.index(program) + 1 :]
            break
    else:
        return False
    if program == "manage.py":
        of_django(rest)
    elif program == "uvicorn":
        of_click(uvicorn, rest)
    else:
        assert rest[:2] == ["-A", "webapp"]
        assert isinstance(celery, click.Group)
        of_click(celery.commands[rest[2]], rest[3:])
    return True


def test_commands_of_the_guide_have_the_options_they_are_given() -> None:
    checked = [line for line in commands() if check(line)]
    assert len(checked) > 20
    assert {"uvicorn", "celery"} <= {Path(shlex.split(line)[0]).name for line in checked}


@pytest.mark.parametrize(
    "line",
    [
        "manage.py sweep --twice",
        "manage.py backup --keep many",
        "uvicorn webapp.asgi:application --ws-maximum 3",
        "celery -A webapp worker --pool-of solo",
    ],
)
def test_an_option_that_is_not_there_would_be_found(line: str) -> None:
    with pytest.raises((CommandError, click.UsageError)):
        check(line)


def test_decisions_have_one_number_each() -> None:
    numbers = [one.name[:4] for one in (ROOT / "docs" / "decisions").glob("*.md")]
    assert sorted(numbers) == sorted(set(numbers))
    for one in (ROOT / "docs" / "decisions").glob("*.md"):
        title = one.read_text(encoding="utf-8").splitlines()[0]
        found = re.match(r"# (\d+)", title)
        assert found, f"{one.name}: its title begins with its number"
        assert int(found.group(1)) == int(one.name[:4]), one.name
