"""Rows that need a look are found in whole columns, none of those that are wrong passed over."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import BadTable, rating_table
from analysis.tables import cell_values, invalid_rows
from tests.analysis.examples import raw

MESSY = [None, math.nan, "", "  ", "3", 3, 3.0, True, "red", "NaN", [1], pd.NA, " x "]


def test_text_is_that_of_each_cell() -> None:
    for column in (
        pd.Series(MESSY, dtype=object),
        pd.Series(["a", None, " ", ""], dtype="str"),
        pd.Series(["a", " ", "b"], dtype=object),
        pd.Series([1.0, 2.5, math.nan]),
    ):
        assert invalid_rows.as_text(column).tolist() == [cell_values.text(cell) for cell in column]


def test_blanks_are_those_of_each_cell() -> None:
    for column in (pd.Series(MESSY, dtype=object), pd.Series(["a", None, " "], dtype="str")):
        expected = [place for place, cell in enumerate(column) if cell_values.is_blank(cell)]
        assert invalid_rows.blank(column).tolist() == expected


def test_repeated_keys_of_categories_are_those_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    names, keys = ["item", "rater"], [("i", "r"), ("i", "s"), ("j", "r"), ("i", "s"), ("j", "s")]
    for most in (invalid_rows.MOST_KEYS, 1):
        monkeypatch.setattr(invalid_rows, "MOST_KEYS", most)
        for rows, expected in ((keys, [1, 3]), (keys[:3], [])):
            texts = pd.DataFrame(rows, columns=names, dtype="str")
            for table in (texts, texts.astype("category")):
                assert invalid_rows.repeated(table, names).tolist() == expected


def test_of_categories_the_names_are_asked() -> None:
    column = pd.Series(["a", " ", "b\x00", "a", "", " "], dtype="str")
    coded = column.astype("category")
    assert invalid_rows.blank(coded).tolist() == invalid_rows.blank(column).tolist() == [1, 4, 5]
    assert invalid_rows.control(coded).tolist() == invalid_rows.control(column).tolist() == [2]
    table = pd.DataFrame({"x": coded, "y": ["1", "1", "2", "1", "1", "2"]})
    assert invalid_rows.repeated(table, ["x", "y"]).tolist() == [0, 3]
    named = invalid_rows.as_names(coded)
    assert named.cat.categories.tolist() == ["", "a", "b\x00"]
    assert named.tolist() == invalid_rows.as_text(column).tolist()
    texts = invalid_rows.as_texts(table.assign(z=coded), kept=["z"])
    assert [str(texts[name].dtype) for name in texts] == ["str", "str", "category"]
    pd.testing.assert_series_equal(texts["x"], column, check_names=False)


def test_control_characters_are_those_of_the_expression_in_texts_and_objects() -> None:
    cells = [f"a{chr(code)}b" for code in range(256)]
    expected = [k for k, cell in enumerate(cells) if invalid_rows.CONTROL.search(cell)]
    for kind in ("str", object):
        assert invalid_rows.control(pd.Series(cells, dtype=kind)).tolist() == expected


@pytest.mark.parametrize("function", [cell_values.number, cell_values.value, cell_values.is_blank])
def test_equal_cells_are_asked_once(function: Callable[[object], object]) -> None:
    hashable = [cell for cell in MESSY if not isinstance(cell, list)]
    for column in (pd.Series(MESSY, dtype=object), pd.Series(hashable * 3, dtype=object)):
        found = invalid_rows.of_each(column, function)
        expected = [function(cell) for cell in column]
        assert [str(cell) for cell in found] == [str(cell) for cell in expected]


def test_every_wrong_row_of_a_long_table_is_told() -> None:
    frame = raw([{"value": k % 5 + 1, "scale_low": 1, "scale_high": 5} for k in range(3000)])
    frame["value"] = frame["value"].astype(object)
    wrong: dict[int, tuple[str, Any, str]] = {
        7: ("value", "x", "a finite number"),
        70: ("value", math.nan, "an answer"),
        700: ("value", 9, "a number from 1 to 5"),
        1000: ("rater", " ", "some text"),
        1001: ("level", "ratio", "nominal, ordinal"),
        2001: ("scale_high", 7, "1 to 5, as in the question's first row"),
        2999: ("answer", "a5", "an id of its own"),
    }
    for place, (column, value, _) in wrong.items():
        frame[column] = frame[column].astype(object)
        frame.loc[place, column] = value
    with pytest.raises(BadTable) as caught:
        rating_table(frame)
    told = {problem.row: problem.right for problem in caught.value.problems}
    assert sorted(row for row in told if row) == [place + 1 for place in wrong]
    for place, (_, _, right) in wrong.items():
        assert right in told[place + 1]


def test_a_million_cells_take_no_time_each() -> None:
    column = pd.Series(np.tile([1.0, 2.0, 5.0], 100_000), dtype=object)
    asked: list[object] = []

    def ask(cell: object) -> object:
        asked.append(cell)
        return cell

    assert len(invalid_rows.of_each(column, ask)) == 300_000
    assert len(asked) == 3
