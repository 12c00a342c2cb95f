"""CA-P1: four to six turns each, enjoyment from 1 to 4, and the partner's persona."""

from __future__ import annotations

import pytest

from evaluation import InvalidSetting, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("convai2_crowd")


def test_four_to_six_turns_each_are_eight_to_twelve_messages_and_it_ends_with_the_sixth() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.minimum.options, chat.maximum, chat.first) == ((8, 10, 12), 12, "participant")
    with pytest.raises(InvalidSetting, match=r"chat\.maximum: “11” is below the minimum; write 12"):
        PROTOCOL.change({"chat.maximum": 11})


def test_enjoyment_is_asked_in_the_words_of_the_paper_from_1_to_4_and_then_the_persona() -> None:
    assert PROTOCOL.after is not None
    enjoyment, persona = PROTOCOL.after.each
    assert enjoyment.text == "How much did you enjoy talking to this user?"
    assert enjoyment.meanings() == {
        "1": "not at all",
        "2": "a little",
        "3": "somewhat",
        "4": "a lot",
    }
    assert persona.personas_beside() == 1
    raw = {"p.enjoyment": "4", "p.persona": "k2"}
    values = PROTOCOL.after.parse(raw, Shown(("p",), {"persona": ("k9", "k2")}))
    assert values == {("p", "enjoyment"): 4, ("p", "persona"): "k2"}


def test_the_instructions_are_those_that_the_data_set_quotes() -> None:
    read = " ".join(PROTOCOL.instructions)
    assert "chat with the other person naturally and try to get to know each other" in read
    assert "both ask questions and answer questions of your chat partner" in read


def test_both_kinds_of_partner_are_named_so_nothing_is_left_to_tell_afterwards() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.partner, chat.debrief) == ("either", "")
    assert "a person or a computer program" in chat.told


def test_the_sixteenth_word_and_a_copied_persona_are_refused() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert chat.complaint("word " * 15, ()) is None
    assert chat.complaint("word " * 16, ())
    assert chat.complaint("I own a red boat", ("I own a red boat.",))
