"""Text encoder: texts as sequences of words, read by a recurrent network: SRU, LSTM or GRU.

Texts are padded at the end to one length; what is padding changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bots.dialogue import Utterance
from bots.encoders.bags import FREQUENT, Bag, Vocabulary
from bots.encoders.sru import SRU
from bots.text import glove

Cell = Literal["sru", "lstm", "gru"]
AT_ONCE = 256
LENGTH = 8.0  # of a frequent word's first vector, over log 2; found on the demo text
MARKERS = {"persona": 0, "self": 1, "partner": 2}


@dataclass(frozen=True)
class Shape:
    """The sizes of a reader; `heads` of size `attention` pool its states, none: the last ones."""

    cell: Cell
    layers: int
    hidden: int
    heads: int = 1
    attention: int = 1
    dropout: float = 0.0


class WordTable(nn.Embedding):
    """A vector for every word and for every marker of who speaks; 0 is padding."""

    def __init__(self, vocabulary: Vocabulary, size: int) -> None:
        super().__init__(vocabulary.size + len(MARKERS), size, padding_idx=0)
        self.vocabulary = vocabulary

    def start(self, counted: Counter[str]) -> None:
        """Draw the first vectors: the more often a word occurs the shorter (see BagEncoder)."""
        lengths = torch.ones(len(self.weight))
        total = sum(counted.values()) / FREQUENT
        for index, word in enumerate(self.vocabulary.listed, start=1):
            lengths[index] = math.log1p(total / counted[word])
        lengths[1 + len(self.vocabulary.listed) : self.vocabulary.size] = math.log1p(total)
        with torch.no_grad():
            self.weight.mul_(lengths.unsqueeze(1) * (LENGTH / self.embedding_dim**0.5))

    def take_glove(self) -> None:
        """Start listed words from GloVe's vectors."""
        with torch.no_grad():
            for index, vector in glove.find(self.vocabulary.listed):
                self.weight[1 + index] = torch.from_numpy(vector)

    def text(self, text: str, most: int) -> Bag:
        """Return the numbers of the first words of a text, in order."""
        return self.vocabulary.bag(text)[:most]

    def dialogue(self, persona: Sequence[str], history: Sequence[Utterance], most: int) -> Bag:
        """Return persona and messages as one text, marked; the messages' oldest words are cut."""
        lines = self._marked("persona", " ".join(persona))[:most] if persona else ()
        spoken = tuple(
            number for turn in history for number in self._marked(turn.speaker, turn.text)
        )
        return lines + spoken[max(0, len(spoken) - (most - len(lines))) :]

    def _marked(self, who: str, text: str) -> Bag:
        return (self.vocabulary.size + MARKERS[who], *self.vocabulary.bag(text))


class Reader(nn.Module):
    """A bidirectional recurrent network over the words of texts."""

    def __init__(self, table: WordTable, shape: Shape) -> None:
        super().__init__()
        self.table = table
        self.width = 2 * shape.hidden
        size = table.embedding_dim
        self.cells: SRU | nn.LSTM | nn.GRU
        if shape.cell == "sru":
            self.cells = SRU(size, shape.hidden, shape.layers, dropout=shape.dropout)
        else:
            kind = nn.LSTM if shape.cell == "lstm" else nn.GRU
            between = shape.dropout if shape.layers > 1 else 0.0
            self.cells = kind(size, shape.hidden, shape.layers, dropout=between, bidirectional=True)

    def forward(self, texts: Sequence[Bag]) -> tuple[Tensor, Tensor]:
        """Return states (step, text, width), zero where nothing is, and what is present."""
        where = self.table.weight.device
        longest = max(1, *(len(text) for text in texts))
        rows = [[*text, *[0] * (longest - len(text))] for text in texts]
        numbers = torch.tensor(rows, dtype=torch.int64, device=where).T
        present = numbers != 0
        vectors = self.table(numbers)
        if isinstance(self.cells, SRU):
            return self.cells(vectors, present), present
        lengths = torch.tensor([max(1, len(text)) for text in texts])
        packed = pack_padded_sequence(vectors, lengths, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.cells(packed)[0])
        return states, present


class TextEncoder(nn.Module):
    """A reader whose states are pooled: a vector for each text, zero for one without words."""

    def __init__(self, table: WordTable, shape: Shape) -> None:
        super().__init__()
        self.reader = Reader(table, shape)
        width = self.reader.width
        self.pooling = (
            AttentionPooling(width, shape.heads, shape.attention) if shape.heads else LastStates()
        )

    def forward(self, texts: Sequence[Bag]) -> Tensor:
        """Encode texts."""
        states, present = self.reader(texts)
        pooled: Tensor = self.pooling(states, present)
        return pooled


class LastStates(nn.Module):
    """Final state of each direction: that of the last step, and that of the first."""

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """Pool states (step, text, width)."""
        half = states.shape[2] // 2
        last = (present.sum(dim=0) - 1).clamp(min=0)
        texts = torch.arange(states.shape[1], device=states.device)
        return torch.cat((states[last, texts, :half], states[0, :, half:]), dim=1)


def encode_all(encode: Callable[[Sequence[Bag]], Tensor], texts: Sequence[Bag]) -> Tensor:
    """Encode any number of texts, those of like length together; their order is kept."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    cuts = [*range(0, len(texts), AT_ONCE), len(texts)]
    with torch.inference_mode():
        parts = [encode([texts[p] for p in order[start:end]]) for start, end in pairwise(cuts)]
        found = torch.cat(parts)
        indices = torch.tensor(order, device=found.device)
        return torch.empty_like(found).index_copy_(0, indices, found)


class AttentionPooling(nn.Module):
    """Pools (step, text, width) to (text, width), weighted by several heads.

    Source: the ASAPP dual encoder (NLP4CONVAI 2019): a_i = softmax(sig(h^T W_i) v_i) over the
    steps, each head's sum of a_ij h_j, averaged over heads; which is one sum with the heads' mean
    weights.
    """

    def __init__(self, width: int, heads: int, size: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, heads * size, bias=False)
        self.score = nn.Parameter(torch.empty(heads, size))
        nn.init.normal_(self.score, std=size**-0.5)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """Pool what is present (step, text); a text of which nothing is gives zero."""
        inner = torch.sigmoid(self.project(states)).view(*states.shape[:2], *self.score.shape)
        scores = (inner * self.score).sum(dim=-1)
        scores = scores.masked_fill(~present.unsqueeze(-1), torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=0).mean(dim=-1) * present
        pooled: Tensor = torch.einsum("st,stw->tw", weights, states)
        return pooled
