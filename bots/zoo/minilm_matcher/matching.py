"""Matcher of replies with a conversation: each side's messages, the persona, and the style.

Not one recipe of the papers; made of theirs: a reply's vector beside those of the messages and of
the nearest sentence of a persona (Zhang et al. 2018, section 4.2, as a maximum), token by token
comparison (Khattab and Zaharia 2020, "ColBERT", equation 3, weighted by idf), shared words, style,
which line of a persona is drawn on (`match_persona`), how likely the words are (`match_words`), and
how near a reply is to texts that have nothing to do with it (Conneau et al. 2018, section 2.3,
"CSLS"). Small networks, averaged, weigh them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.encoders.minilm import SIZE, WORDS, States, words_of
from bots.zoo.minilm_matcher import match_persona, match_words
from bots.zoo.minilm_matcher.style import SIZE as STYLES
from bots.zoo.minilm_matcher.style import by_style

ROLES = ("last", "before", "earlier", "own", "partner", "persona")
GROUPS = ("last", "own", "partner", "persona")  # compared token by token
POSITIONS = 10  # how far into a conversation a reply is, counted up to so many messages
NEAR = 0.3  # minimum likeness of tokens
KINDS = ("answered", "replies", "persona")  # texts remembered
REMEMBERED = 1024  # of each kind
NEAREST = (1, 3, 10, 30, 100)  # how many of them are averaged
FAR = 8.0  # standard deviations at which features are clipped
FEATURES = 12 + 4 * len(GROUPS) + 2 + 5 * STYLES + 2 + len(KINDS) * (1 + len(NEAREST))
FEATURES += 2 * match_persona.SIZE + match_words.SIZE


@dataclass(frozen=True)
class Turns:
    """Indices of contexts' texts among the texts: (context, position), padded by `nowhere`."""

    last: Tensor
    before: Tensor
    earlier: Tensor
    own: Tensor
    partner: Tensor
    persona: Tensor
    length: Tensor

    def to(self, device: torch.device) -> Turns:
        """Return the same on a device."""
        return Turns(**{name: table.to(device) for name, table in vars(self).items()})


@dataclass(frozen=True)
class MatcherTexts:
    """Texts as the matcher sees them."""

    numbers: Tensor  # (text, token), 0 where there is none
    units: Tensor  # (text, token, size): of length 1, and 0 where there is no word
    vectors: Tensor  # (text, size): of length 1
    style: Tensor
    crowded: Tensor | None = None  # (text, feature), where the texts remembered change no more

    @classmethod
    def of(cls, states: States, style: Tensor) -> MatcherTexts:
        """Return texts whose states and style are known."""
        units = functional.normalize(states.hidden, dim=-1) * states.words.unsqueeze(-1)
        vectors = functional.normalize(states.mean(), dim=-1)
        return cls(states.numbers, units, vectors, style)

    @property
    def words(self) -> Tensor:
        """Mask of tokens that are part of a word, and no mark."""
        return words_of(self.numbers)

    def take(self, rows: Sequence[int] | slice) -> MatcherTexts:
        """Return some of the texts."""
        return MatcherTexts(
            self.numbers[rows],
            self.units[rows],
            self.vectors[rows],
            self.style[rows],
            None if self.crowded is None else self.crowded[rows],
        )


@dataclass(frozen=True)
class _Compared:
    """Every text compared with every reply; the last row stands for nothing."""

    cosines: Tensor  # (text, reply)
    texts: Tensor  # (text, text): cosines
    tokens: Tensor  # (text, reply, token of the reply): the nearest token of the text
    equal: Tensor  # the same for equal tokens
    same: Tensor  # (text, reply, token of the text, token of the reply): whether they are equal
    reverse: Tensor  # (text, reply): how much of the text is in the reply


