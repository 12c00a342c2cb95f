"""NL-P8: ten prompts of one data set, and a rank for each of seven to nine explanations."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("explanation_ranking")


def test_ten_prompts_of_one_data_set() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.keep, after.batch) == ("contexts", "all", "group", 10)
    assert after.messages == (1, 1)
    assert PROTOCOL.sources["rate.batch"].tag == "S"


@pytest.mark.parametrize("count", [7, 8, 9])
def test_ranks_are_a_permutation(count: int) -> None:
    after, keys = PROTOCOL.after, tuple(f"e{n}" for n in range(count))
    assert after is not None
    turned = {f"{key}.explanation": str(count - n) for n, key in enumerate(keys)}
    found = after.parse(turned, Shown(keys))
    assert sorted(map(int, map(str, found.values()))) == list(range(1, count + 1))
    tie = turned | {"e0.explanation": "1"}
    with pytest.raises(InvalidAnswers) as refused:
        after.parse(tie, Shown(keys))
    assert set(refused.value.problems) == {"e0.explanation", f"e{count - 1}.explanation"}
