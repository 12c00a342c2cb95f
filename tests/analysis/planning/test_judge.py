"""Judge command: people and judge together, refusals with reasons, and the annotator test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.__main__ import main
from tests.analysis.planning.tables import judged, written


def test_systems_have_a_mean_from_both_and_the_test_stands_below(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "judged.csv", judged(("baseline", "ours")))
    assert main(["judge", path, "--judge", "gpt", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for system, truth in zip(found["systems"], (3.0, 3.5), strict=True):
        mean = system["mean"]
        assert mean["interval"][0] < truth < mean["interval"][1]
        width = mean["interval"][1] - mean["interval"][0]
        assert width < mean["people_interval"][1] - mean["people_interval"][0]
        assert system["judge"] > truth + 0.1  # it judges too kindly, which is mended
        assert (mean["rated"], mean["others"]) == (60, 140)
    assert found["annotator_test"]["passes"]
    assert main(["judge", path, "--judge", "gpt"]) == 0
    printed = capsys.readouterr().out
    assert "the judge may stand in for a rater" in printed
    assert "Refused" not in printed


def test_a_system_that_nobody_rated_is_refused_with_what_the_judge_errs_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As CJE's policy “unhelpful”, which fools the judge: no winner, no interval."""
    rows = judged(("baseline", "ours"))
    rows += [("gpt", "unhelpful", f"c{item}", 1.0) for item in range(200)]
    assert main(["judge", written(tmp_path / "judged.csv", rows), "--judge", "gpt"]) == 0
    printed = capsys.readouterr().out
    assert "Refused, unhelpful (judge's mean 1.000): nobody rated it" in printed
    assert "100% of its scores lie outside all that people checked" in printed


def test_a_part_that_is_not_random_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = judged(("ours",))
    best = sorted({row[3] for row in rows if row[0] == "gpt"})[-120]
    high = {row[2] for row in rows if row[0] == "gpt" and row[3] >= best}
    chosen = [row for row in rows if row[0] == "gpt" or row[2] in high]
    assert main(["judge", written(tmp_path / "best.csv", chosen), "--judge", "gpt"]) == 1
    assert "no random part" in capsys.readouterr().out


def test_few_items_leave_the_annotator_test_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = judged(("ours",), rated=20, items=100)
    assert main(["judge", written(tmp_path / "few.csv", rows), "--judge", "gpt"]) == 0
    assert "no rater has 30 items that somebody else rated too" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--judge", "nobody"), "--judge is 'nobody'; right would be a rater of the table"),
        (("--judge", "gpt", "--epsilon", "1"), "--epsilon is '1.0'"),
        (("--judge", "gpt", "--question", "none"), "question is 'none'"),
    ],
)
def test_an_option_without_sense_is_named(
    options: tuple[str, ...], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "judged.csv", judged(("ours",), items=70))
    assert main(["judge", path, *options]) == 2
    assert reason in capsys.readouterr().err


def test_a_judge_who_shares_no_item_with_people_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(rater, system, f"{rater} {item}", value) for rater, system, item, value in
            judged(("ours",), items=70)]  # fmt: skip
    assert main(["judge", written(tmp_path / "apart.csv", rows), "--judge", "gpt"]) == 2
    assert "both are matched by the column item" in capsys.readouterr().err
