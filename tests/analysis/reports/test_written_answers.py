"""Written answers: counted, measured in words, and listed by question and system."""

from __future__ import annotations

from analysis import get_report, rating_table, rendered
from tests.analysis.examples import ratings
from tests.analysis.samples import EMPTY

written_answers = get_report("written_answers")
TEXTS = ratings(
    [
        {
            "level": "text",
            "question": "why",
            "system": "b",
            "rater": "r0",
            "value": "One two three",
        },
        {"level": "text", "question": "why", "system": "a", "rater": "r1", "value": "42"},
        {
            "level": "text",
            "question": "why",
            "system": "b",
            "rater": "r2",
            "value": "Only\nfour in all",
        },
        {"level": "ordinal", "question": "score", "system": "a", "rater": "r1", "value": 4},
    ]
)


def test_texts_are_counted_measured_and_listed() -> None:
    report = written_answers(TEXTS)
    assert report.findings == ("3 answers in the raters' own words.",)
    lengths, listed = report.sections
    assert list(lengths.frame["texts"]) == [1, 2]
    assert list(lengths.frame["median_words"]) == [1.0, 3.5]
    assert listed.title == "Texts: why"
    assert list(listed.frame["text"]) == ["42", "One two three", "Only\nfour in all"]
    assert "Only four in all" in rendered(report)


def test_a_text_that_reads_as_a_number_stays_a_text() -> None:
    assert "42" in list(rating_table(TEXTS)["value"])


def test_without_texts_it_says_so() -> None:
    assert written_answers(EMPTY["ratings"]).findings == (
        "No question was answered in the raters' own words.",
    )
