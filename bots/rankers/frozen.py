"""Ranking by vectors that are not learned: the last message, the persona, and cached replies.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.2, for one
context against replies. How a persona comes in is our own: the sentence nearest to the reply counts
as much as the last message.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import torch
from torch import Tensor, nn

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.encoders.sentences import REMEMBERED, Encode
from bots.encoders.topk import largest
from bots.guards.filters import choose, nearest_to_try

Persona = Literal["best", "ignored"]


def query_vectors(
    encode: Encode, persona: Sequence[str], history: Sequence[Utterance], use: Persona
) -> Tensor:
    """Return the vectors of the last message and, where they are used, of the persona's lines."""
    return encode(_read(persona, history, use))


def query_vectors_of_all(encode: Encode, turns: Sequence[Turn], use: Persona) -> list[Tensor]:
    """Return the query vectors of each conversation; the texts of all are encoded in one pass."""
    read = [_read(*turn, use) for turn in turns]
    vectors = encode([text for texts in read for text in texts])
    ends = accumulate(map(len, read))
    return [vectors[end - len(texts) : end] for end, texts in zip(ends, read, strict=True)]


def _read(persona: Sequence[str], history: Sequence[Utterance], use: Persona) -> list[str]:
    last = history[-1].text if history else ""
    return [last, *persona] if use == "best" else [last]


def remembered(encode: Encode, most: int = REMEMBERED) -> Encode:
    """Return the encoder that encodes a text once, and forgets all when it has `most` of them."""
    known: dict[str, Tensor] = {}

    def look_up(texts: Sequence[str]) -> Tensor:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if known and len(known) + len(new) > most:
            known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            known.update(zip(new, encode(new), strict=True))
        return torch.stack([known[text] for text in texts])

    return look_up


def fit(queries: Tensor, replies: Tensor) -> Tensor:
    """Return the fit of each reply to one context."""
    products = queries @ replies.T
    if len(queries) == 1:
        return products[0]
    return products[0] + products[1:].amax(dim=0)


def fit_all(query: Sequence[Tensor], replies: Tensor) -> Tensor:
    """Return the fit of each reply to each of many contexts, as `fit` does for one."""
    first = torch.stack([each[0] for each in query]) @ replies.T
    most = max(len(each) for each in query) - 1
    if most == 0:
        return first
    lines = torch.stack([nn.functional.pad(e[1:], (0, 0, 0, most + 1 - len(e))) for e in query])
    present = torch.tensor([[index < len(e) - 1 for index in range(most)] for e in query])
    present = present.to(first.device)
    nearest = (lines @ replies.T).masked_fill(~present.unsqueeze(-1), float("-inf")).amax(dim=1)
    return first + torch.where(present.any(dim=1, keepdim=True), nearest, 0.0)


def best_replies(
    replies: Sequence[str],
    scored: Sequence[Tensor],
    turns: Sequence[Turn],
    nearest: int,
    max_words: int,
) -> list[Reply]:
    """Return for each conversation the best reply that was not given yet."""
    found = []
    for scores, (_, history) in zip(scored, turns, strict=True):
        most = min(nearest_to_try(nearest, history), len(replies))
        values, indices = largest(scores.unsqueeze(0), most)
        ranked = zip(indices[0].tolist(), values[0].tolist(), strict=True)
        found.append(choose(((replies[p], s) for p, s in ranked), history, max_words))
    return found


def as_floats(scores: Tensor) -> list[float]:
    """Return scores as numbers."""
    numbers: list[float] = scores.to(torch.float64).tolist()
    return numbers
