"""Word likelihoods of a reply: in general, and given the messages so far and their author.

Unigram and bigram models of what each side said, of the last message and of the persona, smoothed
by what everybody says (Dirichlet smoothing: Zhai and Lafferty 2004, section 2), beside the latter
alone. People repeat their words, marks and turns of phrase, and rare replies are rarely the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from bots.encoders.minilm import WORDS, Tokens

PAIRS = 1 << 16  # buckets of pairs of tokens
PRIOR = 30.0  # tokens that the general prior counts for
SIZE = 3 + 5 * 4


def frequencies(texts: Iterable[Tokens]) -> tuple[Tensor, Tensor]:
    """Return the log-probability of each token, and of each bucket of pairs."""
    known = list(texts)
    singles = torch.tensor([number for text in known for number in text[1:-1]])
    pairs = [
        _bucket(torch.tensor(text[:-1]), torch.tensor(text[1:])) for text in known if len(text) > 1
    ]
    counted = torch.bincount(singles.long(), minlength=WORDS) + 0.1
    joined = torch.bincount(torch.cat([torch.zeros(0).long(), *pairs]), minlength=PAIRS) + 0.02
    return (counted / counted.sum()).log(), (joined / joined.sum()).log()


def _bucket(first: Tensor, second: Tensor) -> Tensor:
    return (first.long() * 31337 + second.long() * 7919) % PAIRS


class Numbered(Protocol):
    """Texts as numbers of tokens: (text, token), 0 where there is none."""

    @property
    def numbers(self) -> Tensor: ...

    @property
    def words(self) -> Tensor: ...


def by_words(
    texts: Numbered,
    replies: Numbered,
    equal: Tensor,
    groups: Sequence[Tensor],
    likely: tuple[Tensor, Tensor],
) -> list[Tensor]:
    """Return features of (context, reply): `equal` tells which tokens of texts and replies are."""
    single, pairs = likely
    word, start = replies.words, replies.numbers[:, 1:] != 0
    one = _TokenCounts(texts.words, equal, word, single[replies.numbers])
    bucket = _bucket(replies.numbers[:, :-1], replies.numbers[:, 1:])
    both = equal[:, :, :-1, :-1] & equal[:, :, 1:, 1:]
    two = _TokenCounts(texts.numbers[:, 1:] != 0, both, start, pairs[bucket])
    count = (replies.numbers != 0).sum(dim=1) / 30
    alone = [*(kind.alone() for kind in (one, two)), count]
    contexts = len(groups[0])
    found = [each.expand(contexts, -1) for each in alone]
    belongs = torch.stack([_belongs(rows, len(texts.numbers)) for rows in groups])
    gained = [way for kind in (one, two) for way in kind.evidence(belongs)]
    return [*found, *torch.stack(gained, dim=1).flatten(0, 1)]


def _belongs(rows: Tensor, texts: int) -> Tensor:
    """Return how often each text is in a context's group: (context, text)."""
    found = torch.zeros(len(rows), texts + 1, device=rows.device)
    return found.scatter_add_(1, rows, torch.ones(rows.shape, device=rows.device))[:, :texts]


class _TokenCounts:
    """Counts of tokens, or pairs of them, of texts and replies."""

    def __init__(self, of_text: Tensor, equal: Tensor, of_reply: Tensor, likely: Tensor) -> None:
        self._many = of_text.sum(dim=1).float()
        same = (equal & of_text[:, None, :, None]).sum(dim=2, dtype=torch.float32)
        self._times = same.flatten(1)  # how often each token of a reply is in a text
        self._of_reply = of_reply.float()
        self._likely = likely
        self._length = of_reply.sum(dim=1).clamp(min=1)

    def alone(self) -> Tensor:
        """Return the prior likelihood of replies, per token."""
        total: Tensor = (self._likely * self._of_reply).sum(dim=1) / self._length
        return total

    def evidence(self, belongs: Tensor) -> tuple[Tensor, Tensor]:
        """Return how much likelier replies are given groups' texts: in total, and per token.

        `belongs`, (group, context, text); both are (group, context, reply).
        """
        times = (belongs @ self._times).view(*belongs.shape[:-1], *self._likely.shape)
        prior = PRIOR * self._likely.exp()
        total_count = PRIOR + (belongs @ self._many)[..., None, None]
        gain = (((times + prior) / total_count).log() - self._likely) * self._of_reply
        total = gain.sum(dim=-1)
        return total, total / self._length
