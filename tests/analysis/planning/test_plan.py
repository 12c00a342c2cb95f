"""Plan command: what it prints, what it learns from a table, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from analysis.__main__ import main
from analysis.planning.plan import cost
from analysis.planning.power import RatingPlan
from analysis.planning.variances import PUBLISHED, learned
from analysis.tables.options import BadOption
from analysis.tables.reading import read
from analysis.tables.schema import RatingTable
from tests.analysis.planning.tables import Row, static, written


def table(path: Path, rows: Iterable[Row]) -> RatingTable:
    ratings = read(written(path, rows)).ratings
    assert ratings is not None
    return ratings


CROWD = ["--difference", ".2", "--raters", "3", "--items", "100"]


def test_power_claims_and_cost_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    priced = ["--minutes", "2", "--pay", ".4", "--fee", "25"]
    assert main(["plan", *CROWD, *priced]) == 0
    printed = capsys.readouterr().out
    assert "100 items for each of 2 systems, 3 raters, 3 votes per item: 600 ratings." in printed
    assert "3 raters are too few for the test to hold its 5 %." in printed
    assert "20.0 hours at 2 minutes a rating; 300.00 in pay with a fee of 25 %; 12.00" in printed


def test_json_has_the_same_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *CROWD, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"]["votes"] == 3
    assert found["power"]["power"] < 0.3 < 0.8 < found["power"]["claimed"]
    assert found["cost"] == {"hours": 10.0, "money": None, "wage": None}


def test_published_variances_are_stretched_to_the_scale(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *CROWD, "--scale", "1", "5", "--taste", ".3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["variances"]
    assert found["noise"] == pytest.approx(4 * PUBLISHED["card-high"].noise)
    assert found["taste"] == 0.3


def test_without_items_as_many_as_the_power_needs(capsys: pytest.CaptureFixture[str]) -> None:
    stated = ["--taste", ".3", "--item", ".4", "--noise", ".8"]
    assert main(["plan", "--difference", ".5", "--raters", "20", "--votes", "3", *stated]) == 0
    assert "(as stated)" in capsys.readouterr().out


def test_a_power_that_no_items_reach_is_said_with_what_would(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "--difference", ".2", "--raters", "4"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "With 4 raters not even 2,000 items find a difference of 0.2" in captured.err
    assert "With 200 items" in captured.err


def test_variances_are_learned_from_ratings_of_the_same_items(tmp_path: Path) -> None:
    pilot = table(tmp_path / "pilot.csv", static((0, 0, 0), 400, votes=5))
    found = learned(pilot, "overall")
    assert found.taste == pytest.approx(0.3, abs=0.1)
    assert found.item == pytest.approx(0.4, abs=0.1)
    assert found.noise == pytest.approx(np.hypot(0.8, np.sqrt(1 / 12)), abs=0.08)


def test_a_conversation_rated_once_has_its_variance_in_the_noise(tmp_path: Path) -> None:
    rows = static((0, 0), 300, votes=1)
    alone = [(rater, system, f"{item} {system}", value) for rater, system, item, value in rows]
    found = learned(table(tmp_path / "chats.csv", alone), "overall")
    assert found.item == 0
    assert found.noise == pytest.approx(np.sqrt(0.8**2 + 0.4**2 + 1 / 12), abs=0.08)
    assert found.taste == pytest.approx(0.3, abs=0.12)


def test_a_table_whose_raters_saw_one_system_each_teaches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"{rater}{system}", system, item, value) for rater, system, item, value in
            static((0, 0), 20)]  # fmt: skip
    nested, path = table(tmp_path / "nested.csv", rows), str(tmp_path / "nested.csv")
    with pytest.raises(BadOption, match="at least three raters judged two systems"):
        learned(nested, "overall")
    assert main(["plan", "--difference", "1", "--raters", "5", "--learn", path]) == 2
    assert "at least three raters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [("difference", "0"), ("power", "1"), ("minutes", "0"), ("pay", "-1"), ("fee", "-1"),
     ("campaigns", "99"), ("noise", "0"), ("taste", "-1"), ("votes", "4")],
)  # fmt: skip
def test_a_number_that_makes_no_sense_is_named(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["plan", "--difference", ".2", "--raters", "3", "--items", "50", f"--{option}", value]
    assert main(line) == 2
    assert f"{option} is" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *CROWD, "--learn", "nowhere.csv"]) == 2
    assert "nowhere.csv: cannot be read" in capsys.readouterr().err


def test_cost_counts_every_rating_of_every_system() -> None:
    plan = RatingPlan(items=10, raters=5, votes=3, systems=4)
    found = cost(plan.ratings, minutes=3, pay=0.5, fee=20)
    assert (found.hours, found.wage) == (6.0, 10.0)
    assert found.money == pytest.approx(72.0)
    assert cost(plan.ratings, minutes=3).money is None


OWN = ("--taste", ".3", "--item", ".4", "--noise", ".8", "--items", "20", "--campaigns", "400")


def test_raters_who_judge_some_systems_are_told_with_what_compares_a_pair(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [
        "plan",
        "--difference",
        "0.7",
        "--raters",
        "60",
        "--votes",
        "3",
        "--systems",
        "4",
        *OWN,
    ]
    assert main([*words, "--judges", "2"]) == 0
    printed = capsys.readouterr().out
    assert "Each rater judges 2 of the systems: a pair is compared by the 10 raters who" in printed
    assert main([*words, "--judges", "1", "--severity", "0.7"]) == 0
    printed = capsys.readouterr().out
    assert "Each rater judges one system: 15 raters of each are compared." in printed
    assert "noise 0.800, severity 0.700 (as stated)" in printed


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["--judges", "1"], "--severity is ''; right would be an SD in points"),
        (["--judges", "0"], "1 or more systems that each rater judges"),
        (["--judges", "5"], "judges is '5'; right would be 1 to 4"),
        (["--judges", "2", "--raters", "5", "--votes", "1"], "0 who judge both systems of a pair"),
    ],
)
def test_systems_that_nobody_can_compare_are_refused(
    words: list[str], right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = ["plan", "--difference", "0.7", "--raters", "60", "--systems", "4", *OWN]
    assert main([*usual, *words]) == 2
    assert right in capsys.readouterr().err


def test_raters_of_one_system_learn_what_they_differ_by_from_ratings_of_one_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Severity .7 and taste .3 are one there: .76; half of the pilot's raters judged each."""
    rows = [row for row in static((0.0, 0.0), 400, raters=60, votes=6, seed=3)
            if (int(row[0][1:]) % 2 == 0) == (row[1] == "a")]  # fmt: skip
    words = ["plan", "--difference", "0.5", "--raters", "60", "--votes", "3", "--judges", "1"]
    path = written(tmp_path / "pilot.csv", rows)
    assert main([*words, "--items", "20", "--learn", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["variances"]
    assert found["taste"] == 0
    assert found["severity"] == pytest.approx(0.76, abs=0.15)
    assert found["item"] == pytest.approx(0.4, abs=0.1)
    assert found["noise"] == pytest.approx(0.83, abs=0.1)
    assert main(["plan", *words[1:-2], "--learn", path]) == 2
    assert "at least three raters judged two systems each" in capsys.readouterr().err
