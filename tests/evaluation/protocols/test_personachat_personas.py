"""PC-P1: five sentences of 3 to 15 words, beside the paper's one example."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswer, InvalidSetting
from evaluation.registry import get_protocol


def words(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count))


def test_a_persona_has_five_sentences_and_one_example_is_shown() -> None:
    write = get_protocol("personachat_personas").write
    assert write is not None
    assert write.names("w1", ()) == ("w1.1", "w1.2", "w1.3", "w1.4", "w1.5")
    assert [example.text.count(".") for example in write.examples] == [5]
    assert (write.count, write.valid, write.test) == (1155, 100, 100)


@pytest.mark.parametrize(("count", "fits"), [(2, False), (3, True), (15, True), (16, False)])
def test_a_sentence_has_3_to_15_words(count: int, fits: bool) -> None:
    write = get_protocol("personachat_personas").write
    assert write is not None
    if fits:
        assert write.text(words(count), 0, ()) == words(count)
    else:
        with pytest.raises(InvalidAnswer, match=f"3 to 15 words; this sentence has {count} words"):
            write.text(words(count), 0, ())


def test_no_more_can_be_set_aside_than_are_written() -> None:
    protocol = get_protocol("personachat_personas")
    assert protocol.change({"write.count": 200}).write
    with pytest.raises(InvalidSetting, match="write 200 or more"):
        protocol.change({"write.count": 199})
    with pytest.raises(InvalidSetting, match="above the maximum of words"):
        protocol.change({"write.sentence_len.least": 16})
