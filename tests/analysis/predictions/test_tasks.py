"""The command `tasks`: what is planted in a file comes out, and every bad line is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.__main__ import main

Case = dict[str, Any]
RIGHT = {"good": 7, "poor": 4}  # of ten cases


def planted(system: str, right: int) -> Iterator[Case]:
    """Yield ten cases of each task, so many of them right."""
    for k in range(10):
        hit = k < right
        about = {"system": system}
        golds = ["in the kitchen", "the kitchen"]
        answer = {"dialogue": f"d{k // 2}", "response": "the kitchen" if hit else "no idea"}
        yield {**about, "task": "answers", **answer, "golds": golds}
        order = ["ann", "bob", "cid"] if hit else ["bob", "ann", "cid"]
        yield {**about, "task": "mentions", "ranked": order, "gold": "ann"}
        yield {**about, "task": "expressions", "predicted": ["he"] if hit else [], "gold": ["he"]}
        gold = {"food": "thai", "area": "north"}
        yield {**about, "task": "states", "predicted": gold if hit else {}, "gold": gold}
        yield {**about, "task": "slots", "distance": 1 + k % 2, "predicted": hit, "gold": True}


def written(folder: Path, cases: list[Case]) -> str:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
    return str(path)


def numbers(capsys: pytest.CaptureFixture[str], path: str) -> dict[tuple[str, str, str], Any]:
    assert main(["tasks", path, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["n"] for row in rows} <= {1, 2, 10}
    return {(row["system"], row["task"], row["metric"]): row["estimate"] for row in rows}


def test_planted_shares_come_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, [case for name in RIGHT for case in planted(name, RIGHT[name])])
    found = numbers(capsys, path)
    for system, right in RIGHT.items():
        share = right / 10
        recall = {0: (right + 1) // 2 / 5, 1: right // 2 / 5}  # of slots from one and two turns ago
        expected = {
            # "the kitchen" is one answer of people and has 2/3 of the words of the other.
            ("answers", "F1 (QuAC)"): share,
            ("answers", "F1 (CoQA)"): share * (1 + 2 / 3) / 2,
            ("answers", "HEQ-Q"): share,  # people have 2/3 with each other, it has 5/6
            ("answers", "HEQ-D"): right // 2 / 5,
            ("mentions", "P@1"): share,
            ("mentions", "P@2"): 1.0,
            ("mentions", "P@3"): 1.0,
            ("expressions", "precision"): share,
            ("expressions", "recall"): share,
            ("expressions", "F1"): share,
            ("states", "joint goal accuracy"): share,
            ("slots", "F1"): 2 * share / (1 + share),
            ("slots", "F1 at 1"): 2 * recall[0] / (1 + recall[0]),
            ("slots", "F1 at 2"): 2 * recall[1] / (1 + recall[1]),
        }
        assert {key[1:]: found[key] for key in found if key[0] == system} == pytest.approx(expected)


def test_the_report_names_the_best_of_each_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, [case for name in RIGHT for case in planted(name, RIGHT[name])])
    assert main(["tasks", path]) == 0
    printed = capsys.readouterr().out
    assert "answers: good has the highest F1 (QuAC) of 2: 0.700." in printed
    assert "states: good has the highest joint goal accuracy of 2: 0.700." in printed
    assert "slots: good has the highest F1 of 2: 0.824." in printed
    assert "poor     10 0.400" in printed


def test_one_answer_of_people_has_no_part_in_heq(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"task": "answers", "dialogue": "d", "response": "no", "golds": ["yes"]}
    two = {**one, "response": "yes", "golds": ["yes", "yes"]}
    found = numbers(capsys, written(tmp_path, [one, two]))
    assert (found["system", "answers", "F1 (QuAC)"], found["system", "answers", "HEQ-Q"]) == (
        0.5,
        1,
    )
    alone = written(tmp_path, [one])
    assert numbers(capsys, alone)["system", "answers", "HEQ-D"] is None
    assert main(["tasks", alone]) == 0
    last = capsys.readouterr().out.splitlines()[-2].split()
    assert last == ["system", "1", "0.000", "0.000", "-", "-"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "row 2: line is not JSON"),
        ("[]", "row 2: line is a JSON list; right would be an object"),
        ("{}", "row 2: task is missing; right would be one of answers, mentions, expressions"),
        ('{"task": "chess"}', 'row 2: task is "chess"; right would be one of answers'),
        ('{"task": ["states"]}', 'row 2: task is ["states"]; right would be one of answers'),
        ('{"task": "states", "gold": {}}', "row 2: predicted is missing; right would be an object"),
        (
            '{"task": "mentions", "ranked": [], "gold": "a"}',
            "row 2: ranked is []; right would be a",
        ),
        (
            '{"task": "slots", "distance": -1, "predicted": true, "gold": false}',
            "row 2: distance is -1; right would be a whole number from 0",
        ),
        (
            '{"task": "slots", "distance": 0, "predicted": 1, "gold": false}',
            "row 2: predicted is 1; right would be true or false",
        ),
        (
            '{"task": "answers", "dialogue": "d", "response": "", "golds": ["a", 3]}',
            'row 2: golds is ["a", 3]; right would be a list of one text or more',
        ),
        (
            '{"task": "states", "system": null, "predicted": {}, "gold": {}}',
            "row 2: system is null; right would be a text",
        ),
    ],
)
def test_a_bad_line_is_named_with_what_would_be_right(
    line: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    good = json.dumps({"task": "states", "predicted": {}, "gold": {}})
    path.write_text(f"{good}\n{line}\n", "utf-8")
    assert main(["tasks", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err
    assert "1 of 2 rows are sound" in printed.err


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    assert main(["tasks", str(path)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    for content, complaint in ((b"\n", "contents is empty"), (b"\xff", "content is unreadable")):
        path.write_bytes(content)
        assert main(["tasks", str(path)]) == 2
        assert complaint in capsys.readouterr().err


def test_a_text_with_a_line_separator_of_unicode_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    case = {"task": "mentions", "ranked": ["a\u2028b"], "gold": "a\u2028b"}
    path.write_text(json.dumps(case, ensure_ascii=False), "utf-8")
    assert numbers(capsys, str(path))["system", "mentions", "P@1"] == 1
