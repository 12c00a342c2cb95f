"""A decoder-only Transformer that reads a dialogue and goes on with it.

Source: Radford et al. 2018 ("Improving Language Understanding by Generative Pre-Training"), and for
the vectors that say whose word each is, Wolf et al. 2019 ("TransferTransfo"), section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from bots.dialogue import Dialogue, Utterance
from bots.layers.asking import Asked, Reading, padded, places
from bots.layers.network import Network
from bots.layers.recurrent import State
from bots.layers.transformer import Block, Pass, Sizes, begin, visible
from bots.vocabulary import END, PAD

PERSONA, SELF, PARTNER = range(3)  # whose words they are, in the order of their marks
BOOKS = ("seen", "place")  # what of a state is not the blocks' own


class CausalNetwork(Network):
    """Tokens, whose they are and where they stand, through blocks; the output shares the input's
    vectors."""

    def __init__(self, reading: Reading, sizes: Sizes, positions: int) -> None:
        super().__init__(reading)
        self.tokens = nn.Embedding(reading.size, sizes.width)
        self.segments = nn.Embedding(3, sizes.width)
        self.positions = nn.Embedding(positions, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.blocks = nn.ModuleList(Block(str(each), sizes) for each in range(sizes.layers))
        self.norm = nn.LayerNorm(sizes.width)
        begin(self)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read a batch; each row may be looked at as far as it is filled."""
        return self.context(asked)[1]

    def context(self, asked: Sequence[Asked]) -> tuple[Tensor, State]:
        """Read a batch; return also what was made of every token."""
        tokens, lengths = padded([each.flat for each in asked], self.device)
        segments, _ = padded([self._segments(each) for each in asked], self.device)
        past: State = {}
        where = torch.arange(tokens.shape[1], device=self.device)[None]
        hidden = self._run(tokens, segments, where, Pass(causal=True, past=past))
        past["seen"] = places(lengths, tokens.shape[1], self.device)
        past["place"] = lengths.to(self.device)
        return hidden, past

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on as the bot."""
        hidden, state = self.follow(state, tokens)
        return self.log_probs(hidden), state

    def follow(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on as the bot; return what was made of each token."""
        seen, place, new = state["seen"], state["place"], tokens.shape[1]
        past = {name: each for name, each in state.items() if name not in BOOKS}
        where = place[:, None] + torch.arange(new, device=self.device)
        run = Pass(mask=visible(seen, new), past=past)
        hidden = self._run(tokens, torch.full_like(tokens, SELF), where, run)
        past["seen"] = torch.cat((seen, seen.new_ones(len(seen), new)), dim=1)
        past["place"] = place + new
        return hidden, past

    def log_probs(self, hidden: Tensor) -> Tensor:
        """Return log-probabilities of the next token; marks are never written."""
        logits = hidden @ self.tokens.weight[: self.reading.codec.size].T
        return logits.float().log_softmax(-1)

    def following(self, asked: Sequence[Asked]) -> Tensor:
        """Return what follows each token of the context [rows, longest]; a message ends in END."""
        size = self.reading.codec.size
        rows = [(*each.flat[1:], size) for each in asked]
        wanted, _ = padded(rows, self.device)
        return wanted.where(wanted < size, END)

    def _segments(self, asked: Asked) -> list[int]:
        first = self.reading.codec.size
        parts = (*asked.persona, *asked.history)
        return [part[0] - first for part in parts for _ in part]

    def _run(self, tokens: Tensor, segments: Tensor, where: Tensor, run: Pass) -> Tensor:
        where = where.clamp(max=self.positions.num_embeddings - 1)
        x = self.tokens(tokens) + self.segments(segments) + self.positions(where)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, run)
        hidden: Tensor = self.norm(x)
        return hidden


def negative_of_context(network: CausalNetwork, asked: Sequence[Asked]) -> Tensor:
    """Return the mean negative log-likelihood of each token of what is read."""
    hidden, _ = network.context(asked)
    return negative_of(network.log_probs(hidden), network.following(asked))


def negative_of(log_probs: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the mean negative log-likelihood; `smoothing` is shared among all tokens."""
    return nn.functional.cross_entropy(
        log_probs.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=smoothing
    )


def passages(reading: Reading, dialogues: Iterable[Dialogue]) -> Iterator[Asked]:
    """Cut whole dialogues, seen from both sides, into what can be read at once."""
    whole = replace(reading, messages=0)
    for dialogue in dialogues:
        for view in (dialogue, dialogue.swapped()):
            for turns in _pieces(view.turns, reading):
                yield whole.asked((view.persona, turns))


def _pieces(turns: Sequence[Utterance], reading: Reading) -> Iterator[Sequence[Utterance]]:
    begun, used = 0, 0
    for place, turn in enumerate(turns):
        used += 1 + len(reading.codec.encode(turn.text))
        if used > reading.tokens and place > begun:
            yield turns[begun:place]
            begun, used = place, 0
    yield turns[begun:]
