"""Stop command: verdicts by pair and of the campaign, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import read
from analysis.__main__ import main
from analysis.planning.sequential import Look, Verdict
from analysis.planning.stop import overall
from analysis.stats.intervals import NONE
from tests.analysis.planning.tables import static, written


def test_pairs_that_differ_are_decided_and_the_campaign_waits_for_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "live.csv", static((1.2, 0.0, 0.0), 60))
    assert main(["stop", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    verdicts = {tuple(each["systems"]): each["verdict"] for each in found["pairs"]}
    assert verdicts == {("a", "b"): "decided", ("a", "c"): "decided", ("b", "c"): "not yet"}
    assert found["verdict"] == "not yet"
    assert main(["stop", path, "--budget", "61"]) == 0
    assert "overall: cannot be decided with this budget" in capsys.readouterr().out


def test_texts_beside_the_numbers_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(written(tmp_path / "live.csv", static((1.2, 0.0), 60)))
    assert main(["stop", str(path), "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    with path.open("a", encoding="utf-8") as file:
        file.write("r1,a,why,i1,It was kind.,,\n")
    assert main(["stop", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == alone


@pytest.mark.parametrize("command", ["stop", "judge", "plan"])
def test_a_question_of_words_and_numbers_is_none_of_numbers(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A choice of names, where a number is stored in place of an answer that was not asked.
    path = tmp_path / "live.csv"
    rows = pd.read_csv(written(path, static((1.2, 0.0), 20))).assign(level="ordinal")
    mood = rows.assign(question="mood", level="nominal", scale_low=None, scale_high=None)
    mood["value"] = ["sad" if k else "1" for k in range(len(mood))]
    pd.concat([rows, mood]).to_csv(path, index=False)
    more = {
        "stop": [str(path)],
        "judge": [str(path), "--judge", "r1"],
        "plan": ["--learn", str(path), "--difference", "1", "--raters", "5"],
    }
    assert main([command, *more[command], "--question", "mood"]) == 2
    assert "one of overall" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["stop", "judge", "plan"])
@pytest.mark.parametrize("is_changed", [True, False])
def test_a_changed_export_is_told_before_anything_is_decided(
    command: str, is_changed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings = read(written(tmp_path / "live.csv", static((1.2, 0.0), 20))).ratings
    assert ratings is not None
    table = ratings.to_csv(index=False).encode()
    known = hashlib.sha256(table + b"\n" * is_changed).hexdigest()
    path = str(tmp_path / "e.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ratings.csv", table)
        files = {"ratings.csv": {"sha256": known}}
        archive.writestr("manifest.json", json.dumps({"files": files}))
    more = {
        "stop": [path],
        "judge": [path, "--judge", "r1"],
        "plan": [
            *("--learn", path, "--difference", "1", "--raters", "12"),
            *("--items", "5", "--campaigns", "100"),
        ],
    }
    assert main([command, *more[command]]) in (0, 1)  # 1: the judge is no good one
    told = "Caution: e.zip: ratings.csv is not as exported"
    assert (told in capsys.readouterr().err) == is_changed


def test_the_table_is_printed_with_its_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stop", written(tmp_path / "live.csv", static((1.5, 0.0), 60))]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("overall: decided\n")
    assert "decided (higher)" in printed
    assert "the shortest for differences of 0.5" in printed


def test_more_pairs_make_each_interval_wider(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = static((0.5, 0.0, 0.0), 40)
    widths = []
    for name, of in (("three", rows), ("two", [row for row in rows if row[1] != "c"])):
        main(["stop", written(tmp_path / f"{name}.csv", of), "--json"])
        low, high = json.loads(capsys.readouterr().out)["pairs"][0]["interval"]
        widths.append(high - low)
    assert widths[0] > widths[1]


def test_raters_who_never_judged_both_are_no_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"{rater}{system}", system, item, value)
            for rater, system, item, value in static((1.0, 0.0), 30)]  # fmt: skip
    path = written(tmp_path / "nested.csv", rows)
    assert main(["stop", path]) == 0
    printed = capsys.readouterr()
    assert "not yet (no rater judged both)" in printed.out
    assert "--own-raters compares raters of one system each" in printed.err
    assert main(["stop", path, "--own-raters"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("overall: not yet")
    assert "5 raters of each system" in printed.out
    assert printed.err == ""


def test_raters_of_one_system_each_decide_a_difference_that_is_large_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"{rater}{system}", system, item, value)
            for rater, system, item, value in static((1.5, 0.0), 60)]  # fmt: skip
    rows.append(("late", "c", "i0", 3.0))
    path = written(tmp_path / "nested.csv", rows)
    assert main(["stop", path, "--own-raters", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["pairs"]
    assert [each["verdict"] for each in found] == ["decided", "not yet", "not yet"]
    assert (found[0]["items"], found[0]["raters"], found[1]["raters"]) == (60, 20, 1)
    values = {system: [row[3] for row in rows if row[1] == system] for system in "ab"}
    gap = sum(values["a"]) / 180 - sum(values["b"]) / 180
    assert found[0]["estimate"] == pytest.approx(gap)


def test_a_smaller_alpha_makes_intervals_wider(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, widths = written(tmp_path / "live.csv", static((0.5, 0.0), 40)), []
    for alpha in ("0.05", "0.01"):
        main(["stop", path, "--alpha", alpha, "--json"])
        low, high = json.loads(capsys.readouterr().out)["pairs"][0]["interval"]
        widths.append(high - low)
    assert widths[0] < widths[1]


def test_replies_to_one_context_are_one_item_whoever_rated_them_in_what_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = static((0.5, 0.0), 40)
    found = []
    for name, item in (("shared", "{item}"), ("own", "{item} {system}")):
        path = tmp_path / f"{name}.csv"
        lines = [
            f"{rater},{system},q,{item.format(item=key, system=system)},{key},{value},1,5"
            for rater, system, key, value in (rows if name == "shared" else reversed(rows))
        ]
        head = "rater,system,question,item,context,value,scale_low,scale_high"
        path.write_text("\n".join([head, *lines]), encoding="utf-8")
        assert main(["stop", str(path), "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["pairs"][0])
    assert found[1]["items"] == 40
    assert found[1]["interval"] == pytest.approx(found[0]["interval"])
    assert found[1]["estimate"] == pytest.approx(found[0]["estimate"])


@pytest.mark.parametrize(
    "options",
    [
        ("--expected", "0"),
        ("--margin", "-1"),
        ("--budget", "0"),
        ("--question", "nothing"),
        ("--alpha", "0"),
        ("--alpha", "0.6"),
    ],
)
def test_an_option_without_sense_is_named(
    options: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "live.csv", static((1.0, 0.0), 10))
    assert main(["stop", path, *options]) == 2
    assert options[0].removeprefix("--") in capsys.readouterr().err


def test_without_a_scale_the_expected_difference_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plain.csv"
    rows = [f"{r},{s},q,{v}" for r, s, _, v in static((1.0, 0.0), 20)]
    path.write_text("\n".join(["rater,system,question,value", *rows]), encoding="utf-8")
    assert main(["stop", str(path)]) == 2
    assert "the table has no ends of the scale" in capsys.readouterr().err
    assert main(["stop", str(path), "--expected", ".5"]) == 0


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", "nowhere.csv"]) == 2
    assert "nowhere.csv: cannot be read" in capsys.readouterr().err


RULE = {"question": "overall", "difference": 0.7, "alpha": 0.02, "margin": 0.3, "items": 60}


def _export(folder: Path, rule: dict[str, Any] | None) -> str:
    """Write an export of systems a, b and the control c; of the planned d there is nothing yet."""
    rows = static((0.6, 0.0, -1.0), 40)
    head = "answer,campaign,protocol,level,place,rater,system,question,item,value"
    lines = [f"{k},c,p,ordinal,0,{r},{s},overall,{i},{v}" for k, (r, s, i, v) in enumerate(rows)]
    systems = [{"name": name, "bot": "parrot", "control": name == "c"} for name in "abcd"]
    files = {
        "ratings.csv": "\n".join([head, *lines]),
        "ratings_all.csv": "rater,system,excluded\n",
        "participants.csv": "participant,system,outcome,excluded\n",
        "manifest.json": "{}",
        "plan.json": json.dumps({"stop_rule": rule, "systems": systems}),
    }
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return str(folder / "export.zip")


def test_an_export_is_judged_by_the_rule_and_the_systems_of_its_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _export(tmp_path, RULE)
    assert main(["stop", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["pairs"]
    assert [tuple(each["systems"]) for each in found] == [("a", "b"), ("a", "d"), ("b", "d")]
    options = ["--expected", ".7", "--alpha", str(0.02 / 3), "--margin", ".3", "--budget", "60"]
    pair = written(tmp_path / "pair.csv", [r for r in static((0.6, 0.0, -1.0), 40) if r[1] != "c"])
    main(["stop", pair, *options, "--json"])
    assert json.loads(capsys.readouterr().out)["pairs"][0] == found[0]
    main(["stop", path, "--margin", ".3"])
    printed = capsys.readouterr()
    assert ("By the stop rule of the plan" in printed.out, printed.err) == (True, "")


def test_an_option_unlike_the_plans_is_told_and_the_plans_systems_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stop", _export(tmp_path, RULE), "--alpha", "0.05"]) == 0
    printed = capsys.readouterr()
    assert "Caution: by the plan --alpha is 0.02; a rule that is changed" in printed.err
    assert "By the stop rule of the plan" not in printed.out
    assert "no rater judged both" in printed.out


def test_an_export_without_a_rule_is_judged_by_the_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stop", _export(tmp_path, None), "--expected", ".5", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pairs"]) == 3


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (("decided", "decided"), "decided"),
        (("decided", "not yet"), "not yet"),
        (("decided", "cannot be decided with this budget"), "cannot be decided with this budget"),
        (("not yet", "cannot be decided with this budget"), "not yet"),
        ((), "not yet"),
    ],
)
def test_the_campaign_has_the_verdict_of_its_least_decided_pair(
    verdicts: tuple[Verdict, ...], whole: str
) -> None:
    looks = {
        ("a", str(k)): Look(0.0, NONE, each, "", chance=None, items=9, raters=9)
        for k, each in enumerate(verdicts)
    }
    assert overall(looks) == whole
