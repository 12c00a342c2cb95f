"""Rows of metrics of classifiers and of tasks beside open-domain chat."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from analysis.predictions.nexcv import SmallLabels, guesses, splits, summary
from analysis.predictions.peripheral import (
    Carried,
    answer_f1,
    carryover_f1,
    heq,
    joint_goal_accuracy,
    precision_at,
)
from tests.acceptance.metrics_predicted import near
from tests.acceptance.shell import Shell, Shown, slow
from tests.analysis.predictions.test_nexcv import clouds, regression


@slow
def m_nexcv(shell: Shell) -> Shown:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    x, labels = clouds(seed=1)
    found = guesses(
        labels, regression(x, labels), list(splits(labels, SmallLabels(), 0, repeats=20))
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = float(
        np.mean(cross_val_predict(LogisticRegression(), x, labels, cv=folds) == labels)
    )
    ours = summary(found, threshold=0.0)["accuracy"]
    result = f"(0,0) accuracy {ours:.3f}, 5-fold cross-validation {expected:.3f}"
    return shell.shown(abs(ours - expected) < 0.02, result, summary)


def m_periph(shell: Shell) -> Shown:
    facts = [(1, 1, 1), (1, 0, 1), (2, 1, 0), (2, 1, 1), (3, 0, 0), (4, 1, 1), (5, 0, 1)]
    slots = carryover_f1(Carried(d, bool(gold), bool(told)) for d, gold, told in facts)
    gold, answers = [{"food": "thai"}, {}], [{"food": "thai"}, {"area": "x"}]
    checks: dict[str, tuple[float, float]] = {
        "answer F1": (answer_f1("kitchen", ["in the kitchen", "the kitchen"]), 1.0),
        "HEQ-Q": (heq([[(0.8, 0.8), (0.5, 0.9)], [(1.0, 0.7)]])[0], 2 / 3),
        "P@2": (precision_at([["a", "b", "c"], ["c", "b", "a"]], ["b", "a"], 2), 0.5),
        "joint goal": (joint_goal_accuracy(answers, gold), 0.5),
        "slot F1 at 1": (slots["1"], 2 / 3),
    }
    pairs = zip(answers, gold, strict=True)
    cases = [{"task": "states", "predicted": one, "gold": other} for one, other in pairs]
    file = shell.written("cases.jsonl", "".join(json.dumps(case) + "\n" for case in cases))
    rows = json.loads(shell.analysis("tasks", file, "--json"))
    checks["joint goal of a file"] = (rows[0]["estimate"], 0.5)
    shown = ", ".join(f"{name} {ours:.4f}" for name, (ours, _) in checks.items())
    by: tuple[Callable[..., object], ...] = (answer_f1, heq, precision_at, joint_goal_accuracy)
    return shell.shown(near(*checks.values()), shown, *by, carryover_f1)
