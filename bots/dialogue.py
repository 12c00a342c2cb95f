"""Dialogues as values, and the examples that bots learn from and are tested on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Speaker = Literal["self", "partner"]
Sides = Literal["self", "both"]

OTHER: dict[Speaker, Speaker] = {"self": "partner", "partner": "self"}


class TooLittleData(ValueError):
    """Dialogues that a bot cannot learn from; the text says what is missing."""


@dataclass(frozen=True)
class Utterance:
    """One message. Seen from a bot, "self" is the bot and "partner" the other side."""

    speaker: Speaker
    text: str
    candidates: tuple[str, ...] = ()  # from which a file lets the message be chosen

    def swapped(self) -> Utterance:
        """Return the same message as the partner sees it."""
        return replace(self, speaker=OTHER[self.speaker])


@dataclass(frozen=True)
class Background:
    """What a speaker knows beside its persona: its sheet in words, and the topic; "" for none."""

    brief: str = ""
    topic: str = ""


class SeededHistory(tuple[Utterance, ...]):
    """Messages so far, with the seed of whatever is drawn for the reply, and the background.

    A plain history has none: what is drawn then follows from its words, so that equal words get
    equal replies.
    """

    seed: int
    background: Background

    def __new__(
        cls, turns: Iterable[Utterance], seed: int, background: Background | None = None
    ) -> SeededHistory:
        history = super().__new__(cls, turns)
        history.seed = seed
        history.background = background or Background()
        return history

    def __getnewargs__(self) -> tuple[tuple[Utterance, ...], int, Background]:
        return tuple(self), self.seed, self.background


def seed_of(history: Iterable[Utterance]) -> int | None:
    """Return the seed that a history carries, or None."""
    return history.seed if isinstance(history, SeededHistory) else None


def background_of(history: Iterable[Utterance]) -> Background:
    """Return what the speaker knows beside its persona; nothing where a history does not say."""
    return history.background if isinstance(history, SeededHistory) else Background()


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
    """A reply to predict: the messages before it, and the true one."""

    id: str
    dialogue: str
    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    history: tuple[Utterance, ...]
    reply: str


def no_reply(dialogues: Sequence[Dialogue]) -> TooLittleData:
    """Return the refusal of dialogues in which nobody replies."""
    return TooLittleData(
        "1 dialogue holds no reply to learn from"
        if len(dialogues) == 1
        else f"{len(dialogues)} dialogues hold no reply to learn from"
    )


def examples(dialogues: Iterable[Dialogue], sides: Sides = "both") -> Iterator[Example]:
    """Yield an example per message of the side, or sides, that follows another message."""
    for dialogue in dialogues:
        views = (dialogue, dialogue.swapped()) if sides == "both" else (dialogue,)
        for view in views:
            yield from _of_self(view)


def _of_self(dialogue: Dialogue) -> Iterator[Example]:
    for index, turn in enumerate(dialogue.turns):
        if turn.speaker == "self" and index > 0:
            yield Example(
                id=f"{dialogue.id}:{index}",
                dialogue=dialogue.id,
                persona=dialogue.persona,
                partner_persona=dialogue.partner_persona,
                history=dialogue.turns[:index],
                reply=turn.text,
            )
