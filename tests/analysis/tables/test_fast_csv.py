"""A CSV without quotes is read at once, to the same frame as row by row."""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import BadTable
from analysis.tables import cell_values, fast_csv, reading

CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='\x00\r\n,"'), max_size=4
)


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_it_is_the_frame_that_rows_give(rows: list[tuple[str, str, str]], end: str) -> None:
    lines = [["a", "b", "c"], *rows]
    content = "".join(",".join(line) + end for line in lines)
    found = fast_csv.plain(content)
    read = [line for line in csv.reader(io.StringIO(content, newline=""), strict=True) if line]
    slow: Any = [[cell_values.unguarded(cell) for cell in line] for line in read[1:]]
    expected = pd.DataFrame(slow, columns=["a", "b", "c"], dtype="str")
    assert found is not None
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize(
    "content", ['a,b\n1,"2"\n', "a,b\n1,2\n3\n", "a,a\n1,2\n", "a,b\n1,2\r3,4"]
)
def test_what_needs_a_look_is_left_to_the_reading_by_rows(content: str) -> None:
    assert fast_csv.plain(content) is None


def test_the_row_that_is_wrong_is_still_told() -> None:
    with pytest.raises(BadTable, match="row 2: number of fields is 1; right would be 2"):
        reading._read_csv("r.csv", "a,b\n1,2\n3\n")
