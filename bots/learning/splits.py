"""Dialogues held out by persona: no sentence of a persona of one part is in another part.

Source: PERSONA-CHAT (Zhang et al. 2018, section 3) keeps the personas of its test set apart from
those it trains on. How dialogues are drawn here is our own: those that share a persona's sentence,
directly or through others, stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bots.dialogue import Dialogue
from bots.text.tokens import key


def hold_out_personas(
    dialogues: Sequence[Dialogue], share: float, seed: int
) -> tuple[list[Dialogue], list[Dialogue]]:
    """Split into training data and, of about this share, test data.

    Both keep their order. Groups are drawn at random; one that would make the test part too large
    is left for learning. A dialogue without a persona is a group of its own.
    """
    groups = _groups(dialogues)
    Random(seed).shuffle(groups)  # noqa: S311
    wanted = round(len(dialogues) * share)
    held: set[int] = set()
    for group in groups:
        if len(held) + len(group) <= wanted:
            held.update(group)
    learned = [each for index, each in enumerate(dialogues) if index not in held]
    return learned, [dialogues[index] for index in sorted(held)]


def _groups(dialogues: Sequence[Dialogue]) -> list[list[int]]:
    """Return the indices of dialogues, those joined by a sentence of a persona together."""
    leader = list(range(len(dialogues)))
    first: dict[str, int] = {}
    for index, dialogue in enumerate(dialogues):
        for sentence in (*dialogue.persona, *dialogue.partner_persona):
            other = first.setdefault(key(sentence), index)
            leader[_root(leader, index)] = _root(leader, other)
    groups: dict[int, list[int]] = {}
    for index in range(len(dialogues)):
        groups.setdefault(_root(leader, index), []).append(index)
    return list(groups.values())


def _root(leader: list[int], index: int) -> int:
    while leader[index] != index:
        leader[index] = index = leader[leader[index]]
    return index
