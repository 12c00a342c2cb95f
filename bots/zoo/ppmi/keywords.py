"""Keywords that a message calls for: positive pointwise mutual information of messages and replies.

Source: the PPMI paper of NLP4CONVAI 2019: PPMI(x, y) = max(log2(P(x, y) / (P_Q(x) P_R(y))), 0), P
over pairs of a message and its reply, each word counted once in each; the score of a word of the
vocabulary is the sum of its PPMI with the words of the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from bots.text.vocabulary import MARKS


class Keywords(nn.Module):
    """For each word of a message, the words of the reply that it calls for most, with scores."""

    places: Tensor
    values: Tensor

    def __init__(self, size: int, partners: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("places", torch.zeros(size, partners, dtype=torch.int64))
        self.register_buffer("values", torch.zeros(size, partners))

    def fit(self, pairs: Iterable[tuple[Sequence[int], Sequence[int]]], least: int) -> None:
        """Count pairs of message and reply; words that meet less than `least` times are apart."""
        inputs: Counter[int] = Counter()
        replies: Counter[int] = Counter()
        both: Counter[tuple[int, int]] = Counter()
        total = 0
        for message, reply in pairs:
            one, other = _words(message, self.size), _words(reply, self.size)
            inputs.update(one)
            replies.update(other)
            both.update((x, y) for x in one for y in other)
            total += 1
        found: dict[int, list[tuple[float, int]]] = {}
        for (x, y), count in both.items():
            value = torch.tensor(count * total / (inputs[x] * replies[y])).log2().item()
            if count >= least and value > 0:
                found.setdefault(x, []).append((value, y))
        partners = self.places.shape[1]
        for x, listed in found.items():
            for index, (value, y) in enumerate(sorted(listed, reverse=True)[:partners]):
                self.places[x, index], self.values[x, index] = y, value

    def scores(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Return each word's score for each message [rows, size]."""
        found = self.values.new_zeros(len(rows), self.size)
        for index, row in enumerate(rows):
            known = torch.tensor(sorted(_words(row, self.size)), dtype=torch.int64)
            known = known.to(found.device)
            found[index].index_add_(0, self.places[known].flatten(), self.values[known].flatten())
        return found


def _words(ids: Sequence[int], size: int) -> set[int]:
    return {each for each in ids if len(MARKS) <= each < size}


def best(scores: Tensor, number: int) -> Tensor:
    """Return which words are among the best [rows, size]; none whose score is 0."""
    least = scores.topk(min(number, scores.shape[1])).values[:, -1:]
    return (scores >= least) & (scores > 0)


def shares(scores: Tensor) -> Tensor:
    """Return the scores as a distribution over words; all 0 where every score is."""
    return scores / scores.sum(1, keepdim=True).clamp(min=1e-9)
