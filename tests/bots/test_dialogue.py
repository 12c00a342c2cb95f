"""Dialogues and their examples."""

from __future__ import annotations

from bots import Dialogue, Utterance, examples

DIALOGUE = Dialogue(
    "d",
    (Utterance("self", "Hi!"), Utterance("partner", "Hello."), Utterance("self", "Pets?")),
    persona=("I am one.",),
    partner_persona=("I am two.",),
)


def test_swapped_is_what_the_partner_sees() -> None:
    seen = DIALOGUE.swapped()
    assert [turn.speaker for turn in seen.turns] == ["partner", "self", "partner"]
    assert (seen.persona, seen.partner_persona) == (("I am two.",), ("I am one.",))
    assert seen.swapped() == DIALOGUE


def test_examples_are_the_replies_of_a_side_with_all_before_them() -> None:
    (own,) = examples([DIALOGUE], "self")
    assert (own.id, own.reply, own.persona) == ("d:2", "Pets?", ("I am one.",))
    assert own.history == DIALOGUE.turns[:2]


def test_examples_of_both_sides_see_each_with_its_own_eyes() -> None:
    own, other = examples([DIALOGUE], "both")
    assert (other.id, other.reply, other.persona) == ("d:1", "Hello.", ("I am two.",))
    assert other.history == (Utterance("partner", "Hi!"),)
    assert own.dialogue == other.dialogue == "d"
