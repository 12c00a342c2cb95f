"""The page of promises: every id that is cited has a row, and nothing is called kept untested."""

from __future__ import annotations

import re

from tests import promises

PAGE = promises.PAGE.read_text(encoding="utf-8")
ROWS = promises.promises(PAGE)
SECURITY = (promises.ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def _numbers(letter: str) -> list[int]:
    return [int(row.id[1:]) for row in ROWS if row.id[0] == letter]


def test_every_promise_has_one_row() -> None:
    found = {letter: _numbers(letter) for letter in "RGS"}
    assert found == {"R": [*range(1, 43)], "G": [*range(1, 32)], "S": [*range(1, 21)]}


def test_every_id_of_the_code_has_a_row() -> None:
    known = {row.id for row in ROWS}
    files = [
        path
        for folder in (*promises.CODE, "tests")
        for kind in ("*.py", "*.html", "*.js", "*.css")
        for path in (promises.ROOT / folder).rglob(kind)
        if "vendor" not in path.parts
    ]
    unknown = {
        f"{path.relative_to(promises.ROOT)}: {name}"
        for path in files
        for name in promises.cited(path.read_text(encoding="utf-8")) - known
    }
    assert unknown == set()


def test_the_tests_of_each_row_are_those_that_name_it() -> None:
    assert promises.filled(PAGE) == PAGE, "run python -m tests.promises"


def test_what_is_called_kept_has_a_test_and_what_is_not_has_none() -> None:
    states = {"R": "built|part: .+|not built", "G": "measured|part: .+|not measured"}
    for row in ROWS:
        assert re.fullmatch(states.get(row.id[0], "built|part|none"), row.state), row
        assert bool(row.tests) or row.state not in ("built", "measured"), row
        assert not row.tests or not row.state.startswith("not "), row


def test_controls_are_as_far_as_the_page_on_security_says() -> None:
    said = re.findall(r"^\| (S\d+) \| .* \| (built|part|none) \|", SECURITY, re.MULTILINE)
    assert said == [(row.id, row.state) for row in ROWS if row.id[0] == "S"]


def test_a_span_of_ids_cites_all_of_it() -> None:
    assert promises.cited("R31-R33, and S4 (G1).") == {"R31", "R32", "R33", "S4", "G1"}
    assert promises.cited("R3a XR4 E5 V11.2") == set()
