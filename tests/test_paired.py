"""Paired tests of the acceptance table: by hand, and what must not pass."""

from __future__ import annotations

import pytest

from tests.acceptance.paired import Paired, of_hits, slope_interval


def test_only_examples_that_one_alone_has_right_count() -> None:
    one = {"a": True, "b": True, "c": False, "d": True}
    other = {"a": True, "b": False, "c": False, "d": False}
    assert of_hits(one, other) == Paired(2, 0, 4)
    assert of_hits(one, one).p == 1
    with pytest.raises(ValueError, match="cannot be paired"):
        of_hits(one, {"a": True})


@pytest.mark.parametrize(
    ("one", "other", "p", "above"),
    [(5, 0, 2 / 32, False), (6, 0, 2 / 64, True), (0, 6, 2 / 64, False), (12, 9, 0.664, False)],
)
def test_the_test_is_the_binomial_of_those_that_differ(
    one: int, other: int, p: float, above: bool
) -> None:
    found = Paired(one, other, 100)
    assert found.p == pytest.approx(p, abs=5e-4)
    assert found.above is above
    assert found.margin == pytest.approx((one - other) / 100)


def test_a_slope_that_falls_in_every_conversation_is_told_from_one_that_does_not() -> None:
    falls = slope_interval([[0.5, 0.4, 0.3], [0.6, 0.5, 0.3], [0.4, 0.35, 0.3], [0.5, 0.4, 0.25]])
    assert falls[1] < falls[0] < falls[2] < 0
    flat = slope_interval([[0.5, 0.4], [0.4, 0.5], [0.5, 0.45], [0.45, 0.5]])
    assert flat[1] < 0 < flat[2]
