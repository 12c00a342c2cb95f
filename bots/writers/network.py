"""Network that reads its input and then writes, and the loss it learns by.

It writes many steps at once in training (`teach`), and one at a time after (`Stepped`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bots.bot import Turn
from bots.text.vocabulary import END, PAD, START, Codec
from bots.writers.input_tokens import EncodedInput, Item, Reading, padded
from bots.writers.recurrent import State, select


class Network(nn.Module, ABC):
    """A network that reads and writes; `reading` limits its input."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading

    @property
    def device(self) -> torch.device:
        """Device it computes on."""
        return next(self.parameters()).device

    @abstractmethod
    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read a batch; return the state before the first token."""

    @abstractmethod
    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take tokens [rows, steps]; return log-probabilities of the next ones, and the state."""


class Stepped:
    """A network as the decoder wants it (`bots.generation.decoding.StepModel`)."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.codec: Codec = network.reading.codec

    def start(self, turns: Sequence[Turn]) -> State:
        """Read the turns."""
        return self.network.read([self.network.reading.encoded(turn) for turn in turns])

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step."""
        log_probs, state = self.network.write(state, tokens.to(self.network.device)[:, None])
        return log_probs[:, 0], state

    def select(self, state: State, rows: Tensor) -> State:
        """Return a state of these rows."""
        return select(state, rows)


def teach(network: Network, batch: Sequence[Item]) -> tuple[Tensor, Tensor]:
    """Give a network the replies; return their tokens [rows, steps] and all log-probabilities."""
    wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
    begin = torch.full_like(wanted[:, :1], START)
    state = network.read([inputs for inputs, _ in batch])
    log_probs, _ = network.write(state, torch.cat((begin, wanted[:, :-1]), dim=1))
    return wanted, log_probs


def negative(wanted: Tensor, log_probs: Tensor, weighed: Tensor | None = None) -> Tensor:
    """Return the mean negative log-probability per token; `weighed` has a weight for each word."""
    counted = (wanted != PAD).float()
    if weighed is not None:
        counted = counted * weighed[wanted]
    log_prob = log_probs.gather(2, wanted[:, :, None])[:, :, 0]
    return -(log_prob * counted).sum() / counted.sum().clamp(min=1e-9)
