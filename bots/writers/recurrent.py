"""Recurrent encoders and decoders over padded rows, attention, and the layer that names words.

Everything a decoder carries from step to step is a `State`: tensors whose first axis is the rows
of the batch, so that rows can be repeated and dropped without knowing what they hold.

Sources: attention "general" and "dot" Luong et al. 2015, section 3.1; "additive" Bahdanau et al.
2015, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Kind = Literal["lstm", "gru"]
Score = Literal["general", "additive", "dot"]
State = dict[str, Tensor]


@dataclass(frozen=True)
class RecurrentSizes:
    """Sizes of a recurrent network, and its dropout."""

    vector: int  # of a word
    hidden: int
    layers: int = 1
    dropout: float = 0.0


def select(state: State, rows: Tensor) -> State:
    """Return a state whose rows are these of the old one; a row may come twice."""
    return {name: each.index_select(0, rows.to(each.device)) for name, each in state.items()}


def cells(
    kind: Kind, inputs: int, hidden: int, layers: int = 1, dropout: float = 0.0, ways: int = 1
) -> nn.LSTM | nn.GRU:
    """Return stacked recurrent layers; dropout is between them; two ways is bidirectional."""
    made = nn.LSTM if kind == "lstm" else nn.GRU
    between = dropout if layers > 1 else 0.0
    return made(inputs, hidden, layers, batch_first=True, dropout=between, bidirectional=ways == 2)


def to_state(hidden: Tensor | tuple[Tensor, Tensor]) -> State:
    """Return torch's hidden state with rows first: "h" and, of an LSTM, "c"."""
    parts = hidden if isinstance(hidden, tuple) else (hidden,)
    return {name: each.transpose(0, 1) for name, each in zip("hc", parts, strict=False)}


def from_state(state: State) -> Tensor | tuple[Tensor, Tensor]:
    """Return the hidden state as torch wants it."""
    parts = tuple(state[name].transpose(0, 1).contiguous() for name in "hc" if name in state)
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


