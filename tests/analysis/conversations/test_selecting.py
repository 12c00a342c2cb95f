"""Selecting a store's lines: the threshold at its end, both directions, and a planted cast."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.conversations.selecting import Pair, lines_of, main, store
from analysis.stats.filtering import Threshold, threshold
from tests.analysis.cast import HABITS, line, play

SCORES, BAD = [0.1, 0.2, 0.2, 0.3, 0.4], [True, True, False, True, False]


def test_what_is_at_the_threshold_is_removed_and_a_little_beside_it_is_not() -> None:
    low = Threshold(0.5, True, 1, 1, 0.5, 1, 2)
    assert low.takes([0.5 - 1e-9, 0.5, 0.5 + 1e-9, float("nan")]).tolist() == [1, 1, 0, 0]
    high = Threshold(0.5, False, 1, 1, 0.5, 1, 2)
    assert high.takes([0.5 - 1e-9, 0.5, 0.5 + 1e-9, float("nan")]).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("wanted", "value", "recall", "taken"),
    [(1.0, 0.1, 1 / 3, 1), (0.75, 0.3, 1, 4), (0.7501, 0.1, 1 / 3, 1), (0.6, 0.4, 1, 5)],
)
def test_the_threshold_has_the_most_recall_at_the_wanted_precision(
    wanted: float, value: float, recall: float, taken: int
) -> None:
    for sign in (1, -1):
        cut = threshold(np.multiply(sign, SCORES), BAD, precision=wanted, low_is_bad=sign == 1)
        assert cut is not None
        assert (cut.value, cut.recall, cut.taken, cut.n) == (sign * value, recall, taken, 5)
        assert cut.prevalence == 0.6


def test_without_such_a_precision_or_anything_bad_there_is_none() -> None:
    assert threshold([0.1, 0.2], [False, True], precision=0.6) is None
    assert threshold([0.1, 0.2], [False, False], precision=0.1) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("select")
    for name, table in zip(("votes", "messages"), play(), strict=True):
        table.to_json(found / f"{name}.jsonl", orient="records", lines=True)
    rng = np.random.default_rng(9)
    lines = [(who, line(who, rng)) for who in HABITS for _ in range(20)]
    turns = [
        [{"speaker": "partner", "text": f"Hi {k}?"}, {"speaker": "self", "text": text}]
        for k, (_, text) in enumerate(lines)
    ]
    records = [
        json.dumps({"id": f"{who}{k}", "turns": turns[k]}) for k, (who, _) in enumerate(lines)
    ]
    (found / "store.jsonl").write_text("\n".join(records) + "\n", "utf-8")
    return found


def selected(folder: Path, *more: str) -> int:
    files = [str(folder / f"{name}.jsonl") for name in ("votes", "messages")]
    return main([*files, "--store", str(folder / "store.jsonl"), "--out",
                 str(folder / "kept.jsonl"), "--character", "pirate", *more])  # fmt: skip


@pytest.mark.parametrize("metric", ["uPPL", pytest.param("PSProb", marks=pytest.mark.slow)])
def test_the_store_of_a_cast_keeps_its_characters_own_lines(
    folder: Path, metric: str, capsys: pytest.CaptureFixture[str]
) -> None:
    removed = folder / "removed.jsonl"
    assert selected(folder, "--metric", metric, "--removed", str(removed)) == 0
    told = capsys.readouterr().out
    assert f"removed where {metric} {'>=' if metric == 'uPPL' else '<='}" in told
    assert "prevalence 0." in told
    kept = list(store(folder / "kept.jsonl"))
    gone = {json.loads(each)["text"] for each in removed.read_text("utf-8").splitlines()}
    assert all("pirate" in pair.name for pair in kept)
    assert len(kept) >= 15
    assert not gone & {pair.reply for pair in kept}


def test_what_cannot_be_selected_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert selected(folder, "--precision", "0") == 2
    assert "--precision is 0, but must be above 0" in capsys.readouterr().err
    assert selected(folder, "--character", "nobody") == 2
    assert "'nobody', but judged are baker, doctor, pirate" in capsys.readouterr().err
    (folder / "bad.jsonl").write_text('{"id": "x"}\n', "utf-8")
    assert selected(folder, "--store", str(folder / "bad.jsonl")) == 2
    assert "line 1 must be a dialogue" in capsys.readouterr().err


def test_only_a_line_that_answers_a_message_is_of_the_store(tmp_path: Path) -> None:
    said = [("self", "Hi!"), ("partner", "Hey."), ("self", "Tea?"), ("self", "Or rum?")]
    turns = [{"speaker": who, "text": text} for who, text in said]
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"id": "d", "turns": turns}), "utf-8")
    assert list(store(file)) == [Pair("d:2", "Hey.", "Tea?")]


def test_a_line_separator_of_unicode_ends_no_line(tmp_path: Path) -> None:
    turns = [{"speaker": "partner", "text": "Hey,\u2028you."}, {"speaker": "self", "text": "Tea?"}]
    file = tmp_path / "store.jsonl"
    line = json.dumps({"id": "d", "turns": turns}, ensure_ascii=False)
    file.write_text(f"{line}\n\n", "utf-8")
    assert list(store(file)) == [Pair("d:1", "Hey,\u2028you.", "Tea?")]


def test_the_planted_votes_come_back() -> None:
    judged = lines_of(*play(), "pirate")
    own = judged["item"].str.startswith("pirate")
    assert judged["nol"][own].mean() == pytest.approx(5 * 0.85, abs=0.4)
    assert judged["nol"][~own].mean() == pytest.approx(5 * 0.1, abs=0.3)
