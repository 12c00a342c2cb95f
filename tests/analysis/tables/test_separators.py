"""Tables as a spreadsheet of another country writes them, and slips of the keyboard."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis import BadTable, Tables, read
from analysis.scores.cautions import cautions
from analysis.tables.fast_csv import separator

HEADER = "rater,system,question,value\n"


def _read(folder: Path, text: str) -> Tables:
    (folder / "mine.csv").write_text(text, encoding="utf-8")
    return read(folder / "mine.csv")


@pytest.mark.parametrize(("parted", "name"), [(";", "semicolons"), ("\t", "tabs")])
@pytest.mark.parametrize("system", ['"a, b"', "c"], ids=["by rows", "at once"])
def test_semicolons_and_tabs_are_read_and_told(
    tmp_path: Path, parted: str, name: str, system: str
) -> None:
    text = f"{HEADER}r1,SYSTEM,q,1\nr2,SYSTEM,q,2\n".replace(",", parted)
    tables = _read(tmp_path, text.replace("SYSTEM", system))
    assert tables.notes[0] == f"The file is separated by {name}."
    assert tables.ratings is not None
    assert list(tables.ratings["system"]) == [system.strip('"')] * 2


@pytest.mark.parametrize(
    ("header", "parted"),
    [
        ("a,b;c", ","),
        ("a;b\tc", ";"),
        ("a\tb", "\t"),
        ("a", ","),
        ("", ","),
        ('"a, b";c', ";"),
        ('"a; b",c', ","),
        ("a\n1;2", ","),
    ],
)
def test_the_header_says_what_separates(header: str, parted: str) -> None:
    assert separator(header) == parted
    assert separator(f"{header}\n1,2;3") == parted


def test_a_decimal_comma_is_told_with_what_would_be_right(tmp_path: Path) -> None:
    text = f"{HEADER}r1,a,q,DECIMAL\nr2,b,q,2\n".replace(",", ";").replace("DECIMAL", "3,5")
    with pytest.raises(BadTable, match=r"row 1: value is '3,5'; right would be 3\.5, with a point"):
        _read(tmp_path, text)


def _with_slip(*answers: int) -> str:
    rows = [f"r{k},{'ab'[k % 2]},q,{value}\n" for k, value in enumerate(answers)]
    return HEADER + "".join(rows)


def test_a_slip_of_the_keyboard_is_told(tmp_path: Path) -> None:
    ratings = _read(tmp_path, _with_slip(1, 2, 3, 4, 5, 44)).ratings
    assert ratings is not None
    told = " ".join(cautions(ratings))
    assert "mine, q: 44, in 1 row, is far from the other answers, 1 to 5; give the scale" in told


@pytest.mark.parametrize(
    ("answers", "far"),
    [
        ((1, 2, 3, 12), True),  # 9 away, where the others span 2: more than three times
        ((1, 2, 3, 9), False),  # 6 away: three times, not more
        ((12, 11, 10, 1), True),
        ((1, 2, 44), False),  # three points: of these nothing can be told
    ],
)
def test_how_far_is_far(tmp_path: Path, answers: tuple[int, ...], far: bool) -> None:
    ratings = _read(tmp_path, _with_slip(*answers)).ratings
    assert ratings is not None
    assert bool([one for one in cautions(ratings) if "is far from" in one]) == far


def test_on_a_given_scale_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(_with_slip(1, 2, 3, 4, 5, 44))
    pd.read_csv(path).assign(scale_low=1, scale_high=5).to_csv(path, index=False)
    with pytest.raises(BadTable, match="row 6: value is 44; right would be a number from 1 to 5"):
        read(path)
