"""Decoder-only Transformer that reads a dialogue and continues it.

Source: Radford et al. 2018 ("Improving Language Understanding by Generative Pre-Training"), and for
the vectors that say whose word each is, Wolf et al. 2019 ("TransferTransfo"), section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from bots.dialogue import Dialogue, Utterance
from bots.text.vocabulary import END, PAD
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.network import Network
from bots.writers.recurrent import State
from bots.writers.transformer import Block, Pass, TransformerSizes, begin, visible

PERSONA, SELF, PARTNER = range(3)  # whose words they are, in the order of their marks
BOOKS = ("seen", "place")  # what of a state is not the blocks' own


class CausalNetwork(Network):
    """Tokens, whose they are and where they stand, through blocks; the output shares the input's
    vectors."""

    def __init__(self, reading: Reading, sizes: TransformerSizes, positions: int) -> None:
        super().__init__(reading)
        self.tokens = nn.Embedding(reading.size, sizes.width)
        self.segments = nn.Embedding(3, sizes.width)
        self.positions = nn.Embedding(positions, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.blocks = nn.ModuleList(Block(str(each), sizes) for each in range(sizes.layers))
        self.norm = nn.LayerNorm(sizes.width)
        begin(self)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read a batch; each row may be looked at as far as it is filled."""
        return self.context(inputs)[1]

    def context(self, inputs: Sequence[EncodedInput]) -> tuple[Tensor, State]:
        """Read a batch; return also the state of every token."""
        tokens, lengths = padded([each.flat for each in inputs], self.device)
        segments, _ = padded([self._segments(each) for each in inputs], self.device)
        past: State = {}
        where = torch.arange(tokens.shape[1], device=self.device)[None]
        hidden = self._run(tokens, segments, where, Pass(causal=True, past=past))
        past["seen"] = is_filled(lengths, tokens.shape[1], self.device)
        past["place"] = lengths.to(self.device)
        return hidden, past

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue as the bot."""
        hidden, state = self.follow(state, tokens)
        return self.log_probs(hidden), state

    def follow(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue as the bot; return the state of each token."""
        readable, index, new = state["seen"], state["place"], tokens.shape[1]
        past = {name: each for name, each in state.items() if name not in BOOKS}
        where = index[:, None] + torch.arange(new, device=self.device)
        run = Pass(mask=visible(readable, new), past=past)
        hidden = self._run(tokens, torch.full_like(tokens, SELF), where, run)
        past["seen"] = torch.cat((readable, readable.new_ones(len(readable), new)), dim=1)
        past["place"] = index + new
        return hidden, past

    def log_probs(self, hidden: Tensor) -> Tensor:
        """Return log-probabilities of the next token; marks are never written."""
        logits = hidden @ self.tokens.weight[: self.reading.codec.size].T
        return logits.float().log_softmax(-1)

    def following(self, inputs: Sequence[EncodedInput]) -> Tensor:
        """Return the token after each one of the context [rows, longest]; a message ends in END."""
        size = self.reading.codec.size
        rows = [(*each.flat[1:], size) for each in inputs]
        wanted, _ = padded(rows, self.device)
        return wanted.where(wanted < size, END)

    def _segments(self, inputs: EncodedInput) -> list[int]:
        first = self.reading.codec.size
        parts = (*inputs.persona, *inputs.history)
        return [part[0] - first for part in parts for _ in part]

    def _run(self, tokens: Tensor, segments: Tensor, where: Tensor, run: Pass) -> Tensor:
        where = where.clamp(max=self.positions.num_embeddings - 1)
        x = self.tokens(tokens) + self.segments(segments) + self.positions(where)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, run)
        hidden: Tensor = self.norm(x)
        return hidden


def negative_of_context(network: CausalNetwork, inputs: Sequence[EncodedInput]) -> Tensor:
    """Return the mean negative log-likelihood of each token of what is read."""
    hidden, _ = network.context(inputs)
    return negative_of(network.log_probs(hidden), network.following(inputs))


def negative_of(log_probs: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the mean negative log-likelihood; `smoothing` is shared among all tokens."""
    return nn.functional.cross_entropy(
        log_probs.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=smoothing
    )


def passages(reading: Reading, dialogues: Iterable[Dialogue]) -> Iterator[EncodedInput]:
    """Cut whole dialogues, seen from both sides, into parts that can be read at once."""
    whole = replace(reading, messages=0)
    for dialogue in dialogues:
        for view in (dialogue, dialogue.swapped()):
            for turns in _pieces(view.turns, reading):
                yield whole.encoded((view.persona, turns))


def _pieces(turns: Sequence[Utterance], reading: Reading) -> Iterator[Sequence[Utterance]]:
    begun, used = 0, 0
    for index, turn in enumerate(turns):
        used += 1 + len(reading.codec.encode(turn.text))
        if used > reading.tokens and index > begun:
            yield turns[begun:index]
            begun, used = index, 0
    yield turns[begun:]
