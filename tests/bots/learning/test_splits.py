"""Dialogues held out by persona."""

from __future__ import annotations

from bots import Dialogue, Utterance
from bots.learning.splits import hold_out_personas
from tests.bots.examples import demo


def talk(name: str, *persona: str) -> Dialogue:
    return Dialogue(name, (Utterance("partner", "Hi."), Utterance("self", "Hello.")), persona)


def sentences(dialogues: list[Dialogue]) -> set[str]:
    return {text for each in dialogues for text in (*each.persona, *each.partner_persona)}


def test_no_sentence_of_a_persona_is_in_both_parts() -> None:
    known = demo("all")
    learned, held = hold_out_personas(known, 0.2, 3)
    assert not sentences(learned) & sentences(held)
    assert {each.id for each in learned} | {each.id for each in held} == {d.id for d in known}
    assert 0.15 * len(known) < len(held) <= 0.2 * len(known)


def test_those_joined_through_others_stay_together() -> None:
    chain = [talk("a", "one", "two"), talk("b", "Two.", "three"), talk("c", "three"), talk("d")]
    for seed in range(20):
        learned, held = hold_out_personas(chain, 0.75, seed)
        assert {each.id for each in held} in ({"a", "b", "c"}, {"d"})
        assert len(learned) + len(held) == 4


def test_the_lot_decides_and_nothing_else() -> None:
    known = demo("train")
    first = hold_out_personas(known, 0.2, 1)
    assert first == hold_out_personas(known, 0.2, 1)
    assert first != hold_out_personas(known, 0.2, 2)
    assert hold_out_personas(known, 0.0, 1) == (list(known), [])
