"""Several exports read as one table: campaigns one below the other, and numbers that meet."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from analysis import Tables, read_all
from tests.analysis.examples import raw

Row = dict[str, object]


def export(
    folder: Path,
    name: str,
    campaign: str,
    *,
    first: int = 0,
    answers_from: int = 0,
    at: str = "",
    value: int = 3,
    slug: str = "",
) -> Path:
    """Write an export of two answers about two messages of one conversation."""
    rows: list[Row] = [
        {
            "answer": str(first + answers_from + k),
            "item": f"{first}:{k}",
            "conversation": str(first),
        }
        | {"message_seq": str(k), "value": value}
        for k in range(2)
    ]
    messages: list[Row] = [
        {"message": str(first + k), "conversation": str(first), "seq": k, "side": 1}
        | {"system": "s", "persona": "", "text": f"{campaign} {k}", "sent_at": at}
        for k in range(2)
    ]
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("ratings.csv", raw(rows, campaign=campaign).to_csv(index=False))
        archive.writestr("messages.csv", pd.DataFrame(messages).to_csv(index=False))
        if slug:
            people: Row = {"participant": "r", "system": "s", "outcome": "", "excluded": ""}
            answers: Row = {"rater": "r", "system": "s", "excluded": ""}
            archive.writestr("plan.json", json.dumps({"campaign": {"slug": slug}}))
            archive.writestr("manifest.json", "{}")
            archive.writestr("participants.csv", pd.DataFrame([people]).to_csv(index=False))
            archive.writestr("ratings_all.csv", pd.DataFrame([answers]).to_csv(index=False))
    return folder / name


def pairs(tables: Tables) -> dict[str, list[str]]:
    """Return the texts of the messages that each campaign's answers are about."""
    assert tables.ratings is not None
    assert tables.messages is not None
    ratings = tables.ratings.assign(seq=pd.to_numeric(tables.ratings["message_seq"]))
    known = tables.messages.assign(seq=pd.to_numeric(tables.messages["seq"]))
    rows = ratings.merge(known, on=["conversation", "seq"])
    return {str(name): list(part["text"]) for name, part in rows.groupby("campaign_x")}


def test_messages_whose_numbers_meet_are_of_two_servers_where_no_answers_meet(
    tmp_path: Path,
) -> None:
    """None is taken for one of the other's; what a third party judged is the same in both."""
    first, second = "2026-01-01T10:00:00Z", "2026-02-02T10:00:00Z"
    one = export(tmp_path, "a.zip", "one", at=first)
    other = export(tmp_path, "b.zip", "two", answers_from=10, at=second)
    assert pairs(read_all([one, other])) == {"one": ["one 0", "one 1"], "two": ["two 0", "two 1"]}
    judged = export(tmp_path, "c.zip", "two", answers_from=10, at=first)
    found = read_all([one, judged]).messages
    assert found is not None
    assert list(found["message"]) == ["0", "1"]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_campaigns_of_two_exports_are_one_table_also_where_numbers_meet(
    tmp_path: Path, first: int
) -> None:
    """From 2 on they are of one server: no number is given twice."""
    files = [export(tmp_path, "a.zip", "one"), export(tmp_path, "b.zip", "two", first=first)]
    tables = read_all(files)
    assert tables.ratings is not None
    assert tables.ratings["campaign"].tolist() == ["one", "one", "two", "two"]
    assert tables.ratings["answer"].is_unique
    assert ("one/0" in set(tables.ratings["answer"])) == (first < 2)
    assert pairs(tables) == {"one": ["one 0", "one 1"], "two": ["two 0", "two 1"]}


def test_of_the_same_campaign_the_later_export_counts(tmp_path: Path) -> None:
    files = [
        export(tmp_path, "old.zip", "one", value=1),
        export(tmp_path, "other.zip", "two", first=5),
        export(tmp_path, "new.zip", "one", value=4),
    ]
    tables = read_all(files)
    assert tables.ratings is not None
    told = tables.ratings.groupby("campaign")["value"].unique()
    assert {str(name): list(values) for name, values in told.items()} == {"one": [4], "two": [3]}
    assert pairs(tables)["two"] == ["two 0", "two 1"]


@pytest.mark.parametrize(("slug", "names"), [("x", {"one"}), ("y", {"one", "one (2)"})])
def test_campaigns_of_one_name_are_one_only_at_the_same_address(
    tmp_path: Path, slug: str, names: set[str]
) -> None:
    """Each server calls its first campaign alike."""
    files = [
        export(tmp_path, "a.zip", "one", slug="x", value=1),
        export(tmp_path, "b.zip", "one", slug=slug, value=4),
    ]
    tables = read_all(files)
    assert tables.ratings is not None
    assert set(tables.ratings["campaign"]) == names
    assert list(tables.ratings["value"]) == ([4, 4] if len(names) == 1 else [1, 1, 4, 4])
    assert (tables.study is None) == (len(names) == 2)
    assert tables.messages is not None
    assert len(tables.messages) == 2 * len(names)


def test_plain_tables_are_not_joined(tmp_path: Path) -> None:
    for name, value in (("a", 1), ("b", 2)):
        raw([{"value": value}], campaign=name).to_csv(tmp_path / f"{name}.csv", index=False)
    tables = read_all([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert tables.ratings is not None
    assert tables.ratings["campaign"].tolist() == ["b"]
