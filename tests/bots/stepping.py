"""A tiny model whose next token depends on the turn and on everything written before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from itertools import product

import numpy as np
import torch
from torch import Tensor

from bots import Utterance
from bots.bot import Turn
from bots.text.vocabulary import END, MARKS, Codec, WordCodec

TURNS: list[Turn] = [
    ((), ()),
    (("I sing.",), (Utterance("partner", "Hello!"),)),
    ((), (Utterance("partner", "Hello!"), Utterance("self", "Hi."), Utterance("partner", "So?"))),
    (("I sing.", "I dance."), ()),
]
ALLOWED = [END, *range(len(MARKS), len(MARKS) + 3)]
State = list[tuple[Turn, tuple[int, ...]]]


class Tiny:
    """Three words; `lasting` makes the end less likely."""

    def __init__(self, lasting: float = 0.0) -> None:
        self.codec: Codec = WordCodec(("a", "b", "c"))
        self.lasting = lasting

    def log_probs(self, turn: Turn, written: Sequence[int]) -> Tensor:
        """Return log-probabilities of the token after the start mark and what was written."""
        return _log_probs(repr(turn), tuple(written), self.lasting)

    def start(self, turns: Sequence[Turn]) -> State:
        return [(turn, ()) for turn in turns]

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        after = [
            (turn, (*written, token))
            for (turn, written), token in zip(state, tokens.tolist(), strict=True)
        ]
        return torch.stack([self.log_probs(turn, written[1:]) for turn, written in after]), after

    def select(self, state: State, rows: Tensor) -> State:
        return [state[row] for row in rows.tolist()]

    def greedy(self, turn: Turn, most: int) -> tuple[list[int], list[float]]:
        """Write one row the slow way."""
        tokens: list[int] = []
        said: list[float] = []
        while len(tokens) < most and (not tokens or tokens[-1] != END):
            log_probs = self.log_probs(turn, tokens)
            best = max(ALLOWED, key=lambda token: float(log_probs[token]))
            tokens.append(best)
            said.append(float(log_probs[best]))
        return tokens, said

    def everything(self, turn: Turn, most: int) -> dict[tuple[int, ...], float]:
        """Return each text of so many tokens at most, and its log-probability.

        Those without the end mark at the end were cut off.
        """
        found: dict[tuple[int, ...], float] = {}
        words = [token for token in ALLOWED if token != END]
        for length in range(most + 1):
            for text in product(words, repeat=length):
                tokens = (*text, END) if length < most else text
                parts = [self.log_probs(turn, tokens[:i])[each] for i, each in enumerate(tokens)]
                found[tokens] = float(sum(parts))
        return found


@cache
def _log_probs(turn: str, written: tuple[int, ...], lasting: float) -> Tensor:
    seed = list(sha256(repr((turn, written)).encode()).digest())
    logits = np.random.default_rng(seed).normal(0, 1.5, len(MARKS) + 3)
    logits[END] -= lasting
    return torch.log_softmax(torch.tensor(logits, dtype=torch.float64).float(), dim=0)
