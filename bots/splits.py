"""Dialogues held out by persona: no sentence of a persona of one part is in another part.

Source: PERSONA-CHAT (Zhang et al. 2018, section 3) keeps the personas of its test set apart from
those it trains on. How dialogues are drawn here is our own: those that share a persona's sentence,
directly or through others, stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bots.dialogue import Dialogue
from bots.text import key


def hold_out_personas(
    dialogues: Sequence[Dialogue], share: float, seed: int
) -> tuple[list[Dialogue], list[Dialogue]]:
    """Split into what to learn from and, about so much, what to be tested on.

    Both keep the order given. Groups are drawn by lot; one that would make the test part too large
    is left for learning. A dialogue without a persona is a group of its own.
    """
    groups = _groups(dialogues)
    Random(seed).shuffle(groups)  # noqa: S311
    wanted = round(len(dialogues) * share)
    held: set[int] = set()
    for group in groups:
        if len(held) + len(group) <= wanted:
            held.update(group)
    learned = [each for place, each in enumerate(dialogues) if place not in held]
    return learned, [dialogues[place] for place in sorted(held)]


def _groups(dialogues: Sequence[Dialogue]) -> list[list[int]]:
    """Return the places of dialogues, those joined by a sentence of a persona together."""
    leader = list(range(len(dialogues)))
    first: dict[str, int] = {}
    for place, dialogue in enumerate(dialogues):
        for sentence in (*dialogue.persona, *dialogue.partner_persona):
            other = first.setdefault(key(sentence), place)
            leader[_root(leader, place)] = _root(leader, other)
    groups: dict[int, list[int]] = {}
    for place in range(len(dialogues)):
        groups.setdefault(_root(leader, place), []).append(place)
    return list(groups.values())


def _root(leader: list[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = place = leader[leader[place]]
    return place
