"""The four log reports in the layouts of ConvAI2: own rows beside those printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis import Report, get_report, rendered
from analysis.__main__ import main
from analysis.text.frequencies import of_texts
from tests.analysis.examples import ratings
from tests.analysis.talks import meena, talks

NAMES = ("convai2_length", "convai2_rare_words", "convai2_repeats", "convai2_questions")
TABLE = talks(
    [
        [("a", "What is it?"), ("human", "Tea, mostly. Why?")],
        [("b", "Tea and tea and tea"), ("human", "ok"), ("b", "Tea and tea and tea")],
    ]
)


def _report(name: str, **tables: object) -> Report:
    return get_report(name)(**{"messages": TABLE, **tables})


@pytest.mark.parametrize("name", NAMES)
def test_own_rows_stand_above_the_printed_ones(name: str) -> None:
    report = _report(name)
    assert set(report.sections[0].frame["system"]) == {"a", "b"}
    assert report.sections[-1].title.startswith("As printed: Dinan et al. 2019")
    assert "Hugging Face" in rendered(report)


@pytest.mark.parametrize("name", NAMES)
def test_without_messages_only_the_print_is_left(name: str) -> None:
    report = _report(name, messages=TABLE.iloc[:0])
    assert [section.title.split(":")[0] for section in report.sections] == ["As printed"]
    assert report.findings


@pytest.mark.parametrize("name", NAMES)
def test_systems_are_in_the_order_of_engagingness(name: str) -> None:
    given = ratings(
        [{"system": "b", "value": 4}, {"system": "a", "value": 2}], question="enjoyment"
    )
    frame = _report(name, ratings=given).sections[0].frame
    assert list(frame["system"]) == ["b", "a"]
    assert list(frame["engagingness"]) == [4, 2]


def test_length_has_both_sides() -> None:
    row = _report("convai2_length").sections[0].frame.set_index("system").loc["a"]
    assert (row["words model"], row["words human"]) == (4, 6)
    assert (row["characters model"], row["characters human"]) == (11, 17)


def test_rare_words_are_of_the_corpus_given() -> None:
    corpus = of_texts(["tea"] * 1000 + ["and"] * 99, "toy")
    report = _report("convai2_rare_words", corpus=corpus)
    row = report.sections[0].frame.set_index("system").loc["b"]
    assert (row["Freq1h model"], row["Freq1k model"]) == (40.0, 40.0)
    assert "Corpus: toy" in report.sections[0].note


def test_repeats_are_percent_in_two_parts() -> None:
    report = _report("convai2_repeats")
    row = report.sections[0].frame.set_index("system").loc["b"]
    assert row["unique responses"] == 0
    # tea tea tea: 2/3 within; then all three across.
    assert row["unigram repeats"] == pytest.approx(100 * (2 / 3 + 1) / 2)
    parts = report.sections[1].frame.set_index("system").loc["b"]
    assert parts["unigram within"] == pytest.approx(100 * 2 / 3)
    assert parts["unigram across"] == pytest.approx(50)


def test_questions_have_a_table_for_each_chart() -> None:
    begin, mark, _ = _report("convai2_questions").sections
    assert list(begin.frame["begin with question word model"]) == [100, 0]
    assert list(mark.frame["with question mark human"]) == [100, 0]
    assert not any("mark" in name for name in map(str, begin.frame))


def test_published_chats_of_people_are_longer_than_a_bot_s() -> None:
    report = get_report("convai2_length")(meena("mitsuku"))
    row = report.sections[0].frame.iloc[0]
    assert row["system"] == "Mitsuku"
    assert row["messages"] == 924
    assert row["words model"] > row["words human"]


def test_the_command_takes_a_corpus_and_a_file_for_each_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TABLE.to_csv(tmp_path / "messages.csv", index=False)
    given = ratings(
        [{"system": "b", "value": 4}, {"system": "a", "value": 2}], question="enjoyment"
    )
    given.to_csv(tmp_path / "ratings.csv", index=False)
    (tmp_path / "corpus.txt").write_text("tea\n" * 1000 + "and\n" * 99, encoding="utf-8")
    files = [str(tmp_path / "messages.csv"), str(tmp_path / "ratings.csv")]
    chosen = ["--corpus", str(tmp_path / "corpus.txt")]
    assert main([*files, "--report", "convai2_rare_words", *chosen]) == 0
    shown = capsys.readouterr().out
    assert "Corpus: corpus.txt" in shown
    assert re.search(r"\nb +4(\.0+)? +40\.0+", shown), shown
    assert main([*files, "--json", *chosen]) == 0
    rows = json.loads(capsys.readouterr().out)
    (share,) = (r for r in rows if (r["metric"], r["system"]) == ("freq1h", "b")
                and r["question"] == "own messages")  # fmt: skip
    assert (share["estimate"], share["corpus"]) == (0.4, "corpus.txt")
    assert main([*files, "--corpus", str(tmp_path / "none")]) == 2
    assert "corpus is" in capsys.readouterr().err
