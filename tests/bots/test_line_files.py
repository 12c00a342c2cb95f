"""Lines of a file: where one ends, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots.line_files import InvalidData, read_lines, read_listed, read_records

SEPARATED = "a\u2028b\x85c\u2029d"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_at_a_line_feed_however_it_is_written(end: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(f"{SEPARATED}{end}{end}last".encode())
    assert read_lines(path) == [SEPARATED, "", "last"]
    path.write_bytes(f"one{end}".encode())
    assert read_lines(path) == ["one"]
    path.write_bytes(b"")
    assert read_lines(path) == []


def test_a_text_with_separators_of_unicode_is_one_record(tmp_path: Path) -> None:
    path, record = tmp_path / "file", {"text": SEPARATED}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", "utf-8")
    assert read_records(path, dict) == [record]
    path.write_text(json.dumps([record], ensure_ascii=False), "utf-8")
    assert read_listed(path, dict) == [record]


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000])
def test_what_is_nested_deeper_than_can_be_read_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content, "utf-8")
    for read in (read_records, read_listed):
        with pytest.raises(InvalidData, match="not JSON"):
            read(path, dict)
