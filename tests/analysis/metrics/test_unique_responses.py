"""Unique responses: a constant bot has none, one that never repeats itself only such."""

from fractions import Fraction

import numpy as np
import pytest

from analysis import get_metric
from analysis.stats.intervals import share_interval, wilson_interval
from tests.analysis.talks import talks

unique_responses = get_metric("unique_responses")


def _share(*texts: str) -> float:
    found = unique_responses(talks([[("s", text)] for text in texts]))
    return float(found["estimate"].iloc[0])


def test_constant_and_all_different() -> None:
    assert _share("ok", "ok", "ok") == 0.0
    assert _share("ok", "fine", "well") == 1.0


def test_the_error_is_that_of_the_share_counted_anew_without_each_conversation() -> None:
    said = [["hi", "yes", "f"], ["yes", "b", "b"], ["yes", "c", "hi"], ["d", "e", "yes"]]
    found = unique_responses(talks([[("s", text) for text in talk] for talk in said])).iloc[0]
    shares = [Fraction(unique, 9) for unique in (4, 4, 4, 2)]
    se = float(np.sqrt(3 / 4 * sum((share - sum(shares) / 4) ** 2 for share in shares)))
    expected = share_interval(4 / 12, se, 3, 4)
    assert (found["estimate"], found["n"]) == (4 / 12, 12)
    assert (found["low"], found["high"]) == pytest.approx(expected)


def test_with_none_alike_conversations_are_what_is_counted() -> None:
    found = unique_responses(talks([[("s", text)] for text in ("a", "b", "c")])).iloc[0]
    assert (found["low"], found["high"]) == pytest.approx(wilson_interval(3, 3))


def test_what_normalization_makes_equal_is_not_unique() -> None:
    assert _share("I like the tea.", "i like tea", "Coffee?") == 1 / 3
