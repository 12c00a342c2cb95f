"""The acceptance table: every row of the checklist has its function, and what it shows holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from bots.datasets import jsonl
from tests.acceptance import personachat_dev, table
from tests.acceptance.__main__ import main
from tests.acceptance.shell import Shell, Shown
from tests.conftest import SHARED

ROWS = {each.id: each for each in table.wanted()}
QUICK = [name for name in ROWS if not table.is_slow(name)]
SLOW = [
    pytest.param(name, marks=pytest.mark.xdist_group("acceptance"))  # weights are trained once
    for name in ROWS
    if table.is_slow(name) and not table.is_through_pages(name)
]
# Each takes a minute or more, with a server of its own: one is tried here, all by
# `python -m tests.acceptance --pages`. Its simulations and tests of pages run in the suite too.
THROUGH_PAGES = "NL-P4"
OF_CAMPAIGNS = {"A-THRED"}  # analyses that no protocol's row shows
# Rows whose sentence does not hold yet, and why; one that comes to hold must leave this list.
OPEN = {
    "B-NGRAM": "on 850 real dialogues .387, below .421 of the learned map, 75 to 108, p .02",
}
# Verbs that the rule of PC-P2 lets both sentences have, beside stop words.
VERBS = frozenset("live lived like liked love make work worked working want does time".split())  # noqa: SIM905
# Those of the rows added on 2026-11-22 that are in scope so far.
ADDED = (
    "M-NLI",
    "M-ASKED",
    "M-IMPLICIT",
    "M-TURNS",
    "M-TOK",
    "A-SHEET",
    "A-STATS",
    "D-TREE",
    "A-DSTC7",
    "A-PPMI",
    "F-SELECT",
    "B-OUTSIDE",
    "A-HUMAN",
    "A-BOARD",
    "A-TABLE1",
    "A-STATINT",
    "A-SSAN",
    "A-SSALINE",
    "A-ASAPP",
    "A-EVENTH",
    "A-CHIKAI",
    "A-L2E",
    "F-COMP",
    "F-CLEAN",
    "F-DESK",
)
# Rows that need a package which the development lock does not have.
EXTRAS = {"M-TOK": "japanese"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("acceptance")


def test_every_row_in_scope_has_its_function() -> None:
    assert set(table.functions()) == set(ROWS)
    assert len(ROWS) == 193


def test_the_rows_are_those_of_the_specification() -> None:
    spec = SHARED.parent / "spec" / "systems.md"
    if not spec.is_file():
        pytest.skip("no folder shared/spec beside the repository")
    lines = [line.strip("| \n").split(" | ") for line in spec.read_text("utf-8").splitlines()]
    told, added = (
        {cells[0]: (cells[1], cells[-1]) for cells in lines if len(cells) == columns}
        for columns in (5, 6)  # the second table, of rows added later, says where besides
    )
    known = {
        name: cells for name, cells in told.items() if re.match(r"([BDMAX]|PC|CA|ME|PM|NL)-", name)
    }
    known |= {name: added[name] for name in ADDED}
    assert {each.id: (each.what, each.acceptance) for each in ROWS.values()} == known


@pytest.mark.parametrize("name", QUICK)
def test_rows_without_training_hold(name: str, folder: Path) -> None:
    row = table.run(ROWS[name], folder)
    assert row.holds, row.result
    assert row.command


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", SLOW)
def test_rows_that_train_hold(name: str, folder: Path) -> None:
    row = table.run(ROWS[name], folder)
    if row.holds is None:
        assert name in EXTRAS or not SHARED.is_dir(), row.result
        pytest.skip(row.result)
    assert row.holds is (name not in OPEN), row.result


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_row_that_goes_through_pages_holds(folder: Path) -> None:
    assert table.is_through_pages(THROUGH_PAGES)
    row = table.run(ROWS[THROUGH_PAGES], folder)
    assert row.holds, row.result
    assert row.command.startswith("script/simulate reply_ranking --short")


def test_rows_of_protocols_and_no_others_go_through_pages() -> None:
    of_protocols = {name for name in ROWS if re.match(r"(PC|CA|ME|PM|NL|X)-", name)}
    through = {name for name in ROWS if table.is_through_pages(name)}
    assert through >= of_protocols
    assert through - of_protocols <= {*ADDED, *OF_CAMPAIGNS}


def test_every_persona_of_the_real_test_part_is_told_in_words_of_its_own(tmp_path: Path) -> None:
    if not SHARED.is_dir():
        pytest.skip("no folder shared/data beside the repository")
    _, tested, revised = (jsonl.read(each[6:]) for each in personachat_dev.parts(tmp_path))
    assert len(tested) == 150
    for original, other in zip(tested, revised, strict=True):
        assert (original.turns, len(original.persona)) == (other.turns, len(other.persona))
        for one, two in zip(original.persona, other.persona, strict=True):
            words = [set(re.findall(r"[a-z0-9]{4,}", text)) for text in (one, two)]
            assert not words[0] & words[1] - ENGLISH_STOP_WORDS - VERBS, (one, two)


def _shows(monkeypatch: pytest.MonkeyPatch, holds: bool, result: str) -> None:
    def row(shell: Shell) -> Shown:
        if result == "raise":
            raise RuntimeError("no such\nfile")
        if result == "lacks":
            raise table.NotShown("the data is not here")
        return Shown(holds, result, "python -m bots list")

    monkeypatch.setattr(table, "functions", lambda: {"B-GENERIC": row})


@pytest.mark.parametrize(
    ("holds", "result", "verdict", "status"),
    [
        (True, "9 of 9", "holds", 0),
        (False, "8 of 9", "does not hold", 1),
        (False, "raise", "does not hold", 1),
        (False, "lacks", "not shown", 0),
    ],
)
def test_what_does_not_hold_is_told_and_the_status_says_so(
    holds: bool,
    result: str,
    verdict: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _shows(monkeypatch, holds, result)
    assert main(["B-GENERIC"]) == status
    line = next(each for each in capsys.readouterr().out.splitlines() if "B-GENERIC |" in each)
    assert line.endswith(f"| {verdict} |")
    told = {"raise": "RuntimeError: no such file", "lacks": "the data is not here"}
    assert told.get(result, result) in line


def test_the_table_as_json_and_unknown_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["M-F1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["holds"], row["command"]) == ("M-F1", True, "analysis.metrics.word_f1")
    assert main(["B-NOBODY"]) == 2
    assert "no row B-NOBODY" in capsys.readouterr().err
