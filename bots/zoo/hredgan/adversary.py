"""Adversarial pair: a HRED generator with noise at the decoder's input, and its discriminator.

Source: hredGAN (NLP4CONVAI 2019): HRED with local additive attention over the last message, read by
an encoder of its own; Gaussian noise, one vector an utterance (u) or one a word (w); an RNN of two
ways over words that shares the context and the word vectors, D = (product of D_RNN over words) to
the power of 1/J. Its equation 5 prints E[1 - log D(G)]; the loss is E[log(1 - D(G))].
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bots.text.vocabulary import PAD
from bots.writers.embedding import embedding
from bots.writers.hierarchy import Hierarchy
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.network import Network
from bots.writers.recurrent import (
    Encoder,
    MemoryAttention,
    Output,
    RecurrentSizes,
    State,
    cells,
    from_state,
    to_state,
)

Noise = Literal["utterance", "word"]


class Discriminator(nn.Module):
    """Probability of each word, in its context, that a person wrote it."""

    def __init__(self, vector: int, hidden: int) -> None:
        super().__init__()
        self.cells = nn.GRU(vector, hidden, batch_first=True, bidirectional=True)
        self.start = nn.Linear(hidden, 2 * hidden)
        self.output = nn.Linear(2 * hidden, 1)

    def forward(self, vectors: Tensor, context: Tensor, counted: Tensor) -> Tensor:
        """Return log D [rows]: the mean over words of log D_RNN."""
        first = torch.tanh(self.start(context)).view(len(context), 2, -1).transpose(0, 1)
        lengths = counted.sum(1).clamp(min=1).long().cpu()
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = self.cells(packed, first.contiguous())
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=vectors.shape[1])
        trusted = nn.functional.logsigmoid(self.output(outputs)[:, :, 0].float())
        found: Tensor = (trusted * counted).sum(1) / counted.sum(1).clamp(min=1)
        return found


class Adversaries(Network):
    """The generator, and beside it the discriminator."""

    def __init__(
        self, reading: Reading, sizes: RecurrentSizes, noise: Noise, variance: float
    ) -> None:
        super().__init__(reading)
        vector, hidden = sizes.vector, sizes.hidden
        self.noise, self.variance = noise, variance
        self.table = embedding(reading, vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.hierarchy = Hierarchy("gru", sizes)
        self.near = Encoder("gru", vector, hidden)
        self.attention = MemoryAttention("additive", hidden, hidden)
        self.start = nn.Linear(hidden, hidden)
        self.cells = cells("gru", vector + 2 * hidden, hidden, sizes.layers, sizes.dropout)
        self.output = Output(hidden, reading.codec.size)
        self.discriminator = Discriminator(vector, hidden)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read a batch without noise: the likeliest reply is what is ranked and stepped."""
        return self.begin(inputs, None)

    def begin(self, inputs: Sequence[EncodedInput], lots: Sequence[int] | None) -> State:
        """Read a batch; `lots` number the noise of each row, and None is no noise."""
        last, lengths = padded([each.history[-1] for each in inputs], self.device)
        memory, _ = self.near(self.dropout(self.table(last)), lengths)
        context = self.hierarchy(inputs, self.table).context
        hidden = context.shape[2]
        silent = lots is None
        numbered = zip(inputs, lots or [0] * len(inputs), strict=True)
        seeds = [0 if silent else _seed(each, lot) for each, lot in numbered]
        return {
            "h": torch.tanh(self.start(context)),
            "context": context[:, -1],
            "memory": memory,
            "present": is_filled(lengths, last.shape[1], self.device),
            "noise": torch.zeros(len(inputs), hidden, device=self.device)
            if silent
            else self._drawn(seeds, [0] * len(seeds), hidden),
            "seed": torch.tensor(seeds, device=self.device),
            "step": torch.full((len(inputs),), -1 if silent else 0, device=self.device),
        }

    def _drawn(self, seeds: Sequence[int], steps: Sequence[int], size: int) -> Tensor:
        rows = [
            np.random.default_rng((seed, step)).normal(0, self.variance**0.5, size)
            for seed, step in zip(seeds, steps, strict=True)
        ]
        return torch.tensor(np.array(rows), dtype=torch.float32, device=self.device)

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing, one step at a time."""
        written = []
        for index in range(tokens.shape[1]):
            log_probs, state = self._step(state, tokens[:, index])
            written.append(log_probs)
        return torch.stack(written, dim=1), state

    def _step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        noise, step = state["noise"], state["step"]
        if self.noise == "word" and bool((step > 0).any()):
            noise = self._drawn(state["seed"].tolist(), step.tolist(), noise.shape[1])
        attended, _ = self.attention(state["h"][:, -1:], state["memory"], state["present"])
        fed = torch.cat((self.dropout(self.table(tokens)), attended[:, 0], noise), dim=1)
        outputs, hidden = self.cells(fed[:, None], from_state(state))
        after = {**state, **to_state(hidden), "noise": noise, "step": step + (step >= 0)}
        return self.output(outputs, self.table.weight)[:, 0], after

    def judged(self, wanted: Tensor, context: Tensor) -> Tensor:
        """Return log D of replies in ids [rows]; what it learns does not reach the generator."""
        counted = (wanted != PAD).float()
        found: Tensor = self.discriminator(self.table(wanted).detach(), context.detach(), counted)
        return found

    def judged_written(
        self, log_probs: Tensor, wanted: Tensor, context: Tensor, learn: bool
    ) -> Tensor:
        """Return log D of what the generator writes, as expected word vectors (differentiable).

        With `learn` the discriminator learns and the generator does not; without, the reverse.
        """
        counted = (wanted != PAD).float()
        size = self.reading.codec.size
        vectors = log_probs.exp() @ self.table.weight[:size].detach()
        if learn:
            found: Tensor = self.discriminator(vectors.detach(), context.detach(), counted)
            return found
        frozen = {name: each.detach() for name, each in self.discriminator.named_parameters()}
        held: Tensor = functional_call(self.discriminator, frozen, (vectors, context, counted))
        return held


def _seed(inputs: EncodedInput, lot: int) -> int:
    digest = sha256(repr((inputs.flat, lot)).encode()).digest()
    return int.from_bytes(digest[:7], "big")
