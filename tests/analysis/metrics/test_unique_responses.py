"""Unique responses: a constant bot has none, one that never repeats itself only such."""

from analysis import get_metric
from tests.analysis.talks import talks

unique_responses = get_metric("unique_responses")


def _share(*texts: str) -> float:
    found = unique_responses(talks([[("s", text)] for text in texts]))
    return float(found["estimate"].iloc[0])


def test_constant_and_all_different() -> None:
    assert _share("ok", "ok", "ok") == 0.0
    assert _share("ok", "fine", "well") == 1.0


def test_what_normalization_makes_equal_is_not_unique() -> None:
    assert _share("I like the tea.", "i like tea", "Coffee?") == 1 / 3
