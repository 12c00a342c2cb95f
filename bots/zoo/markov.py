"""An n-gram model of the text that comes with the package: writes without being trained.

Source: no row of the specification; it lets whatever wraps a writing bot be tried at once. The
probabilities are of absolute discounting (Ney et al. 1994), mixed with the words of the persona and
of what the partner said last (a cache: Kuhn and De Mori 1990). Orders and shares are ours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from bots import decoding as search
from bots import forcing
from bots.bot import Reply, Turn
from bots.candidates import Candidate, Decoding
from bots.dialogue import Utterance
from bots.options import option
from bots.registry import get_dataset
from bots.text import STOP
from bots.vocabulary import END, START, UNKNOWN, Codec, WordCodec, learn_words

DISCOUNT = 0.75
State = tuple[list[tuple[int, ...]], np.ndarray]  # the last tokens, and the cache, of each row


class NGrams:
    """How often a word followed others; a reply's first word follows the message before it."""

    def __init__(self, codec: WordCodec, texts: Sequence[Sequence[int]], order: int) -> None:
        self.order = order
        once = np.bincount([token for text in texts for token in text], minlength=codec.size)
        once[[END, UNKNOWN]] += 1
        self.once: np.ndarray = once / once.sum()
        followed: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for text in texts:
            for place, token in enumerate(text):
                for back in range(1, min(order, place + 1)):
                    followed[tuple(text[place - back : place])][token] += 1
        self.followed = {
            key: (np.fromiter(found, int), np.fromiter(found.values(), float))
            for key, found in followed.items()
        }

    def next(self, last: tuple[int, ...]) -> np.ndarray:
        """Return the probabilities of what follows these tokens."""
        found: np.ndarray = self.once
        for back in range(1, self.order):
            seen = self.followed.get(last[-back:])
            if seen is None or len(last) < back:
                break
            tokens, counts = seen
            found = found * (DISCOUNT * len(tokens) / counts.sum())
            found[tokens] += (counts - DISCOUNT) / counts.sum()
        return found


class NGramModel:
    """The counts as a model to be decoded (`bots.decoding.StepModel`)."""

    def __init__(self, codec: WordCodec, grams: NGrams, share: float) -> None:
        self.codec: Codec = codec
        self.ids = codec.ids
        self.grams = grams
        self.share = share

    def start(self, turns: Sequence[Turn]) -> State:
        """Begin after the last message; remember what it and the persona are about."""
        lasts = [(self.codec.encode(_last(turn)) or [END])[-1] for turn in turns]
        return [(last,) for last in lasts], np.stack([self._cache(turn) for turn in turns])

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step."""
        lasts, caches = state
        keep = self.grams.order - 1
        lasts = [(*last, token)[-keep:] for last, token in zip(lasts, tokens.tolist(), strict=True)]
        found = np.stack([self.grams.next(last) for last in lasts])
        with np.errstate(divide="ignore"):  # padding and the start are never said
            logs = np.log((1 - self.share) * found + self.share * caches)
        return torch.from_numpy(logs).float(), (lasts, caches)

    def select(self, state: State, rows: Tensor) -> State:
        """Return a state of these rows."""
        chosen = rows.tolist()
        return [state[0][row] for row in chosen], state[1][chosen]

    def _cache(self, turn: Turn) -> np.ndarray:
        said = " ".join((*turn[0], _last(turn)))
        tokens = self.codec.tokens(self.codec.encode(said))
        about = [each for each in tokens if each in self.ids and each not in STOP]
        if not about:
            return self.grams.once
        counted = np.bincount([self.ids[each] for each in about], minlength=self.codec.size)
        shares: np.ndarray = counted / len(about)
        return shares


def _last(turn: Turn) -> str:
    return turn[1][-1].text if turn[1] else ""


@cache
def _learn(order: int, share: float) -> NGramModel:
    dialogues = get_dataset("demo").read("train")
    texts = [[turn.text for turn in each.turns] for each in dialogues]
    codec = learn_words(text for each in texts for text in each)
    rows = [row for each in texts for row in _rows([codec.encode(text) for text in each])]
    return NGramModel(codec, NGrams(codec, rows, order), share)


def _rows(messages: Sequence[list[int]]) -> Iterator[list[int]]:
    before = [END]
    for message in messages:
        yield [before[-1], START, *message, END]
        before = message or [END]


@dataclass
class Markov:
    """Puts words together that stood together in the package's dialogues."""

    order: int = option(3, "Words that are looked at together", least=2, most=5)
    share: float = option(0.1, "Share of the words of persona and message", least=0, most=0.9)
    number: int = option(8, "Replies that are drawn", least=1)
    temperature: float = option(0.7, "Below 1: likelier words", least=0)
    max_tokens: int = option(20, "Longest a reply may be", least=1)
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    seed: int = option(0, "Of the draws")

    @property
    def model(self) -> NGramModel:
        """The counts, made when first asked for."""
        return _learn(self.order, self.share)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all: the likeliest that is safe, short enough and new."""
        return forcing.spoken(self.propose(turns), turns, self.max_words)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return candidates for each turn, likeliest first."""
        own = Decoding(
            "sample", self.number, self.temperature, max_tokens=self.max_tokens, seed=self.seed
        )
        return search.propose(self.model, turns, decoding or own)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per word of each candidate."""
        return forcing.rank(self.model, persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> dict[str, float]:
        """Return each word's probability of coming next."""
        return forcing.next_word(self.model, persona, history, prefix)


BOT = Markov
