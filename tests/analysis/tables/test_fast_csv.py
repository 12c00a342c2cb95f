"""A CSV without quotes is read at once, to the same frame as row by row."""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import BadTable
from analysis.tables import cell_values, fast_csv, reading

CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='\x00\r\n,"'), max_size=4
)


def frame(content: bytes, *, coded: bool = False) -> pd.DataFrame:
    """Return the cells of a file that takes no closer look."""
    cells = fast_csv.plain(content, coded=coded)
    assert cells is not None
    return fast_csv.frame(cells)


@settings(deadline=None)
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_it_is_the_frame_that_rows_give(rows: list[tuple[str, str, str]], end: str) -> None:
    lines = [["a", "b", "c"], *rows]
    content = "".join(",".join(line) + end for line in lines)
    found, coded = (frame(content.encode(), coded=way) for way in (False, True))
    read = [line for line in csv.reader(io.StringIO(content, newline=""), strict=True) if line]
    slow: Any = [[cell_values.unguarded(cell) for cell in line] for line in read[1:]]
    expected = pd.DataFrame(slow, columns=["a", "b", "c"], dtype="str")
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(coded.astype("str"), expected)


def test_cells_that_repeat_are_categories_in_order_of_name() -> None:
    rows = [("b", "1"), ("'=x", "2"), ("a", "3"), ("b", "4"), ("a", "5"), ("'=x", "6")] * 2
    content = "who,id\n" + "".join(f"{who},{id}-{k}\n" for k, (who, id) in enumerate(rows))
    found = frame(content.encode(), coded=True)
    assert found["who"].cat.categories.tolist() == ["=x", "a", "b"]  # without the guard
    assert found["who"].astype("str").tolist() == [who.lstrip("'") for who, _ in rows]
    assert found["id"].dtype == "str"  # no two alike


def test_a_name_that_comes_late_in_a_long_file_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_csv, "SAMPLE", 100)
    names = [*["a", "b"] * 40, *map(str, range(9)), "A"]
    found = frame(("who\n" + "\n".join(names)).encode(), coded=True)
    assert isinstance(found["who"].dtype, pd.CategoricalDtype)
    assert found["who"].tolist() == names


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n1,"2"\n',
        b"a,b\n1,2\n3\n",
        b"a,a\n1,2\n",
        b"a,b\n1,2\r3,4",
        b"a,b\n1,\xe9\n",  # Latin-1
        b"\xe9,b\n1,2\n",
        "a,b\n1,2\n".encode("utf-16"),
        b"PK\x03\x04,b\n1,2\n",
        b"",
    ],
)
@pytest.mark.parametrize("coded", [False, True])
def test_what_needs_a_look_is_left_to_the_reading_by_rows(content: bytes, coded: bool) -> None:
    assert fast_csv.plain(content, coded=coded) is None


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"sep=;\r\n", b"\xef\xbb\xbfsep=;\n"])
def test_marks_before_the_header_are_no_cells(mark: bytes) -> None:
    found = frame(mark + b"a;b\n1;2\n")
    assert found.to_dict("list") == {"a": ["1"], "b": ["2"]}


def test_the_row_that_is_wrong_is_still_told() -> None:
    with pytest.raises(BadTable, match="row 2: number of fields is 1; right would be 2"):
        reading._read_csv("r.csv", "a,b\n1,2\n3\n")
