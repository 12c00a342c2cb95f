"""NL-P4: a rank for every reply, and no two the same."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("reply_ranking")
FOUR = Shown(("a", "b", "c", "d"))


def ranked(*positions: int) -> dict[str, str]:
    return {
        f"{key}.quality": str(position)
        for key, position in zip(FOUR.candidates, positions, strict=True)
    }


def test_three_judges_rank_all_replies_to_a_context() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.votes) == ("contexts", "all", 3)
    assert after.parse(ranked(2, 4, 1, 3), FOUR) == {
        ("a", "quality"): 2,
        ("b", "quality"): 4,
        ("c", "quality"): 1,
        ("d", "quality"): 3,
    }


@pytest.mark.parametrize(
    ("positions", "wrong"),
    [((1, 1, 2, 3), "ab"), ((1, 2, 2, 4), "bc"), ((1, 2, 3, 0), "d"), ((1, 2, 3, 5), "d")],
)
def test_ties_and_positions_that_do_not_exist_are_refused(
    positions: tuple[int, ...], wrong: str
) -> None:
    after = PROTOCOL.after
    assert after is not None
    with pytest.raises(InvalidAnswers) as refused:
        after.parse(ranked(*positions), FOUR)
    assert set(refused.value.problems) == {f"{key}.quality" for key in wrong}
