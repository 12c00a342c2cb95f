"""Bots that write in words or, where the option `subwords` says so, in pieces of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bots.dialogue import Dialogue
from bots.layers.writing import Writer
from bots.subwords import SubwordCodec, learn_subwords
from bots.vocabulary import Codec


class SubwordWriter(Writer):
    """A writer whose option `subwords` is how many pieces it knows; 0: whole words."""

    subwords: int

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
