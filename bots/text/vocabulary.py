"""Vocabulary of models that write: the `split` tokenizer's words, lower-cased, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from bots.text.tokens import split

PAD, START, END, UNKNOWN = range(4)
MARKS = ("__pad__", "__start__", "__end__", "__unknown__")


class Codec(Protocol):
    """Text to token ids and back; ids 0 to 3 are padding, start, end and unknown."""

    @property
    def size(self) -> int: ...

    @property
    def words(self) -> tuple[str, ...]: ...  # all that a codec is made of, to be kept as text

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Iterable[int]) -> str: ...

    def tokens(self, ids: Iterable[int]) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class WordCodec:
    """A closed list of words; `words` excludes the four marks, which come first."""

    words: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of tokens, marks included."""
        return len(MARKS) + len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: index for index, word in enumerate(self.words, len(MARKS))}

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's words."""
        return [self.ids.get(word, UNKNOWN) for word in split(text.lower())]

    def tokens(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the words of these numbers, marks spelled out."""
        return tuple((*MARKS, *self.words)[each] for each in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """Return a text, without marks."""
        return " ".join(self.words[each - len(MARKS)] for each in ids if each >= len(MARKS))


def learn_words(texts: Iterable[str], least_count: int = 1, most: int | None = None) -> WordCodec:
    """List the words seen at least so often, the most frequent first; ties by alphabet."""
    counted = Counter(word for text in texts for word in split(text.lower()))
    kept = [word for word, times in counted.items() if times >= least_count]
    kept.sort(key=lambda word: (-counted[word], word))
    return WordCodec(tuple(kept[:most]))


def pad(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return rows of one length, filled up at the end."""
    longest = max((len(row) for row in rows), default=0)
    return [[*row, *[PAD] * (longest - len(row))] for row in rows]
