"""Mutants of mutants: one that is caught, one that is equivalent, each kind of change (G30)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation import __main__ as command
from tests.mutation import equivalents, trees
from tests.mutation.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]
MODULE, TESTS = "planted.sums.adding", "tests/planted/sums/test_adding.py"
ADDING = '''"""Sums of what is given."""


def larger(one: int, other: int) -> int:
    """Return the larger of two."""
    return one if one < other else other


def total(*numbers: int) -> int:
    """Return the sum."""
    found = 0
    for number in numbers:
        found += number
    return found
'''
TEST = '''"""The tests of a planted module."""

from planted.sums import adding


def test_the_larger_is_returned():
    assert adding.larger(2, 1) == 1


def test_a_sum_is_returned():
    assert adding.total(1, 2) == 3
'''


def plant(tree: Path, reason: str = "") -> None:
    """Write a module, its test, and perhaps a line that accepts its first mutant."""
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n",
        "planted/sums/adding.py": ADDING,
        TESTS: TEST,
        equivalents.FILE: f"# accepted\n{first().id}  {reason}\n" if reason else "",
    }
    for name, text in files.items():
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def first() -> Mutant:
    """Return the mutant `one <= other`: for equal numbers it returns the other, equal one."""
    return next(one for one in mutants(MODULE, ADDING) if one.kind == "compare")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trees.Copy]:
    """Return a copy of a tree with the planted module, warmed up."""
    tree = tmp_path_factory.mktemp("planted")
    plant(tree)
    file = tree / TESTS
    endless = "def test_it_ends():\n    while adding.total(1) != 1:\n        pass\n"
    night = "@pytest.mark.slow\ndef test_of_a_night():\n    adding.larger(1, 2)\n"
    file.write_text(f"import pytest\n{TEST}\n\n{endless}\n\n{night}")
    with trees.copies(tree, 1) as (made,):
        made.load(trees.own_tests(tree, MODULE), [MODULE])
        yield made


def judged(copy: trees.Copy, mutant: Mutant, test: str) -> str:
    return command.judge(mutant, copy, [f"{TESTS}::{test}"], 0.0).outcome


def test_what_a_test_notices_is_caught_and_what_none_can_survives(copy: trees.Copy) -> None:
    found = {one.after: one for one in mutants(MODULE, ADDING)}
    assert judged(copy, first(), "test_the_larger_is_returned") == "survived"
    for after in ("found = 1", "found = -1", "return 0"):
        assert judged(copy, found[after], "test_a_sum_is_returned") == "caught"
    assert judged(copy, found["found = 1"], "test_the_larger_is_returned") == "survived"
    assert (copy.root / "planted/sums/adding.py").read_text() == ADDING
    assert command.judge(first(), copy, [], 0.0).test == "(no test runs this line)"


def test_what_never_ends_is_killed(copy: trees.Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    (endless,) = [one for one in mutants(MODULE, ADDING) if one.after == "found = 1"]
    monkeypatch.setattr(command, "PATIENCE", 5.0)
    assert judged(copy, endless, "test_it_ends") == "timeout"
    assert judged(copy, endless, "test_a_sum_is_returned") == "caught"  # it goes on after that


def test_each_test_is_known_by_the_lines_it_runs(copy: trees.Copy) -> None:
    touched = copy.trace([TESTS], [trees.file_of(MODULE)])
    lines = {
        name.rpartition("::")[2]: one.lines[trees.file_of(MODULE)] for name, one in touched.items()
    }
    assert lines == {
        "test_the_larger_is_returned": {6},
        "test_a_sum_is_returned": {11, 12, 13, 14},
        "test_it_ends": {11, 12, 13, 14},
    }
    chosen = command.choose_tests(first(), [TESTS], touched)
    assert chosen == [f"{TESTS}::test_the_larger_is_returned"]


def test_lines_are_traced_again_once_anything_changed(tmp_path: Path) -> None:
    plant(tmp_path)
    traced: list[int] = []

    def trace() -> dict[str, trees.Touched]:
        traced.append(1)
        return {"a test": trees.Touched(0.5, {"a file": frozenset({3, 4})})}

    found = [trees.remembered(tmp_path, [TESTS], ["a file"], trace) for _ in range(2)]
    assert (found[0], traced) == (found[1], [1])
    assert found[0] == trace()
    for name, text in ((TESTS, TEST + "# more"), ("planted/sums/another.py", "")):
        (tmp_path / name).write_text(text)
        before = len(traced)
        trees.remembered(tmp_path, [TESTS], ["a file"], trace)
        assert len(traced) == before + 1
    trees.remembered(tmp_path, [TESTS], ["another file"], trace)
    assert len(traced) == before + 2


def test_tests_that_fail_before_anything_is_changed_are_named(copy: trees.Copy) -> None:
    file = copy.root / TESTS
    kept = file.read_text()
    file.write_text(kept.replace("== 3", "== 4"))
    with pytest.raises(trees.TestsFail, match="test_a_sum_is_returned: failed before anything"):
        copy.trace([TESTS], [trees.file_of(MODULE)])
    file.write_text(kept)


def test_the_command_takes_an_accepted_equivalent_for_no_survivor(tmp_path: Path) -> None:
    plant(tmp_path, "equal numbers are equal")
    out = tmp_path / "results.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.mutation", "--tree", str(tmp_path)),
            *("--module", "planted.sums", "--out", str(out), "--workers", "1"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = {row["after"]: row["outcome"] for row in json.loads(out.read_text())}
    assert outcomes == {
        "return one if one <= other else other": "equivalent",
        "return 0": "caught",
        "found = 1": "caught",
        "found = -1": "caught",
    }
    assert "4 of 4 caught (100.0%): caught 4, equivalent 1" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("return a < b", {"return a <= b", "return not (a < b)"}),
        ("return a == b and not c", {"return a != b and not c", "return (a == b or not c)"}),
        ("raise ValueError(a)", {"pass"}),
        ("notify(a)", {"pass"}),
        ("x = [1.5]", {"x = [2.5]", "x = [0.5]"}),
        ("return rows.filter(a=1, b__gte=c)", {"return rows.filter(b__gte=c)"}),
        ("return rows.filter(b__gte=c)", {"return rows.filter(b__gt=c)", "return rows.filter()"}),
        ("rows.select_for_update(skip_locked=True)", {"pass"}),
        ("return f'{a:.3f} {b < 2}'", {"return not (f'{a:.3f} {b < 2}')"}),
    ],
)
def test_each_kind_of_change_is_made(line: str, changed: set[str]) -> None:
    source = f"def check(a, b, c, rows) -> bool:\n    {line}\n"
    found = mutants("planted", source)
    assert changed <= {one.after for one in found}
    for one in found:
        compile(one.apply(source), "planted", "exec")
        assert one.apply(source) != source
    assert len({one.id for one in found}) == len(found)


@pytest.mark.parametrize(
    ("returns", "value", "other"),
    [
        ("int | None", "a", "None"),
        ("Row", "a", "None"),
        ("list[int]", "a", "[]"),
        ("list[int]", "[]", "[None]"),
        ("dict[str, int]", "a", "{}"),
        ("str", "a", "''"),
        ("bool", "a", "not (a)"),
    ],
)
def test_a_returned_value_becomes_an_empty_one(returns: str, value: str, other: str) -> None:
    (one,) = mutants("planted", f"def get(a) -> {returns}:\n    return {value}\n")
    assert one.after == f"return {other}"


def test_a_mutant_keeps_its_name_where_its_statement_moves() -> None:
    moved = "import os\n\n" + ADDING.replace(
        "def larger", "def other() -> None: ...\n\n\ndef larger"
    )
    names = [{one.id for one in mutants(MODULE, source)} for source in (ADDING, moved)]
    assert names[0] == names[1]
    assert first().id not in {
        one.id for one in mutants(MODULE, ADDING.replace("one < o", "one > o"))
    }


def test_the_draw_is_repeated_by_its_seed_and_spread_over_the_modules() -> None:
    found = command.candidates(ROOT, command.modules_of(ROOT, command.SERVICES))
    drawn = command.draw(found, 100, 0)
    assert drawn == command.draw(found, 100, 0)
    assert drawn != command.draw(found, 100, 1)
    total = sum(map(len, found.values()))
    for module, rows in found.items():
        share = sum(one.module == module for one in drawn)
        assert abs(share - 100 * len(rows) / total) < 1
    assert len({one.id for one in drawn}) == len(drawn) == 100


def test_every_accepted_equivalent_is_still_a_mutant_and_has_a_reason() -> None:
    accepted = equivalents.read(ROOT)
    assert accepted
    assert equivalents.stale(ROOT, accepted) == []


def test_an_equivalent_whose_statement_changed_is_out_of_date(tmp_path: Path) -> None:
    plant(tmp_path, "equal numbers are equal")
    accepted = equivalents.read(tmp_path)
    assert equivalents.stale(tmp_path, accepted) == []
    file = tmp_path / "planted/sums/adding.py"
    file.write_text(ADDING.replace("one < other", "one > other"))
    assert equivalents.stale(tmp_path, accepted) == [first().id]
    (tmp_path / equivalents.FILE).write_text("an id without a reason\n")
    with pytest.raises(ValueError, match=r"equivalent\.txt:1: 'an id without a reason' should be"):
        equivalents.read(tmp_path)


def test_a_module_without_tests_or_that_is_none_is_named() -> None:
    with pytest.raises(LookupError, match=r"module: 'webapp\.nothing' is no module"):
        command.modules_of(ROOT, ["webapp.nothing"])
    with pytest.raises(LookupError, match=r"module: webapp\.nothing\.at_all has no tests"):
        trees.own_tests(ROOT, "webapp.nothing.at_all")
