"""How often the persona was told."""

from __future__ import annotations

import pytest
from scipy import stats

from analysis.metrics.persona_detection import persona_detection
from tests.analysis.examples import ratings


def test_share_and_sd_are_those_of_the_paper() -> None:
    """PERSONA-CHAT table 4: .95 of 100 has SD .22, .42 has .49."""
    for right, sd in ((95, 0.22), (42, 0.49)):
        rows: list[dict[str, object]] = [{"value": int(k < right)} for k in range(100)]
        row = persona_detection(ratings(rows, question="persona", level="nominal")).iloc[0]
        assert row["estimate"] == right / 100
        assert round(row["sd"], 2) == sd
        assert row["chance"] == 0.5
        expected = stats.binomtest(right, 100).proportion_ci(method="wilson")
        assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("question", "value"), [("sensible", 1), ("persona", "persona-7"), ("persona", 3)]
)
def test_other_questions_have_no_rate(question: str, value: object) -> None:
    table = ratings([{"value": value}], question=question, level="nominal")
    assert persona_detection(table).empty
