"""Subword tokens: byte-pair encoding, for models that write any word.

Source: Sennrich et al. 2016 ("Neural Machine Translation of Rare Words with Subword Units"),
section 3.2, by the library `tokenizers`. As for whole words, text is lower-cased and punctuation
stands apart (`bots.text.tokens.split`); a mark at the beginning of a word takes the place of the
space. Apart because it needs no torch, which the writers that use it do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bots.text.tokens import split
from bots.text.vocabulary import MARKS, UNKNOWN

SPACE = "▁"  # how the pieces spell the beginning of a word


@dataclass(frozen=True)
class SubwordCodec:
    """Pieces, and the pairs of pieces to be joined, in order; as text: pieces, then "a b" pairs."""

    words: tuple[str, ...]

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """All pieces, in order of their numbers, without the marks."""
        return tuple(each for each in self.words if " " not in each)

    @property
    def size(self) -> int:
        """Number of tokens, marks included."""
        return len(MARKS) + len(self.pieces)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The library's tokenizer."""
        numbers = {piece: index for index, piece in enumerate((*MARKS, *self.pieces))}
        pairs = [each.partition(" ") for each in self.words if " " in each]
        merges = [(left, right) for left, _, right in pairs]
        return _tokenizer(models.BPE(vocab=numbers, merges=merges, unk_token=MARKS[UNKNOWN]))

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces."""
        found: list[int] = self.tokenizer.encode(_plain(text), add_special_tokens=False).ids
        return found

    def tokens(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the pieces of these numbers, marks spelled out."""
        return tuple((*MARKS, *self.pieces)[each] for each in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """Return a text, without marks."""
        joined = "".join(self.pieces[each - len(MARKS)] for each in ids if each >= len(MARKS))
        return " ".join(joined.replace(SPACE, " ").split())


def learn_subwords(texts: Iterable[str], size: int, least_count: int = 2) -> SubwordCodec:
    """Join the most frequent pairs until there are this many pieces, marks included.

    Pairs seen less than `least_count` times are not joined, so little text makes fewer pieces.
    """
    tokenizer = _tokenizer(models.BPE(unk_token=MARKS[UNKNOWN]))
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=least_count, special_tokens=list(MARKS), show_progress=False
    )
    tokenizer.train_from_iterator((_plain(text) for text in texts), trainer)
    numbers = tokenizer.get_vocab()
    pieces = sorted(numbers.keys() - set(MARKS), key=numbers.__getitem__)
    return SubwordCodec((*pieces, *_merges(tokenizer)))


def _merges(tokenizer: Tokenizer) -> list[str]:
    state = json.loads(tokenizer.to_str())
    return [" ".join(pair) for pair in state["model"]["merges"]]


def _tokenizer(model: models.BPE) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(SPACE)
    return tokenizer


def _plain(text: str) -> str:
    return " ".join(split(text.lower())).replace(SPACE, "_")