class Encoder(nn.Module):
    """Reads rows of different lengths, none of them empty; what pads them changes nothing."""

    def __init__(
        self,
        kind: Kind,
        inputs: int,
        hidden: int,
        layers: int = 1,
        dropout: float = 0.0,
        ways: int = 1,
    ) -> None:
        super().__init__()
        self.cells = cells(kind, inputs, hidden, layers, dropout, ways)
        self.size = hidden * ways  # of an output

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, State]:
        """Return every step's output [rows, steps, size] and the state after the last one."""
        if vectors.device.type == "cpu" and not self.cells.bidirectional:
            return self._pieces(vectors, lengths)
        packed = pack_padded_sequence(
            vectors, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        outputs, hidden = self.cells(packed)
        padded, _ = pad_packed_sequence(outputs, batch_first=True, total_length=vectors.shape[1])
        return padded, to_state(hidden)

    def _pieces(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, State]:
        """Run all rows to the end of the shortest, the others on to that of the next, and so on.

        torch learns from packed rows on a CPU in time that is quadratic in their length.
        """
        ordered, order = lengths.sort(descending=True)
        back = order.argsort()
        ends = sorted({0, *ordered.tolist()})
        pieces = torch.split(vectors[order], [b - a for a, b in pairwise(ends)], dim=1)
        state: State | None = None
        outputs, finals = [], []
        for end, piece in zip(ends[1:], pieces, strict=True):
            alive, going = int((ordered >= end).sum()), int((ordered > end).sum())
            fed = None if state is None else from_state({k: v[:alive] for k, v in state.items()})
            out, hidden = self.cells(piece[:alive], fed)
            outputs.append(functional.pad(out, (0, 0, 0, 0, 0, len(ordered) - alive)))
            state = to_state(hidden)
            finals.append({name: each[going:] for name, each in state.items()})
        ended = {name: torch.cat([each[name] for each in finals[::-1]])[back] for name in finals[0]}
        return torch.cat(outputs, dim=1)[back], ended


def last(outputs: Tensor, lengths: Tensor) -> Tensor:
    """Return each row's output at its last step [rows, size] (one way)."""
    indices = (lengths.to(outputs.device) - 1)[:, None, None].expand(-1, 1, outputs.shape[2])
    return outputs.gather(1, indices)[:, 0]


class MemoryAttention(nn.Module):
    """Attention of queries to a memory."""

    def __init__(self, score: Score, query: int, memory: int) -> None:
        super().__init__()
        self.score = score
        if score == "general":
            self.weigh = nn.Linear(query, memory, bias=False)
        elif score == "additive":
            self.weigh = nn.Linear(query, memory)
            self.key = nn.Linear(memory, memory, bias=False)
            self.value = nn.Linear(memory, 1, bias=False)

    def scores(self, query: Tensor, memory: Tensor) -> Tensor:
        """Return [rows, steps, places] for queries [rows, steps, q], memories [rows, places, m]."""
        if self.score == "additive":
            joined = torch.tanh(self.weigh(query)[:, :, None] + self.key(memory)[:, None])
            found: Tensor = self.value(joined)[..., 0]
            return found
        wanted = self.weigh(query) if self.score == "general" else query
        return wanted @ memory.transpose(1, 2)

    def forward(self, query: Tensor, memory: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Return contexts [rows, steps, m] and weights; of a row without a memory both are 0."""
        weights = masked_softmax(self.scores(query, memory), present[:, None])
        return weights @ memory, weights


def masked_softmax(scores: Tensor, present: Tensor) -> Tensor:
    """Return weights over the last axis of what is present; all 0 where nothing is."""
    return torch.softmax(scores.masked_fill(~present, -1e9), dim=-1) * present


class Decoder(nn.Module):
    """A recurrent decoder that may look back at `memory` after each step (Luong 2015, eq. 5)."""

    def __init__(
        self,
        kind: Kind,
        inputs: int,
        hidden: int,
        layers: int = 1,
        dropout: float = 0.0,
        attention: Score | Literal["none"] = "none",
        memory: int = 0,
    ) -> None:
        super().__init__()
        self.cells = cells(kind, inputs, hidden, layers, dropout)
        self.dropout = nn.Dropout(dropout)
        self.attention = None if attention == "none" else MemoryAttention(attention, hidden, memory)
        self.join = None if attention == "none" else nn.Linear(hidden + memory, hidden)

    def forward(self, vectors: Tensor, state: State) -> tuple[Tensor, State]:
        """Take steps [rows, steps, inputs]; the state may hold "memory" and "present" to look at.

        All steps in one call give what they give one by one.
        """
        outputs, hidden = self.cells(vectors, from_state(state))
        state = {**state, **to_state(hidden)}
        if self.attention is not None and self.join is not None:
            context, _ = self.attention(outputs, state["memory"], state["present"])
            outputs = torch.tanh(self.join(torch.cat((outputs, context), dim=-1)))
        return self.dropout(outputs), state


class Output(nn.Module):
    """Log-probabilities of words; if tied, the word vectors are the output weights."""

    def __init__(self, hidden: int, size: int, tied: int = 0) -> None:
        super().__init__()
        self.size = size
        self.layer = nn.Linear(hidden, tied or size, bias=not tied)
        self.bias = nn.Parameter(torch.zeros(size)) if tied else None

    def logits(self, outputs: Tensor, table: Tensor) -> Tensor:
        """Return [rows, steps, size]; `table` is the word vectors, used where they are tied."""
        found: Tensor = self.layer(outputs)
        if self.bias is None:
            return found
        return found @ table[: self.size].T + self.bias

    def forward(self, outputs: Tensor, table: Tensor) -> Tensor:
        """Return log-probabilities [rows, steps, size]."""
        return torch.log_softmax(self.logits(outputs, table).float(), dim=-1)
