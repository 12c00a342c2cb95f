"""The same table comes out of every format, and a broken file gets a clear answer."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import BadTable, RatingTable, read
from analysis.tables.cell_values import unguarded
from tests.analysis.examples import raw

GUARDED = ("=", "+", "-", "@", "\t", "\r", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.fixture
def frame() -> pd.DataFrame:
    rows: list[dict[str, object]] = [
        {"value": 3, "item": "a,b", "question": "q1"},
        {"value": 4, "item": 'say "hi"\nthere', "question": "q1"},
        {"value": 1, "item": "NA", "question": "q2", "level": "nominal"},
    ]
    return raw(rows, scale_low=1, scale_high=5)


def _ratings(path: Path) -> RatingTable:
    table = read(path).ratings
    assert table is not None
    return table


def test_all_formats_agree(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "r.csv", index=False)
    frame.to_parquet(tmp_path / "r.parquet")
    lines = [json.dumps(row) for row in frame.to_dict("records")]
    (tmp_path / "r.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("export/ratings.csv", frame.to_csv(index=False))
        archive.writestr("export/manifest.json", "{}")
    tables = [_ratings(tmp_path / f"r.{kind}") for kind in ("csv", "parquet", "jsonl", "zip")]
    assert list(tables[0]["item"]) == ["a,b", 'say "hi"\nthere', "NA"]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other[tables[0].columns], tables[0], check_dtype=False)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_the_guard_of_a_csv_cell_is_taken_away_exactly(said: str) -> None:
    written = "'" + said if said.startswith(GUARDED) else said
    assert unguarded(written) == said


def test_guarded_cells_come_back_from_a_csv(tmp_path: Path) -> None:
    frame = raw([{"value": "'=1+1", "rater": "''tis", "item": "'plain"}], level="nominal")
    frame.to_csv(tmp_path / "r.csv", index=False)
    table = _ratings(tmp_path / "r.csv")
    assert table[["value", "rater", "item"]].iloc[0].tolist() == ["=1+1", "'tis", "'plain"]


def test_a_zip_may_hold_messages_too(frame: pd.DataFrame, tmp_path: Path) -> None:
    message = {"message": "m", "conversation": "c", "seq": 1, "side": "bot", "system": "s"}
    message |= {"persona": "", "text": "Hi\u2028there", "sent_at": "2026-01-31T12:00:00Z"}
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("ratings.csv", frame.to_csv(index=False))
        archive.writestr("messages.jsonl", json.dumps(message, ensure_ascii=False))
    tables = read(tmp_path / "e.zip")
    assert tables.messages is not None
    assert tables.messages["text"].iloc[0] == "Hi\u2028there"
    assert tables.ratings is not None
    assert tables.predictions is None


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.xlsx", b"x", "file type is an Excel workbook; right would be CSV: save the table as"),
        ("r.csv", b"", "right would be a CSV with a header"),
        ("r.csv", b"answer,value\n1,2,3\n", "row 1: number of fields is 3; right would be 2"),
        ("r.csv", b'answer\n"open\n', "right would be CSV with quotes as in RFC 4180"),
        ("r.csv", b"\xff\xfe", "the file is empty"),
        ("r.csv", b"\xff\xfea", "right would be text in UTF-8"),
        ("r.csv.gz", b"\x1f\x8b", "right would be a whole gzip file"),
        ("r.jsonl", b'{"answer": 1}\n[1]\nno\n', "row 2: line is a JSON list"),
        ("r.jsonl", b"\nno\n", "row 1: line is not JSON"),
        ("r.jsonl", b"[" * 100_000, "row 1: line is not JSON"),  # deeper than Python reads
        ("r.parquet", b"PAR0", "right would be Parquet"),
        ("r.zip", b"PK", "right would be a zip"),
    ],
)
def test_a_broken_file_is_told(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadTable) as caught:
        read(tmp_path / name)
    assert told in str(caught.value)


def test_a_zip_without_tables_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(BadTable, match=r"right would be an export with ratings\.csv"):
        read(tmp_path / "e.zip")


def test_a_byte_order_mark_is_no_part_of_the_header(frame: pd.DataFrame, tmp_path: Path) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(frame.columns)
    writer.writerows(frame.to_numpy().tolist())
    (tmp_path / "r.csv").write_text(buffer.getvalue(), encoding="utf-8-sig")
    assert len(_ratings(tmp_path / "r.csv")) == 3


GIVEN = (
    "answer,campaign,protocol,question,level,item,system,rater,value,place,conversation,votes\n"
    + "".join(
        f"{k},c,p,q,ordinal,i{k // 4},s{k % 2}, r{k % 3},{1 + k % 2},{k % 2},{'d' * (k > 5)},3\n"
        for k in range(12)
    )
)


def test_names_as_categories_are_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GIVEN)
    texts, coded = read(path).ratings, read(path, coded=True).ratings
    assert texts is not None
    assert coded is not None
    assert "category" not in set(map(str, texts.dtypes))
    assert str(coded["rater"].dtype) == "category"
    assert str(coded["answer"].dtype) == "str"
    assert coded["votes"].dtype == float
    pd.testing.assert_frame_equal(coded.astype(texts.dtypes.to_dict()), texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3,c,p", "2,c,p"),  # an answer's id twice
        ("i0,s1, r1,2", "i0,s1, r1,x"),
        ("i1,s0", "i1, "),
        ("i1,s0", "i1,s\x01"),
        ("ordinal,i2", "ratio,i2"),
        ("r0,1,0", "r0,1,first"),
        ("i0,s1, r0", "i0,s1, r1"),  # answered twice
    ],
)
def test_what_is_wrong_is_told_alike_of_categories(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "r.csv"
    assert old in GIVEN
    path.write_text(GIVEN.replace(old, new))
    told = []
    for coded in (False, True):
        with pytest.raises(BadTable) as caught:
            read(path, coded=coded)
        told.append(str(caught.value))
    assert told[0] == told[1]
