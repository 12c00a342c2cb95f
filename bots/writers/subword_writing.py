"""Bots that write in words or, where the option `subwords` says so, in pieces of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bots.dialogue import Dialogue
from bots.options import option
from bots.text.subwords import SubwordCodec, learn_subwords
from bots.text.vocabulary import Codec
from bots.writers.writer import Writer


@dataclass
class SubwordWriter(Writer):
    """A Transformer whose option `subwords` is how many pieces it knows; 0: whole words."""

    words: int = option(8000, "Vocabulary size; 0: all words", least=0, trained=True)
    least_count: int = option(2, "Minimum count of a known word", least=1, trained=True)
    messages: int = option(0, "Last messages it reads; 0: all", least=0, after="least_count")
    tokens: int = option(
        32,
        "Maximum tokens it reads of messages, and of the persona",
        trained=True,
        after="messages",
    )
    sides: Literal["both", "self"] = option(
        "both", "Sides whose replies it learns", trained=True, after="tokens"
    )
    persona: bool = option(True, "Read the persona", trained=True, after="sides")
    clip: float = option(1.0, "Maximum gradient norm", least=0, trained=True)
    examples: int = option(320, "Maximum examples, drawn at random; 0: all", least=0, trained=True)
    width: int = option(64, "Length of a token's vector", least=8, trained=True, after="max_words")
    layers: int = option(2, "Transformer blocks", least=1, trained=True)
    heads: int = option(4, "Attention heads; must divide the width", least=1, trained=True)
    dropout: float = option(0.1, "Dropout in training", least=0, most=0.9, trained=True)
    subwords: int = option(0, "Pieces of words, marks included; 0: words", least=0, trained=True)

    def list_words(self, learned: Sequence[Dialogue]) -> Codec:
        """Learn words, or pieces of words."""
        if not self.subwords:
            return super().list_words(learned)
        return learn_subwords(_texts(learned), self.subwords, self.least_count)

    def codec(self, words: tuple[str, ...]) -> Codec:
        """Return the words, or pieces, that were kept."""
        return SubwordCodec(words) if self.subwords else super().codec(words)


def _texts(dialogues: Sequence[Dialogue]) -> Iterator[str]:
    for each in dialogues:
        yield from (*each.persona, *each.partner_persona)
        yield from (turn.text for turn in each.turns)
