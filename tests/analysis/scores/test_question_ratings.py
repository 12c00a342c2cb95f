"""Questions read off a table once for all metrics give what each metric reads alone."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from analysis import evaluate
from analysis.metrics.gwet_ac2 import gwet_ac2
from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.win_probability import win_probability
from analysis.output.all_metrics import evaluate_checked
from analysis.scores.question_ratings import questions, shared
from analysis.tables.schema import RatingTable
from tests.analysis.examples import simulated


def test_only_within_shared_is_a_table_read_once() -> None:
    table = simulated()
    with shared():
        first = next(questions(table, "ordinal"))
        with shared():
            assert next(questions(table, "ordinal")) is first
        assert next(questions(simulated(), "ordinal")) is not first
    assert next(questions(table, "ordinal")) is not first


def test_questions_about_the_same_share_what_rests_on_who_judged_what() -> None:
    """Two questions on one form, and the second where its first two rows are in another order."""
    row = {"campaign": "c", "protocol": "p", "level": "ordinal", "value": 3.0}
    pairs = [(item, rater) for item in ("i1", "i2") for rater in ("r1", "r2", "r3")]
    forms = [
        {**row, "item": item, "rater": rater, "system": f"s{item}", "question": question}
        for item, rater in pairs
        for question in ("clear", "kind")
    ]
    changed = [*forms[:1], forms[3], forms[2], forms[1], *forms[4:]]
    for rows, is_shared in ((forms, True), (changed, False)):
        one, other = questions(RatingTable(pd.DataFrame(rows)), "ordinal")
        made = one.once_of_design("raters", lambda: ["of the first"])
        assert (other.once_of_design("raters", lambda: ["of its own"]) is made) == is_shared
        own = one.once("answers", lambda: ["of the first"])
        assert other.once("answers", lambda: ["of its own"]) is not own


@pytest.mark.parametrize("metric", [gwet_ac2, krippendorff_alpha, win_probability])
def test_a_metric_says_the_same_alone_and_among_all(metric: Callable[..., pd.DataFrame]) -> None:
    """Of these, the first two draw the same resamples, and the last takes another's posterior."""
    table = simulated()
    alone = metric(table, seed=5)
    among = evaluate(table, seed=5)
    among = among[among["metric"] == alone["metric"].iloc[0]]
    for name in ("estimate", "low", "high"):
        assert among[name].tolist() == pytest.approx(alone[name].tolist(), abs=1e-12, nan_ok=True)


def test_a_part_of_a_checked_table_needs_no_second_check() -> None:
    table = simulated()
    kept = RatingTable(table[table["system"] != table["system"].iloc[0]])
    found = evaluate_checked(kept, seed=0, control=None, control_questions=())
    assert found["estimate"].tolist() == pytest.approx(
        evaluate(kept)["estimate"].tolist(), abs=1e-12, nan_ok=True
    )
