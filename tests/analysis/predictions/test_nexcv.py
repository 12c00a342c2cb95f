"""nex-cv: splits with plausible negatives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from analysis.predictions.nexcv import (
    NONE,
    SETTINGS,
    Classify,
    Guess,
    SmallLabels,
    compared,
    confused,
    confusion,
    guesses,
    main,
    read_labeled,
    small,
    split,
    splits,
    summary,
    table,
)

COUNTS = {"a": 40, "b": 30, "c": 20, "d": 4, "e": 3, "f": 2, "g": 1}
LABELS = [label for label, number in COUNTS.items() for _ in range(number)]


def clouds(seed: int) -> tuple[np.ndarray, list[str]]:
    """Draw four overlapping classes."""
    chance = np.random.default_rng(seed)
    labels = [str(place % 4) for place in range(600)]
    centers = np.array([[0, 0], [2, 0], [0, 2], [2, 2]])
    return centers[[int(each) for each in labels]] + chance.normal(size=(600, 2)), labels


def regression(x: np.ndarray, labels: Sequence[str]) -> Classify:
    def classify(
        train: Sequence[int], test: Sequence[int]
    ) -> tuple[Sequence[str], Sequence[float]]:
        fitted = LogisticRegression().fit(x[list(train)], [labels[place] for place in train])
        sure = fitted.predict_proba(x[list(test)])
        return fitted.classes_[sure.argmax(axis=1)].tolist(), sure.max(axis=1).tolist()

    return classify


def test_without_small_labels_it_agrees_with_five_fold_cross_validation() -> None:
    x, labels = clouds(seed=1)
    found = guesses(
        labels, regression(x, labels), list(splits(labels, SmallLabels(), 0, repeats=20))
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = np.mean(cross_val_predict(LogisticRegression(), x, labels, cv=folds) == labels)
    assert 0.5 < expected < 0.9
    assert summary(found, threshold=0.0)["accuracy"] == pytest.approx(expected, abs=0.02)


def test_small_labels_are_the_rarest() -> None:
    assert small(LABELS, SmallLabels()) == set()
    assert small(LABELS, SmallLabels(k=4)) == {"e", "f", "g"}
    assert small(LABELS, SmallLabels(p=0.06)) == {"e", "f", "g"}  # 1 + 2 < 6 of 100, and then 6
    assert small(LABELS, SmallLabels(p=0.15)) == {"c", "d", "e", "f", "g"}


def test_a_split_keeps_its_promises() -> None:
    for seed in range(20):
        found = split(LABELS, SmallLabels(k=5), 0.25, np.random.default_rng(seed))
        trained = {LABELS[place] for place in found.train}
        tested = {LABELS[place] for place in found.test}
        negative = {LABELS[place] for place in found.negative}
        assert not set(found.train) & set(found.test)
        assert len(found.train) + len(found.test) == len(LABELS)
        assert {"a", "b", "c"} <= trained & tested
        assert not negative & {"a", "b", "c"}
        assert not negative & trained
        assert len(negative) == 1  # a quarter of d, e, f, g
        assert tested == {"a", "b", "c"} | negative
        assert sum(LABELS[place] == "a" for place in found.test) == 10


def test_splits_repeat_with_the_seed_and_differ_among_themselves() -> None:
    one, other = (list(splits(LABELS, SmallLabels(p=0.15), seed=3)) for _ in range(2))
    assert one == other
    assert len(set(one)) == 5


def test_by_hand() -> None:
    found = [
        Guess("a", "a", 0.9, 0),  # right
        Guess("a", "b", 0.8, 0),  # wrong
        Guess("b", "a", 0.7, 0),  # wrong
        Guess(NONE, "a", 0.4, 0),  # rightly silent: its guess was wrong
        Guess("b", "b", 0.3, 0),  # silent, but would have been right
    ]
    told = summary(found)
    assert told["accuracy"] == 2 / 5
    assert told["carefulness"] == 1 / 2
    assert told["automation"] == 3 / 5
    assert told["f1"] == pytest.approx(np.mean([2 / 4, 0, 2 / 3]))
    assert confused(found).to_numpy().tolist() == [["a", "b", 2]]
    assert confusion(found).loc["b", "(none)"] == 1
    assert np.isnan(summary([])["accuracy"])


def test_negatives_cost_a_classifier_that_answers_everything() -> None:
    x, labels = clouds(seed=2)
    plain = table(labels, regression(x, labels), seed=0)
    assert plain[["K", "P"]].to_numpy().tolist() == [[each.k, each.p] for each in SETTINGS]
    rare = [f"rare{place}" if place < 40 else label for place, label in enumerate(labels)]
    many = table(rare, regression(x, rare), seed=0)
    assert many["accuracy"][2] < plain["accuracy"][2]


@pytest.mark.parametrize(("k", "p"), [(5, 0.1), (-1, 0.0), (0, 1.0)])
def test_settings_that_make_no_sense_are_refused(k: int, p: float) -> None:
    with pytest.raises(ValueError, match="K is"):
        SmallLabels(k, p)


def test_two_classifiers_meet_the_same_splits() -> None:
    seen: list[list[tuple[tuple[int, ...], tuple[int, ...]]]] = [[], []]

    def judge(which: int, right_until: int) -> Classify:
        def classify(
            train: Sequence[int], test: Sequence[int]
        ) -> tuple[Sequence[str], Sequence[float]]:
            seen[which].append((tuple(train), tuple(test)))
            return [LABELS[i] if i < right_until else "?" for i in test], [1.0] * len(test)

        return classify

    found = compared(LABELS, judge(0, len(LABELS)), judge(1, 40), seed=3, repeats=4)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 4 * len(SETTINGS)
    first = found.iloc[0]
    assert (first["K"], first["P"], first["one"], first["splits"]) == (0, 0, 1.0, 4)
    assert (first["one_wins"], first["other_wins"]) == (4, 0)
    share = np.mean([place < 40 for place in seen[0][0][1]])
    assert first["other"] == pytest.approx(share)
    assert first["difference"] == pytest.approx(1 - share)
    even = compared(LABELS, judge(0, 40), judge(1, 40), seed=3, repeats=4)
    assert (even["one_wins"] + even["other_wins"] == 0).all()
    assert (even["difference"] == 0).all()


def test_runs_of_characters_forgive_spelling_and_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = np.random.default_rng(5)
    rows = []
    for word in ("bicycle", "umbrella", "cathedral"):
        for _ in range(20):
            letters = list(word)
            letters[int(chance.integers(len(word)))] = str(chance.choice(list("xyzqw")))
            rows.append({"text": f"about the {''.join(letters)}", "label": word})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([str(path), "--beside", "characters"]) == 0
    heading, columns, first, *_ = capsys.readouterr().out.split("accuracy of ")[1].splitlines()
    assert heading == "words (one) and characters (other), same splits:"
    cells = dict(zip(columns.split(), first.split(), strict=True))
    assert (cells["one_wins"], cells["other_wins"]) == ("0", "5")
    assert float(cells["difference"]) < -0.3


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [
        {"text": f"{word} number {place}", "label": word}
        for word in ("price", "refund", "lock")
        for place in range(10)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([str(path)]) == 0
    assert "carefulness" in capsys.readouterr().out
    path.write_text('{"text": "a"}\n')
    assert main([str(path)]) == 2
    assert "line 1 must be an object with text and label" in capsys.readouterr().err


@pytest.mark.parametrize("counts", [(2, 1), (2, 2, 1), (1, 1, 6), (4, 4)])
def test_of_few_examples_the_command_says_what_it_can(
    counts: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "questions.jsonl"
    words = ("price", "refund", "lock")
    rows = [
        {"text": f"about the {word} {k}", "label": word}
        for word, count in zip(words, counts, strict=False)
        for k in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([str(path), "--beside", "characters"]) == 0
    printed = capsys.readouterr().out
    cells = [line.split() for line in printed.splitlines()[1:4]]
    tested = [float(row[6]) for row in cells]  # of each setting
    assert max(tested) > 0
    assert [row[2] == "NaN" for row in cells] == [n == 0 for n in tested]


def test_labels_of_one_example_each_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"text": x, "label": x}) + "\n" for x in ("one", "two")))
    assert main([str(path)]) == 2
    assert "there must be a label with two examples" in capsys.readouterr().err


def test_a_line_ends_where_json_lines_end_it(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"text": f"a\u2028{k}\x85b", "label": f"l{k % 2}"} for k in range(4)]
    path.write_text(
        "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", "utf-8"
    )
    assert read_labeled(path) == ([row["text"] for row in rows], ["l0", "l1"] * 2)
