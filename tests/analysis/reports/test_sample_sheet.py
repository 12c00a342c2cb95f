"""Sample sheets: drawn by the seed, with the answers of the table, without what is set aside."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis import MessageTable, PredictionTable, RatingTable, get_report, prediction_table
from analysis.__main__ import main
from analysis.tables.options import BadOption
from tests.analysis.examples import ratings
from tests.analysis.talks import Line, talks

sample_sheet = get_report("sample_sheet")


def chats(count: int = 20) -> MessageTable:
    given: list[list[Line]] = [
        [(f"s{k % 2}", f"Hello {k}"), ("human", f"Hi {k}"), (f"s{k % 2}", f"Bye {k}")]
        for k in range(count)
    ]
    return talks(given)


def scores(count: int = 20) -> RatingTable:
    rows: list[dict[str, object]] = []
    for k in range(count):
        about = {"conversation": f"c{k}", "system": f"s{k % 2}", "rater": f"r{k}"}
        rows.append({**about, "item": f"d{k}", "question": "fun", "value": k % 4 + 1})
        for seq in (0, 2):
            label = {"item": f"d{k}:{seq}", "question": "sensible", "message_seq": seq}
            rows.append({**about, **label, "value": (k + seq) % 3, "level": "ordinal"})
    return ratings(rows)


def _titles(**options: object) -> list[str]:
    return [section.title for section in sample_sheet(chats(), **options).sections]


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    assert _titles(seed=1) == _titles(seed=1)
    drawn = {tuple(_titles(seed=seed)) for seed in range(6)}
    assert len(drawn) > 4
    assert len(_titles()) == 6  # three of each of two systems
    assert len(_titles(each=2)) == 4
    assert len(_titles(each=99)) == 20
    # Drawn, not the first ones: every conversation comes up.
    seen = {title for seed in range(60) for title in _titles(seed=seed)}
    assert len(seen) == 20


def test_each_label_and_score_is_the_table_s() -> None:
    report = sample_sheet(chats(), scores(), seed=4)
    assert len(report.sections) == 6
    for section in report.sections:
        k = int(section.key.removeprefix("conversation-c"))
        assert section.title == f"Conversation c{k} with s{k % 2}: fun {k % 4 + 1}"
        labels = section.frame.set_index("seq")["labels"].to_dict()
        assert labels == {0: f"sensible {k % 3}", 1: "", 2: f"sensible {(k + 2) % 3}"}
        assert section.frame["text"].tolist() == [f"Hello {k}", f"Hi {k}", f"Bye {k}"]


def test_what_is_set_aside_never_appears() -> None:
    table, votes = chats(), scores()
    out = {f"c{k}" for k in range(0, 20, 3)}
    aside = table["conversation"].isin(out) & (table["seq"] == 1)
    kept = MessageTable(table.assign(excluded=aside.map({True: "withdrawn", False: ""})))
    wrong = votes["question"] == "sensible"
    answers = RatingTable(votes.assign(excluded=wrong.map({True: "failed check", False: ""})))
    for seed in range(10):
        for section in sample_sheet(kept, answers, seed=seed).sections:
            assert section.key.removeprefix("conversation-") not in out
            assert not section.frame["labels"].any()
            assert ": fun" in section.title
    with pytest.raises(BadOption, match="picked is 'c0'"):
        sample_sheet(kept, picked=["c0"])


def test_a_sheet_by_hand_says_so() -> None:
    report = sample_sheet(chats(), picked=["c7", "c1"])
    assert report.title == "Sample sheet, picked"
    assert report.findings == ("2 samples, picked by hand.",)
    assert [section.key for section in report.sections] == ["conversation-c7", "conversation-c1"]
    assert "picked" not in sample_sheet(chats()).title
    assert "drawn at random (seed 0)" in sample_sheet(chats()).findings[0]
    with pytest.raises(BadOption, match="picked is 'c99'"):
        sample_sheet(chats(), picked=["c1", "c99"])


def test_the_command_draws_and_picks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "messages.csv")
    chats().to_csv(path, index=False)
    sheet = [path, "--report", "sample_sheet"]
    assert main([*sheet, "--seed", "3", "--each", "1"]) == 0
    assert "2 samples, drawn at random (seed 3)." in capsys.readouterr().out
    assert main([*sheet, "--pick", "c4"]) == 0
    assert "Sample sheet, picked" in capsys.readouterr().out
    for wrong in (["--each", "0"], ["--pick", "c99"], ["--each", "2", "--report", "spam_flags"]):
        assert main([*sheet, *wrong]) == 2


def _replies() -> PredictionTable:
    rows = [
        {"prediction": f"{k}{who}", "system": who, "dataset": "d", "example": f"e{k}"}
        | {"context": ["Hi!", f"Why {k}?"], "gold": "x", "response": f"{who} so {k}"}
        | {"candidates": "", "scores": "", "log_probs": ""}
        for k in range(9)
        for who in ("a", "b")
    ]
    return prediction_table(pd.DataFrame(rows))


def test_contexts_have_every_system_s_reply_and_its_labels() -> None:
    given = ratings(
        [
            {"item": f"e{k}", "system": who, "rater": f"r{r}", "question": "sensible", "value": r}
            for k in range(9)
            for who in ("a", "b")
            for r in range(1 + (who == "b"))
        ]
    )
    report = sample_sheet(None, given, _replies(), seed=2)
    assert len(report.sections) == 3
    for section in report.sections:
        k = section.key.removeprefix("context-e")
        assert section.title == f"Context e{k}: Hi! / Why {k}?"
        assert section.frame["reply"].tolist() == [f"a so {k}", f"b so {k}"]
        assert section.frame["labels"].tolist() == ["sensible 0", "sensible 0, 1"]
    assert sample_sheet(None, given, _replies(), seed=2).findings == report.findings
    assert sample_sheet().findings == ("There is nothing to draw samples from.",)
