"""Input of a writing bot as token ids: the persona's sentences and the messages of each side.

Three marks follow the words of the codec: for a sentence of the persona, for what the bot itself
said and for what its partner said. They have vectors but are never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import torch
from torch import Tensor

from bots.bot import Turn
from bots.dialogue import Dialogue, Example, Sides, examples
from bots.text.vocabulary import Codec, WordCodec, learn_words, pad

Ids = tuple[int, ...]
Any_ = TypeVar("Any_")
MARKED = 3  # how many marks there are


@dataclass(frozen=True)
class EncodedInput:
    """A turn as token ids; each message, and each sentence of the persona, begins with its mark."""

    persona: tuple[Ids, ...]
    history: tuple[Ids, ...]  # never empty: before anybody spoke, the partner said nothing

    @property
    def flat(self) -> Ids:
        """Everything in one row, the persona first."""
        return tuple(token for part in (*self.persona, *self.history) for token in part)


Item = tuple[EncodedInput, Ids]  # and the reply


@dataclass(frozen=True)
class Reading:
    """Reading limits of a turn: the last `messages` (0: all) as long as `tokens` suffice.

    The persona has as many tokens again; without `persona` it is not read.
    """

    codec: Codec
    messages: int = 0
    tokens: int = 128
    persona: bool = True

    @property
    def size(self) -> int:
        """Number of vectors in a table of these tokens."""
        return self.codec.size + MARKED

    def encoded(self, turn: Turn) -> EncodedInput:
        """Turn a persona and a history into ids; the newest messages are kept."""
        persona, history = turn
        base = self.codec.size
        lines = [(base, *self.codec.encode(text)) for text in persona] if self.persona else []
        spoken = [
            (base + (1 if each.speaker == "self" else 2), *self.codec.encode(each.text))
            for each in history[-self.messages :]
        ]
        newest = self._fitting(spoken[::-1])[::-1]
        return EncodedInput(tuple(self._fitting(lines)), tuple(newest or [(base + 2,)]))

    def _fitting(self, rows: Sequence[Ids]) -> list[Ids]:
        kept, left = [], self.tokens
        for row in rows:
            if left < 1:
                break
            kept.append(row[:left])
            left -= len(row)
        return kept

    def item(self, example: Example) -> Item:
        """Return an example as token ids; the reply is not cut."""
        turn = (example.persona, example.history)
        return self.encoded(turn), tuple(self.codec.encode(example.reply))


def codec_of(dialogues: Iterable[Dialogue], least_count: int, most: int) -> WordCodec:
    """List the words of dialogues and personas, the most frequent first; `most` 0 is all."""
    texts = (
        text
        for each in dialogues
        for text in (
            *each.persona,
            *each.partner_persona,
            *(turn.text for turn in each.turns),
        )
    )
    return learn_words(texts, least_count, most or None)


def to_learn(
    dialogues: Iterable[Dialogue], most: int, seed: int, sides: Sides = "both"
) -> list[Example]:
    """Return examples of these sides; at most this many, drawn at random (0: all)."""
    return drawn(list(examples(dialogues, sides)), most, seed)


def drawn(found: Sequence[Any_], most: int, seed: int) -> list[Any_]:
    """Return at most this many, drawn at random (0: all)."""
    if not 0 < most < len(found):
        return list(found)
    return Random(seed).sample(list(found), most)  # noqa: S311


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return rows of ids as one tensor [rows, longest], and their lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    return torch.tensor(pad(rows), dtype=torch.int64, device=device), lengths


def is_filled(lengths: Tensor, longest: int, device: torch.device) -> Tensor:
    """Return which positions of padded rows are filled [rows, longest]."""
    return torch.arange(longest, device=device)[None] < lengths.to(device)[:, None]
