"""PM-P2: a list of utterances and one character, likely or not for each."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("persona_likely")
FIFTY = Shown(tuple(f"u{n}" for n in range(50)))


def test_five_workers_judge_a_list_of_texts_and_each_has_one_list() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.messages) == ("contexts", "all", (0, 0))
    assert (after.votes, after.batch) == (5, 1)
    letters = [option.letter for option in after.each[0].form_field(FIFTY).options]
    assert letters == ["y", "n"]


@pytest.mark.parametrize("given", [49, 50])
def test_a_list_must_be_complete(given: int) -> None:
    after = PROTOCOL.after
    assert after is not None
    answers = {f"u{n}.likely": str(n % 2) for n in range(given)}
    if given == 50:
        assert sum(map(int, map(str, after.parse(answers, FIFTY).values()))) == 25
        return
    with pytest.raises(InvalidAnswers) as refused:
        after.parse(answers, FIFTY)
    assert refused.value.problems == {"u49.likely": "Choose yes or no."}
