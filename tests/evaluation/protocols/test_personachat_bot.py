"""PC-P4: the form of PERSONA-CHAT, in its order, with its limits."""

from __future__ import annotations

import re

from evaluation import Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("personachat_bot")


def test_questions_stand_in_the_order_of_the_paper() -> None:
    assert PROTOCOL.after is not None
    names = [question.name for question in PROTOCOL.after.each]
    assert names == ["fluency", "engagingness", "consistency", "persona"]


def test_the_participant_is_not_told_of_a_bot_before_the_debrief() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    told = " ".join((chat.told, *PROTOCOL.instructions)).lower()
    assert not re.search(r"\b(chat)?bots?\b|program|machine", told)
    assert "computer program" in chat.debrief


def test_six_to_eight_turns_each_are_twelve_to_sixteen_messages() -> None:
    assert PROTOCOL.chat is not None
    assert PROTOCOL.chat.minimum.options == (12, 14, 16)
    assert PROTOCOL.chat.maximum is None


def test_the_sixteenth_word_and_a_copied_persona_are_refused() -> None:
    assert PROTOCOL.chat is not None
    assert PROTOCOL.chat.complaint("word " * 16, ())
    assert PROTOCOL.chat.complaint("I own a red boat", ("I own a red boat.",))
    assert PROTOCOL.chat.complaint("Hello there", ("I own a red boat.",)) is None


def test_the_persona_chosen_is_stored_by_its_key() -> None:
    assert PROTOCOL.after is not None
    raw = {"p.fluency": "1", "p.engagingness": "3", "p.consistency": "5", "p.persona": "k9"}
    values = PROTOCOL.after.parse(raw, Shown(("p",), {"persona": ("k9", "k2")}))
    assert values["p", "persona"] == "k9"
