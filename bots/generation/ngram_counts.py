"""N-gram models that are counted, not trained: to be decoded, and to be compared with others.

Source: absolute discounting (Ney et al. 1994), mixed with the words of the persona and of what the
partner said last (a cache: Kuhn and De Mori 1990). Orders and shares are ours; order 1 without a
cache tells only how often a word is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from bots.bot import Turn
from bots.dialogue import Dialogue
from bots.text.tokens import STOP
from bots.text.vocabulary import END, START, UNKNOWN, Codec, WordCodec

DISCOUNT = 0.75
State = tuple[list[tuple[int, ...]], np.ndarray]  # the last tokens, and the cache, of each row


class NGrams:
    """Counts of words that followed others; a reply's first word follows the message before it."""

    def __init__(
        self, codec: WordCodec, texts: Sequence[Sequence[int]], order: int, added: int = 0
    ) -> None:
        """Count; `added` is what every word has before, so that none is impossible."""
        self.order = order
        once = np.bincount([token for text in texts for token in text], minlength=codec.size)
        once[[END, UNKNOWN]] += 1
        once[UNKNOWN + 1 :] += added
        self.once: np.ndarray = once / once.sum()
        followed: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for text in texts:
            for index, token in enumerate(text):
                for back in range(1, min(order, index + 1)):
                    followed[tuple(text[index - back : index])][token] += 1
        self.followed = {
            key: (np.fromiter(found, int), np.fromiter(found.values(), float))
            for key, found in followed.items()
        }

    def next(self, last: tuple[int, ...]) -> np.ndarray:
        """Return the probabilities of what follows these tokens."""
        found: np.ndarray = self.once
        for back in range(1, self.order):
            counted = self.followed.get(last[-back:])
            if counted is None or len(last) < back:
                break
            tokens, counts = counted
            found = found * (DISCOUNT * len(tokens) / counts.sum())
            found[tokens] += (counts - DISCOUNT) / counts.sum()
        return found


class NGramModel:
    """The counts as a model to be decoded (`bots.generation.decoding.StepModel`)."""

    def __init__(self, codec: WordCodec, grams: NGrams, share: float) -> None:
        self.codec: Codec = codec
        self.ids = codec.ids
        self.grams = grams
        self.share = share

    def start(self, turns: Sequence[Turn]) -> State:
        """Begin after the last message; remember its topic words and the persona's."""
        lasts = [(self.codec.encode(_last(turn)) or [END])[-1] for turn in turns]
        return [(last,) for last in lasts], np.stack([self._cache(turn) for turn in turns])

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step."""
        lasts, caches = state
        keep = self.grams.order - 1
        lasts = [(*last, token)[-keep:] for last, token in zip(lasts, tokens.tolist(), strict=True)]
        found = np.stack([self.grams.next(last) for last in lasts])
        with np.errstate(divide="ignore"):  # padding and the start are never written
            logs = np.log((1 - self.share) * found + self.share * caches)
        return torch.from_numpy(logs).float(), (lasts, caches)

    def select(self, state: State, rows: Tensor) -> State:
        """Return a state of these rows."""
        chosen = rows.tolist()
        return [state[0][row] for row in chosen], state[1][chosen]

    def _cache(self, turn: Turn) -> np.ndarray:
        text = " ".join((*turn[0], _last(turn)))
        tokens = self.codec.tokens(self.codec.encode(text))
        about = [each for each in tokens if each in self.ids and each not in STOP]
        if not about:
            return self.grams.once
        counted = np.bincount([self.ids[each] for each in about], minlength=self.codec.size)
        shares: np.ndarray = counted / len(about)
        return shares


def _last(turn: Turn) -> str:
    return turn[1][-1].text if turn[1] else ""


def counted(
    dialogues: Iterable[Dialogue], codec: WordCodec, order: int, share: float, added: int = 0
) -> NGramModel:
    """Count the messages of dialogues, each after the last word of the message before it."""
    texts = [[codec.encode(turn.text) for turn in each.turns] for each in dialogues]
    rows = [row for each in texts for row in _padded_rows(each)]
    return NGramModel(codec, NGrams(codec, rows, order, added), share)


def _padded_rows(messages: Sequence[list[int]]) -> Iterator[list[int]]:
    before = [END]
    for message in messages:
        yield [before[-1], START, *message, END]
        before = message or [END]
