"""ME-P7: four people label messages of 25 conversations again, without the first labels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation import Rate
from evaluation.registry import get_protocol


def test_the_questions_are_those_of_the_first_labels() -> None:
    second, first = get_protocol("meena_second_panel").after, get_protocol("meena_interactive").live
    assert second is not None
    assert first is not None
    assert second.each == first.each
    assert (second.over, second.votes, second.sample) == ("messages", 4, 25)
    assert second.not_before


def test_only_conversations_of_others_were_judged_before() -> None:
    with pytest.raises(ValueError, match="not_before is set"):
        Rate(each=(), not_before=True)


def test_a_sample_is_a_setting_only_where_conversations_are_taken() -> None:
    names = {each.name for each in get_protocol("meena_second_panel").settings()}
    assert "rate.sample" in names
    assert "rate.sample" not in {each.name for each in get_protocol("meena_static").settings()}
    changed = get_protocol("meena_second_panel").change({"rate.sample": None})
    assert changed.after == replace(
        get_protocol("meena_second_panel").after or Rate(each=()), sample=None
    )
