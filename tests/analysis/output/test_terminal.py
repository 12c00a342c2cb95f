"""Reports as plain text."""

from __future__ import annotations

import pandas as pd

from analysis import Report, Section, rendered
from analysis.output.terminal import table, written


def test_cells() -> None:
    assert [written(value) for value in (None, float("nan"), 0.5, 3, "a\nb")] == [
        "-",
        "-",
        "0.500",
        "3",
        "a b",
    ]


def test_numbers_stand_right_and_names_left() -> None:
    lines = table(pd.DataFrame({"system": ["a", "long"], "n": [1, 100]})).split("\n")
    assert lines == ["system    n", "-----------", "a         1", "long    100"]


def test_findings_come_before_cautions_and_sections() -> None:
    section = Section("What it shows", pd.DataFrame({"x": [1]}), "How.")
    text = rendered(Report("r", "Title", ("Found.",), (section,), ("Careful.",), ("Asked.",)))
    places = [
        text.index(part)
        for part in ("Title", "Found.", "Caution: Careful.", "What it", "How.", "Methods", "Asked.")
    ]
    assert places == sorted(places)
    assert text.endswith("Asked.\n")
