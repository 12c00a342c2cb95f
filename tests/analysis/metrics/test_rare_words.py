"""Rare words against a corpus, cumulative and exclusive, and against the stand-in."""

from pathlib import Path

import pytest

from analysis import BadOption, get_metric
from analysis.text import frequencies
from analysis.text.frequencies import WordFrequencies
from tests.analysis.talks import talks

rare_words = get_metric("rare_words")
COUNTS = {"a": 5000.0, "b": 999.0, "c": 1000.0, "d": 100.0, "e": 99.0, "f": 101.0}


def _shares(text: str, corpus: WordFrequencies) -> dict[str, float]:
    found = rare_words(talks([[("s", text)]]), corpus=corpus)
    return dict(zip(found["metric"], found["estimate"], strict=True))


def test_the_edges_of_both_ways_to_bin() -> None:
    # Fewer than 100: e and the unknown g. Fewer than 1,000: also b, d, f.
    assert _shares("a b c d e f g A", WordFrequencies("test", COUNTS)) == {
        "freq1h": 2 / 8,
        "freq1k": 5 / 8,
        "freq1h_exclusive": 3 / 8,  # up to and with 100: d, e, g
        "freq1k_exclusive": 3 / 8,  # 101 to 1,000: b, c, f
    }


def test_the_stand_in_says_that_it_is_one_and_takes_marks_for_common() -> None:
    found = rare_words(talks([[("s", "the , !"), ("s", "sesquipedalian")]]))
    row = found[found["metric"] == "freq1h"].iloc[0]
    assert row["estimate"] == 1 / 4
    assert "stand-in" in row["corpus"]


def test_a_corpus_is_read_from_text_or_from_counts(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("I like tea.\nTea!\n", encoding="utf-8")
    (tmp_path / "counts.tsv").write_text("tea\t2\n.\t1\n", encoding="utf-8")
    lines = frequencies.read(tmp_path / "lines.txt")
    counts = frequencies.read(tmp_path / "counts.tsv")
    assert [lines.count(word) for word in ("tea", ".", "like", "coffee")] == [2, 1, 1, 0]
    assert [counts.count(word) for word in ("tea", ".", "like")] == [2, 1, 0]


def test_a_corpus_that_is_none_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("tea\t2\ncoffee\tmany\n", encoding="utf-8")
    with pytest.raises(BadOption, match=r"bad.tsv, line 2.*a whole number"):
        frequencies.read(tmp_path / "bad.tsv")
    with pytest.raises(BadOption, match="a text file in UTF-8"):
        frequencies.read(tmp_path / "none.txt")
