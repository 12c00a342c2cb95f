"""Sensitivity and comparison: the headline under other choices, and the ratings it would take."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import RatingTable, evaluate, rating_table, summary
from analysis.report import Report, Section
from tests.analysis.examples import raw, simulated

RATERS = 12


def _section(report: Report, key: str) -> Section:
    return next(each for each in report.sections if each.key == key)


def _with_control(*, failing: int) -> RatingTable:
    """Return ratings in which the failing raters like the control and b, all others a."""
    liked = {"a": 5, "b": 3, "bad": 1}, {"a": 1, "b": 4, "bad": 5}
    rows = [
        {"system": name, "rater": f"r{r}", "item": f"{name}{r}{k}", "value": value + (k == 0)}
        for r in range(RATERS)
        for name, value in liked[r < failing].items()
        for k in range(5)
    ]
    return rating_table(raw(rows, scale_low=1, scale_high=6))


def test_the_headline_is_shown_without_those_who_failed_the_control() -> None:
    report = summary(_with_control(failing=8), control="bad")
    part = _section(report, "sensitivity")
    row = part.frame.iloc[0]
    # Of 12 raters 8 give a 1.2 and b 4.2, and 4 give 5.2 and 3.2.
    assert row["all that count"] == "b 3.87"
    assert row["without raters who failed the control"] == "a 5.20"
    assert (
        part.title == "Sensitivity: on the only question another choice puts another system highest"
    )
    long = _section(report, "sensitivity-numbers").frame.set_index("choice")
    assert long.loc["without raters who failed the control", "raters left"] == 4
    assert long.loc["without raters who failed the control", "tau"] == pytest.approx(-1)


def test_the_headline_is_shown_without_those_who_failed_attention_checks() -> None:
    ratings = _with_control(failing=8)
    failed = ratings["rater"].isin([f"r{n}" for n in range(8)])
    marked = ratings.assign(flags=failed.map({True: "attention;quick", False: "quick"}))
    long = _section(
        summary(RatingTable(marked), control="bad"), "sensitivity-numbers"
    ).frame.set_index("choice")
    assert long.loc["all that count", "highest"] == "b"
    assert long.loc["without raters who failed attention checks", "highest"] == "a"
    assert long.loc["without raters who failed attention checks", "raters left"] == 4
    names = _section(
        summary(RatingTable(ratings.assign(flags="inattention")), control="bad"),
        "sensitivity-numbers",
    ).frame
    assert "without raters who failed attention checks" not in set(names["choice"])


def test_both_rankings_stand_side_by_side_with_n_of_each() -> None:
    part = _section(summary(_with_control(failing=8), control="bad"), "control-q")
    assert part.title == "Q: the order changes without 8 raters who failed the control"
    assert not part.appendix
    rows = part.frame.set_index("system")
    assert list(rows.index) == ["b", "a"]  # as all raters have it
    assert list(rows["place, all"]) == [1, 2]
    assert list(rows["place, passed"]) == [2, 1]
    assert list(rows["n, all"]) == [60, 60]
    assert list(rows["n, passed"]) == [20, 20]
    assert list(rows["score, passed"].round(2)) == [3.2, 5.2]
    assert (rows["low, passed"] < rows["score, passed"]).all()
    same = _section(summary(_with_control(failing=1), control="bad"), "control-q")
    assert same.title == "Q: the order does not change without 1 rater who failed the control"


@pytest.mark.parametrize("failing", [0, 12])
def test_with_none_or_nobody_left_there_is_no_second_ranking(failing: int) -> None:
    report = summary(_with_control(failing=failing), control="bad")
    assert "control-q" not in {each.key for each in report.sections}


def test_the_note_names_the_choices_that_the_table_shows_and_no_others() -> None:
    """And so does the list of references: an interval scale has no ordinal model."""
    ordinal = _section(summary(_with_control(failing=8), control="bad"), "sensitivity")
    assert "ordinal model (McCullagh 1980)" in ordinal.note
    whole = rating_table(simulated(raters=12).assign(level="interval"))
    report = summary(whole)
    note = _section(report, "sensitivity").note
    assert "published calibration (Kulikov et al. 2018)" in note
    assert "McCullagh" not in note
    assert "control" not in note
    references = _section(report, "references").frame.to_string()
    assert "McCullagh" not in references
    assert "Kulikov" in references


def test_floor_and_ceiling_are_shares_of_answers_at_the_ends() -> None:
    row = _section(summary(_with_control(failing=0), control="bad"), "sensitivity").frame.iloc[0]
    assert row["floor"] == 0  # the control, at 1, is set apart
    assert row["ceiling"] == pytest.approx(1 / 10)  # one of five answers to a, none to b


def test_n_needed_is_where_the_difference_seen_becomes_detectable() -> None:
    table = simulated(raters=12)
    few = _section(summary(table), "differences-q").frame
    pair = few[few["n needed"].between(1.5 * few["n"], 20 * few["n"])].iloc[0]
    times = round(pair["n needed"] / pair["n"])
    copies = [
        table.assign(
            **{name: table[name].astype(str) + f"-{k}" for name in ("rater", "item", "answer")}
        )
        for k in range(times)
    ]
    results = evaluate(rating_table(pd.concat(copies, ignore_index=True)))
    rows = results[results["metric"] == "system_difference"]
    again = rows[rows[["system", "other_system"]].isin([pair["system"], pair["other"]]).all(axis=1)]
    reached = again["detectable"].iloc[0] * (times * pair["n"] / pair["n needed"]) ** 0.5
    assert reached == pytest.approx(
        abs(pair["difference"]), rel=0.15
    )  # copies have more degrees of freedom


def test_one_system_has_nothing_to_be_sensitive() -> None:
    table = simulated(raters=10)
    alone = rating_table(table[table["system"] == "s0"].reset_index(drop=True))
    assert "sensitivity" not in {each.key for each in summary(alone).sections}
