"""Dialogues as values, and the examples that bots learn from and are tested on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Speaker = Literal["self", "partner"]
Sides = Literal["self", "both"]

OTHER: dict[Speaker, Speaker] = {"self": "partner", "partner": "self"}


@dataclass(frozen=True)
class Utterance:
    """One message. Seen from a bot, "self" is the bot and "partner" whoever it talks to."""

    speaker: Speaker
    text: str
    candidates: tuple[str, ...] = ()  # what a file offers to choose the message from

    def swapped(self) -> Utterance:
        """Return the same message as the partner sees it."""
        return replace(self, speaker=OTHER[self.speaker])


@dataclass(frozen=True)
class Dialogue:
    """A conversation as one side sees it; a persona is empty where it is not known."""

    id: str
    turns: tuple[Utterance, ...]
    persona: tuple[str, ...] = ()
    partner_persona: tuple[str, ...] = ()

    def swapped(self) -> Dialogue:
        """Return the same dialogue as the partner sees it."""
        turns = tuple(turn.swapped() for turn in self.turns)
        return Dialogue(self.id, turns, self.partner_persona, self.persona)


@dataclass(frozen=True)
class Example:
    """A reply to be given: everything said before it, and what was said in fact."""

    id: str
    dialogue: str
    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    history: tuple[Utterance, ...]
    reply: str


def examples(dialogues: Iterable[Dialogue], sides: Sides = "both") -> Iterator[Example]:
    """Yield an example for each message of the side, or sides, that somebody spoke before."""
    for dialogue in dialogues:
        views = (dialogue, dialogue.swapped()) if sides == "both" else (dialogue,)
        for view in views:
            yield from _of_self(view)


def _of_self(dialogue: Dialogue) -> Iterator[Example]:
    for place, turn in enumerate(dialogue.turns):
        if turn.speaker == "self" and place > 0:
            yield Example(
                id=f"{dialogue.id}:{place}",
                dialogue=dialogue.id,
                persona=dialogue.persona,
                partner_persona=dialogue.partner_persona,
                history=dialogue.turns[:place],
                reply=turn.text,
            )
