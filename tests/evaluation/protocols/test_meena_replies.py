"""ME-P5: one reply to each context, on one line."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers
from evaluation.registry import get_protocol
from evaluation.serialized import InvalidProtocol, from_json, to_json
from evaluation.soundness import complaints


def test_a_reply_is_one_text_whatever_the_context() -> None:
    write = get_protocol("meena_replies").write
    assert write is not None
    given = ("Hi!", "Hello, how are you?")
    assert write.parse({"w1.1": " Very \n well. "}, "w1", given) == ("Very well.",)
    for wrong in ({"w1.1": " "}, {}, {"w1.1": "Yes.", "w1.2": "No."}):
        with pytest.raises(InvalidAnswers):
            write.parse(wrong, "w1", given)


def test_what_is_asked_is_a_free_text() -> None:
    value = to_json(get_protocol("meena_replies"))
    value["steps"][0]["asks"] = {"kind": "yes_no", "name": "good", "text": "Good?"}
    with pytest.raises(InvalidProtocol, match=r'asks\.kind is "yes_no"; it must be "free_text"'):
        from_json(value)


def test_overlap_can_only_be_looked_for_where_there_is_an_original() -> None:
    value = to_json(get_protocol("meena_replies"))
    value["steps"][0]["checks"] = [{"check": "no_nonstop_overlap"}]
    assert [field for field, _ in complaints(from_json(value))] == ["write.checks"]
    value["steps"].append(to_json(get_protocol("meena_static"))["steps"][0])
    assert "steps" in [field for field, _ in complaints(from_json(value))]
