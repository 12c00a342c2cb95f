"""The summary: findings, the ranking first, then what it rests on; how it was made comes last."""

from __future__ import annotations

import pandas as pd

from analysis import rating_table, summary
from analysis.output.all_metrics import evaluate_checked
from analysis.output.summary import composed
from analysis.output.terminal import rendered
from analysis.scores.question_ratings import numbered
from tests.analysis.examples import labels, raw, simulated
from tests.analysis.samples import tables


def test_the_ranking_comes_first_and_how_it_was_computed_last() -> None:
    report = summary(simulated())
    assert report.findings[0] == "240 answers of 60 raters on 4 systems."
    assert report.findings[1] == f"{report.sections[0].title}."
    assert list(report.sections[0].frame["system"]) == ["s3", "s2", "s1", "s0"]
    keys = [section.key for section in report.sections]
    assert keys == [
        "ranking-q",
        "agreement",
        "differences-q",
        "sensitivity",
        "references",
        "pairs-q",
        "calibrated-q",
        "spread-q",
        "sensitivity-numbers",
        "standardized",
        "estimators",
    ]
    assert "Kulikov et al. 2018" in " ".join(report.methods)


def test_several_questions_have_an_overview_of_places() -> None:
    second = simulated(1).assign(question="r")
    both = pd.concat([simulated(), second], ignore_index=True)
    report = summary(rating_table(both.assign(answer=both.index.astype(str))))
    frame = report.sections[0].frame
    assert report.sections[0].title == (
        "s3 has the best mean place over 2 questions, and is told apart from every other system "
        "on 1 of them"
    )
    assert list(frame.columns) == ["system", "q", "r", "mean place"]
    unsaid = "The table does not say which end of a question is better"
    assert unsaid in report.sections[0].note
    said = rating_table(both.assign(answer=both.index.astype(str), better="high"))
    assert unsaid not in summary(said).sections[0].note
    assert frame["mean place"].iloc[0] == 1.0


def test_labels_have_shares_and_no_ranking() -> None:
    given = [
        (s, f"{s}{k}", f"r{k}", int(k > miss), 0)
        for s, miss in (("a", 2), ("b", 4))
        for k in range(9)
    ]
    report = summary(labels(given))
    first = report.sections[0]
    assert first.title == "a has the highest SSA: 0.33"
    assert [round(x, 3) for x in first.frame["estimate"][:3]] == [0.667, 0.0, 0.333]
    assert first.frame["share"].iloc[2] == "SSA, the mean of both"


def test_preferences_are_told() -> None:
    report = summary(rating_table(tables()["ratings"]))
    (section,) = (each for each in report.sections if each.key == "preferred-order")
    assert "is preferred most often on order" in section.title
    assert list(section.frame.columns[:4]) == ["system", "win rate", "low", "high"]
    assert section.chart is not None
    assert section.chart.line == 0.5


def test_charts_have_keys_of_their_own() -> None:
    report = summary(rating_table(tables()["ratings"]))
    keys = [each.key for each in report.sections]
    assert all(keys)
    assert len(set(keys)) == len(keys)


def test_the_seed_decides() -> None:
    first, second = (summary(simulated(), seed=7).sections[0].frame for _ in range(2))
    assert first.equals(second)


def test_text_answers_alone_leave_agreement_and_how_they_are_spread() -> None:
    report = summary(rating_table(raw([{"value": "red"}, {"value": "blue"}], level="nominal")))
    assert [section.key for section in report.sections] == ["agreement", "spread-q", "estimators"]
    assert report.sections[0].title.endswith("no item was rated by two or more people")


def test_names_as_texts_and_as_categories_give_one_report() -> None:
    given = simulated()
    coded = numbered(given)
    assert isinstance(coded["system"].dtype, pd.CategoricalDtype)
    assert "answer" not in coded  # an id of its own in each row, which nothing counts
    results = [evaluate_checked(each) for each in (given, coded)]
    pd.testing.assert_frame_equal(results[0], results[1])
    assert rendered(composed(given, results[0])) == rendered(composed(coded, results[1]))