class Matcher(nn.Module):
    """Scores replies by features that it weighs; `heads` networks are averaged."""

    idf: Tensor
    mean: Tensor
    spread: Tensor
    single: Tensor
    pairs: Tensor
    bank: Tensor

    def __init__(self, heads: int, width: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.first = nn.Linear(FEATURES, heads * width)
        self.second = nn.Parameter(torch.randn(heads, width) / width**0.5)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("idf", torch.ones(WORDS))
        self.register_buffer("single", torch.zeros(WORDS))
        self.register_buffer("pairs", torch.zeros(match_words.PAIRS))
        self.register_buffer("bank", torch.zeros(len(KINDS), REMEMBERED, SIZE))
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("spread", torch.ones(FEATURES))

    def remember(self, texts: MatcherTexts, kinds: Sequence[Sequence[int]]) -> None:
        """Put rows of texts, by kind, in place of those remembered longest."""
        known = [
            torch.cat((texts.vectors.detach()[list(rows)], old))[:REMEMBERED]
            for rows, old in zip(kinds, self.bank, strict=True)
        ]
        self.bank = torch.stack(known)  # a new one: gradients may still need the old

    def forward(self, texts: MatcherTexts, replies: MatcherTexts, turns: Turns) -> Tensor:
        """Return the score of every head: (head, context, reply)."""
        found = (self.features(texts, replies, turns) - self.mean) / self.spread
        found = found.clamp(-FAR, FAR)
        hidden = self.drop(functional.gelu(self.first(found)))
        hidden = hidden.unflatten(-1, (self.heads, -1))
        return torch.einsum("crhw,hw->hcr", hidden, self.second)

    def features(self, texts: MatcherTexts, replies: MatcherTexts, turns: Turns) -> Tensor:
        """Return the features: (context, reply, feature)."""
        compared = self._compare(texts, replies)
        weights = self._weights(replies)
        found = [*self._by_vector(compared, turns), *_reversed(compared, turns)]
        for group in GROUPS:
            found += _by_token(compared, getattr(turns, group), weights)
        found += _by_line(compared, turns, weights)
        groups = (
            turns.own,
            torch.cat((turns.partner, turns.last), dim=1),
            turns.persona,
            turns.last,
            torch.cat((turns.persona, turns.own, turns.partner, turns.last), dim=1),
        )
        likely = (self.single, self.pairs)
        found += match_words.by_words(texts, replies, compared.same, groups, likely)
        found += self._by_position(replies, turns, len(texts.style))
        styles = by_style(
            _with_nothing(texts.style), replies.style, turns.last, turns.own, turns.partner
        )
        return torch.cat((torch.stack(found, dim=-1), styles), dim=-1)

    def _weights(self, texts: MatcherTexts) -> Tensor:
        return self.idf[texts.numbers] * texts.words

    def _compare(self, texts: MatcherTexts, replies: MatcherTexts) -> _Compared:
        cosines = _with_nothing(texts.vectors @ replies.vectors.T)
        alike = torch.einsum("tnd,rmd->trnm", texts.units, replies.units)
        weights = self._weights(texts)
        weights = weights / (weights.sum(dim=1, keepdim=True) + 1e-6)
        reverse = torch.einsum("trn,tn->tr", alike.amax(dim=3), weights)
        equal = texts.numbers[:, None, :, None] == replies.numbers[None, :, None, :]
        among = functional.pad(texts.vectors @ texts.vectors.T, (0, 1, 0, 1))
        return _Compared(
            cosines,
            among,
            _with_nothing(alike.amax(dim=2)),
            _with_nothing(equal.any(dim=2).to(alike.dtype)),
            equal,
            _with_nothing(reverse),
        )

    def _by_vector(self, compared: _Compared, turns: Turns) -> list[Tensor]:
        found = []
        for role in ROLES:
            rows = getattr(turns, role)
            each = compared.cosines[rows]  # (context, place, reply)
            found.append(each.amax(dim=1))
            if role in ("own", "partner", "persona"):
                present = (rows < len(compared.reverse) - 1).sum(dim=1).clamp(min=1)
                found.append(each.sum(dim=1) / present.unsqueeze(1))
        rows = turns.persona
        return [
            *found,
            compared.cosines[rows].topk(2, dim=1).values[:, 1],
            torch.logsumexp(10 * compared.cosines[rows], dim=1) / 10,
            compared.cosines[turns.before[:, 0]],
        ]

    def _by_position(self, replies: MatcherTexts, turns: Turns, nowhere: int) -> list[Tensor]:
        crowded = self.crowded(replies.vectors) if replies.crowded is None else replies.crowded
        length = turns.length.clamp(max=POSITIONS).unsqueeze(1) / POSITIONS
        alone = (turns.persona == nowhere).all(dim=1, keepdim=True).to(length.dtype)
        found = [length, alone, *crowded.unbind(dim=1)]
        return [each.expand(len(length), len(crowded)) for each in found]

    def crowded(self, vectors: Tensor) -> Tensor:
        """Return how near texts are to those remembered, the nearest and all: (text, feature)."""
        near = vectors @ self.bank.transpose(1, 2)  # (kind, reply, text)
        first = near.topk(max(NEAREST), dim=-1).values
        found = [first[..., :many].mean(dim=-1) for many in NEAREST]
        return torch.stack([each for way in (*found, near.mean(dim=-1)) for each in way], dim=1)


def _with_nothing(rows: Tensor) -> Tensor:
    return torch.cat((rows, rows.new_zeros((1, *rows.shape[1:]))))


def _reversed(compared: _Compared, turns: Turns) -> list[Tensor]:
    return [compared.reverse[turns.last[:, 0]], compared.reverse[turns.persona].amax(dim=1)]


def _by_line(compared: _Compared, turns: Turns, weights: Tensor) -> list[Tensor]:
    """Compare with lines of the persona, by vector and by token, and by their use so far."""
    lines, shares = turns.persona, weights / (weights.sum(dim=1, keepdim=True) + 1e-6)
    used = compared.texts[lines.unsqueeze(2), turns.own.unsqueeze(1)].amax(dim=2)
    query = compared.texts[lines, turns.last]
    present = lines < len(compared.texts) - 1
    by_vector = compared.cosines[lines]
    by_token = (compared.tokens * shares).sum(dim=-1)[lines]
    found = [match_persona.by_line(way, used, query, present) for way in (by_vector, by_token)]
    return [each for way in found for each in way]


def _by_token(compared: _Compared, rows: Tensor, weights: Tensor) -> list[Tensor]:
    """Compare each token of a reply with the nearest, and with equal ones, in the texts."""
    near = compared.tokens[rows].amax(dim=1)
    equal = compared.equal[rows].amax(dim=1)
    shares = weights / (weights.sum(dim=1, keepdim=True) + 1e-6)
    return [
        (near * shares).sum(dim=-1),
        (functional.relu(near - NEAR) * weights).sum(dim=-1),
        (equal * shares).sum(dim=-1),
        (equal * weights).sum(dim=-1),
    ]
