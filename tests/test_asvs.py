"""The table of the OWASP ASVS: every id of levels 1 and 2 once, and what it names exists (G12)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "asvs.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (V[\d.]+) \| (\d) \| ([^|]+) \| ([^|]+) \| (.+) \|$", re.MULTILINE)
REFERENCE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)(?:::(\w+))?`")
STATES = {"met", "deployer", "n/a", "not met"}
# How many requirements of levels 1 and 2 each section of 5.0.0 has, of level 1 and in all; within
# a section those of level 3 come last.
SECTIONS = {
    "V1.1": (0, 2),
    "V1.2": (5, 9),
    "V1.3": (2, 11),
    "V1.4": (0, 3),
    "V1.5": (1, 2),
    "V2.1": (1, 3),
    "V2.2": (2, 3),
    "V2.3": (1, 4),
    "V2.4": (0, 1),
    "V3.2": (2, 2),
    "V3.3": (1, 4),
    "V3.4": (2, 6),
    "V3.5": (3, 5),
    "V3.7": (0, 2),
    "V4.1": (1, 3),
    "V4.2": (0, 1),
    "V4.3": (0, 2),
    "V4.4": (1, 4),
    "V5.1": (0, 1),
    "V5.2": (2, 3),
    "V5.3": (2, 2),
    "V5.4": (0, 3),
    "V6.1": (1, 3),
    "V6.2": (8, 12),
    "V6.3": (2, 4),
    "V6.4": (2, 4),
    "V6.5": (0, 5),
    "V6.6": (0, 3),
    "V6.8": (0, 4),
    "V7.1": (0, 3),
    "V7.2": (4, 4),
    "V7.3": (0, 2),
    "V7.4": (2, 5),
    "V7.5": (0, 2),
    "V7.6": (0, 2),
    "V8.1": (1, 2),
    "V8.2": (2, 3),
    "V8.3": (1, 1),
    "V8.4": (0, 1),
    "V9.1": (3, 3),
    "V9.2": (1, 4),
    "V10.1": (0, 2),
    "V10.2": (0, 2),
    "V10.3": (0, 4),
    "V10.4": (5, 11),
    "V10.5": (0, 5),
    "V10.6": (0, 2),
    "V10.7": (0, 3),
    "V11.1": (0, 2),
    "V11.2": (0, 3),
    "V11.3": (2, 3),
    "V11.4": (1, 4),
    "V11.5": (0, 1),
    "V11.6": (0, 1),
    "V12.1": (1, 3),
    "V12.2": (2, 2),
    "V12.3": (0, 4),
    "V13.1": (0, 1),
    "V13.2": (0, 5),
    "V13.3": (0, 2),
    "V13.4": (1, 5),
    "V14.1": (0, 2),
    "V14.2": (1, 4),
    "V14.3": (1, 3),
    "V15.1": (1, 3),
    "V15.2": (1, 3),
    "V15.3": (1, 7),
    "V16.1": (0, 1),
    "V16.2": (0, 5),
    "V16.3": (0, 4),
    "V16.4": (0, 3),
    "V16.5": (0, 3),
    "V17.1": (0, 1),
    "V17.2": (0, 4),
    "V17.3": (0, 2),
}
BESIDES = {"V1.2.10", "V2.4.2", "V3.4.7", "V8.3.2", *(f"V15.4.{number}" for number in range(1, 5))}


def rows() -> list[tuple[str, str, str, str, str]]:
    found = ROW.findall(PAGE)
    assert len(found) == 253 + len(BESIDES)
    return found


def test_every_requirement_of_levels_1_and_2_is_there_once_with_its_level() -> None:
    wanted = {
        f"{section}.{number}": "1" if number <= first else "2"
        for section, (first, count) in SECTIONS.items()
        for number in range(1, count + 1)
    }
    assert Counter(wanted.values()) == {"1": 70, "2": 183}
    found = [(key, level) for key, level, *_ in rows()]
    assert dict(found) == wanted | dict.fromkeys(BESIDES, "3")
    assert len(dict(found)) == len(found)


def wrong(row: tuple[str, str, str, str, str]) -> list[str]:
    """Return what is wrong with a row: its state, its words, a reference that leads nowhere."""
    key, _, about, state, where = row
    found = [f"{key}: state {state}"] * (state not in STATES)
    # A few words of ours; the standard has its own.
    found += [f"{key}: {about}"] * (len(about.split()) > 8)
    for path, test in REFERENCE.findall(where):
        file = ROOT / path
        is_there = file.exists() and (not test or f"def {test}(" in file.read_text("utf-8"))
        found += [f"{key}: {path}::{test}"] * (not is_there)
    return found


def test_what_each_row_names_exists() -> None:
    assert [problem for row in rows() for problem in wrong(row)] == []
    row = ("V1.1.1", "2", "a", "fine", "`tests/test_asvs.py::test_of_nothing`")
    assert wrong(row) == ["V1.1.1: state fine", "V1.1.1: tests/test_asvs.py::test_of_nothing"]


def test_the_sums_and_the_list_of_what_is_not_met_are_those_of_the_table() -> None:
    states = Counter(state for key, level, _, state, _ in rows() if level != "3")
    words = " ".join(PAGE.split())
    for state, said in (
        ("met", "are met"),
        ("deployer", "are the deployer's"),
        ("n/a", "do not apply"),
        ("not met", "are not met"),
    ):
        assert f"**{states[state]} {said}**" in words
    missing = [key for key, _, _, state, _ in rows() if state == "not met"]
    assert re.findall(r"^- \*\*(V[\d.]+)\*\*", PAGE, re.MULTILINE) == missing
