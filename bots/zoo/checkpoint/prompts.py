"""Prompts of a pretrained model, and the text of the replies that its tokenizer decodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from bots.bot import Turn
from bots.text.vocabulary import MARKS

Layout = Literal["marks", "turns", "template"]
SHIFT = len(MARKS)  # our four marks come before the tokenizer's own ids


@dataclass(frozen=True)
class PiecesCodec:
    """Texts as the ids of a checkpoint's tokenizer, after our four marks."""

    tokenizer: Any
    before: str  # between the prompt's end and the reply
    most: int  # tokens of a reply that there is room for

    @property
    def size(self) -> int:
        """Number of ids."""
        return SHIFT + len(self.tokenizer)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokenizer's pieces, in order."""
        return tuple(self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer))))

    def encode(self, text: str) -> list[int]:
        """Return the ids of a reply."""
        found = self.tokenizer(self.before + text, add_special_tokens=False).input_ids
        return [SHIFT + each for each in found[: self.most]]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of a reply."""
        own = [each - SHIFT for each in ids if each >= SHIFT]
        return str(self.tokenizer.decode(own, skip_special_tokens=True)).strip()

    def tokens(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the tokenizer's pieces."""
        own = [each - SHIFT for each in ids if each >= SHIFT]
        return tuple(self.tokenizer.convert_ids_to_tokens(own))


@dataclass(frozen=True)
class Prompt:
    """Prompt layout: a persona and a history as one text, or as a tokenizer's chat."""

    layout: Layout
    own: str
    partner: str
    persona: str
    shows_persona: bool

    def text(self, turn: Turn) -> str:
        """Return lines of persona and history, and the mark of the next speaker."""
        persona, history = turn
        lines = [f"{self.persona} {each}" for each in persona] if self.shows_persona else []
        marks = {"self": self.own, "partner": self.partner}
        lines += [f"{marks[each.speaker]} {' '.join(each.text.split())}" for each in history]
        return "\n".join([*lines, self.own])

    def chat(self, turn: Turn) -> list[dict[str, str]]:
        """Return messages with roles; the persona is the system's."""
        persona, history = turn
        roles = {"self": "assistant", "partner": "user"}
        messages = [{"role": roles[each.speaker], "content": each.text} for each in history]
        if self.shows_persona and persona:
            return [{"role": "system", "content": "\n".join(persona)}, *messages]
        return messages or [{"role": "user", "content": ""}]
