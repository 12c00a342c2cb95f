"""Ratings of one's own: four columns are enough, and what is assumed of the others is told."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from analysis import BadTable, Tables, evaluate, get_report, read, read_all, run
from analysis.__main__ import main
from analysis.tables.columns import REQUIRED
from analysis.tables.defaults import MOST_POINTS, completed
from tests.analysis.examples import raw, simulated


def _written(folder: Path, text: str, name: str = "mine.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def _four(rows: list[tuple[object, ...]]) -> str:
    return "".join(",".join(map(str, line)) + "\n" for line in [REQUIRED, *rows])


@dataclass(frozen=True)
class Done:
    """How the command ended, and what it printed."""

    status: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`python -m analysis`, without the seconds that a process of its own takes to start."""

    def run(*arguments: object) -> Done:
        status = main([str(each) for each in arguments])
        return Done(status, *capsys.readouterr())

    return run


def _table(tables: Tables) -> pd.DataFrame:
    assert tables.ratings is not None
    return tables.ratings


def _frame(questions: dict[str, list[object]], **more: str) -> pd.DataFrame:
    rows = [
        {"rater": f"r{k}", "system": "s", "question": question, "value": value}
        for question, values in questions.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(**more)


# --- four columns -----------------------------------------------------------------------------


def test_four_columns_give_scores_and_say_what_was_assumed(
    command: Command, tmp_path: Path
) -> None:
    whole = simulated(raters=20)
    whole[["value", "question", "system", "rater"]].to_csv(tmp_path / "mine.csv", index=False)
    done = command(tmp_path / "mine.csv")
    assert (done.status, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "Q: s3 and s2 are highest, not told apart" in told
    assert "agreement between raters cannot be computed" in told
    assert "q taken for ordinal" in told
    assert "There are no columns answer, campaign, protocol, place" in told


def test_the_scores_are_those_of_the_whole_table(tmp_path: Path) -> None:
    whole = simulated(raters=20)
    columns = ["rater", "system", "question", "value", "scale_low", "scale_high"]
    whole[columns].to_csv(tmp_path / "p.csv", index=False)
    mine, theirs = (evaluate(each) for each in (_table(read(tmp_path / "p.csv")), whole))
    pd.testing.assert_frame_equal(mine.drop(columns="reason"), theirs.drop(columns="reason"))


def test_json_says_what_was_assumed_on_stderr(command: Command, tmp_path: Path) -> None:
    path = _written(tmp_path, _four([("r", "a", "q", 1), ("r", "b", "q", 2)]))
    done = command(path, "--json")
    assert done.status == 0
    assert "Caution: There is no column item" in done.err
    assert {row["system"] for row in json.loads(done.out)} >= {"a", "b"}


def test_a_notebook_says_it_too(tmp_path: Path) -> None:
    path = _written(tmp_path, _four([("r", "a", "q", 1), ("r", "b", "q", 2)]))
    report = run(get_report("summary"), read_all([path]), {"seed": 0})
    assert report is not None
    assert [one for one in report.cautions if one.startswith("There is no column item")]


def test_a_whole_table_has_nothing_to_say(tmp_path: Path) -> None:
    simulated(raters=5).to_csv(tmp_path / "r.csv", index=False)
    assert read(tmp_path / "r.csv").notes == ()


@pytest.mark.parametrize("lacking", REQUIRED)
def test_each_of_the_four_is_needed(command: Command, tmp_path: Path, lacking: str) -> None:
    frame = _frame({"q": [1, 2]}).drop(columns=[lacking])
    frame.to_csv(tmp_path / "r.csv", index=False)
    done = command(tmp_path / "r.csv")
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[1] == (
        f"table: {lacking} is missing; right would be the columns rater system question value; "
        "docs/ratings_table.md has all columns"
    )


def test_of_an_export_nothing_is_assumed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("ratings.csv", _four([("r", "a", "q", 1)]))
    with pytest.raises(BadTable, match="item is missing"):
        read(tmp_path / "e.zip")


def test_messages_read_beside_ratings_keep_what_is_told_of_these(tmp_path: Path) -> None:
    message = {"message": "m", "conversation": "c", "seq": 1, "side": "bot", "system": "s"}
    message |= {"persona": "", "text": "Hi!", "sent_at": ""}
    messages = _written(tmp_path, json.dumps(message), "messages.jsonl")
    ratings = _written(tmp_path, _four([("r", "a", "q", 1)]))
    whole = tmp_path / "whole.csv"
    raw([{"value": 3}]).to_csv(whole, index=False)
    assert read_all([ratings, messages]).notes == read(ratings).notes != ()
    assert read_all([ratings, whole]).notes == ()


# --- what stands in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "level"),
    [
        (["red", "blue"], "nominal"),
        ([0, 1, 1], "nominal"),
        (["0", "0"], "nominal"),
        ([1, 1], "ordinal"),
        ([0, 1, 2], "ordinal"),
        (list(range(MOST_POINTS - 1)), "ordinal"),
        (list(range(MOST_POINTS)), "ordinal"),
        (list(range(MOST_POINTS + 1)), "interval"),
        ([1, 2.5], "interval"),
        (["1,5", "2,5"], "interval"),
        ([1, 2, "three"], "ordinal"),
        ([0, 1, "yes"], "ordinal"),
    ],
)
def test_the_level_follows_from_all_answers_to_the_question(
    values: list[object], level: str
) -> None:
    table = completed(_frame({"q": values, "other": ["a word", 0.5]}), "r.csv").frame
    assert set(table.loc[table["question"] == "q", "level"]) == {level}


def test_a_word_among_numbers_is_refused_by_row(tmp_path: Path) -> None:
    path = _written(tmp_path, _four([("r", "a", "q", 3), ("r", "b", "q", "thre")]))
    with pytest.raises(BadTable) as caught:
        read(path)
    assert [problem.row for problem in caught.value.problems] == [2]
    assert "Assumed: There is no column level: q taken for ordinal." in str(caught.value)


def test_an_item_is_each_time_that_a_rater_answers_about_a_system() -> None:
    rows = [
        ("r1", "a", "q"),
        ("r1", "a", "q"),
        ("r1", "a", "p"),
        ("r1", "b", "q"),
        ("r2", "a", "q"),
    ]
    frame = pd.DataFrame(rows, columns=["rater", "system", "question"]).assign(value=1)
    items = list(completed(frame, "r.csv").frame["item"])
    assert items[0] == items[2]  # two questions about the same
    assert len(set(items)) == 4


def test_ranks_need_the_items(tmp_path: Path) -> None:
    frame = _frame({"q": [1, 2]}, level="rank")
    frame.to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(BadTable, match="which systems were ranked together"):
        read(tmp_path / "r.csv")


def test_the_others_are_named_after_the_file_or_blank(tmp_path: Path) -> None:
    table = _table(read(_written(tmp_path, _four([("r", "a", "q", 1), ("r", "b", "q", 2)]))))
    first = table.iloc[0]
    assert list(table["answer"]) == ["1", "2"]
    assert (first["campaign"], first["protocol"], first["place"]) == ("", "mine", "")


def test_a_table_without_rows_is_refused(command: Command, tmp_path: Path) -> None:
    done = command(_written(tmp_path, _four([])), "--json")
    assert (done.status, done.out) == (2, "")
    assert "table: number of rows is 0; right would be a row for each answer" in done.err


# --- other names ------------------------------------------------------------------------------


def test_a_column_by_another_name_is_taken_and_told(tmp_path: Path) -> None:
    text = "Annotator,MODEL,question,Score,dialogue\nann,a,q,3,d1\nben,a,q,4,d1\n"
    tables = read(_written(tmp_path, text))
    assert list(_table(tables)["value"]) == [3.0, 4.0]
    assert list(_table(tables)["item"]) == ["d1", "d1"]
    assert tables.notes[0] == (
        "Columns are taken by another name: 'dialogue' for item, 'MODEL' for system, "
        "'Annotator' for rater, 'Score' for value."
    )
    assert not [note for note in tables.notes if "no column item" in note]


@pytest.mark.parametrize("header", ["score,rating", "Value,VALUE"])
def test_of_two_names_that_fit_one_has_to_be_chosen(tmp_path: Path, header: str) -> None:
    path = _written(tmp_path, f"rater,system,question,{header}\nann,a,q,3,4\n")
    with pytest.raises(BadTable) as caught:
        read(path)
    assert [problem.field for problem in caught.value.problems] == ["value"]
    assert "may be meant, so name one of them value" in str(caught.value)


def test_the_columns_own_name_comes_before_another(tmp_path: Path) -> None:
    path = _written(tmp_path, "rater,system,question,value,score\nann,a,q,3,x\n")
    assert list(_table(read(path))["value"]) == [3.0]


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = _written(tmp_path, "rater,system,question,value,value\nann,a,q,3,4\n")
    with pytest.raises(BadTable, match="column is 'value' twice"):
        read(path)
