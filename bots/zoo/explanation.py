"""B-L2E: says why, learned from what people explained with "because".

Source: L2E (NLP4CONVAI 2019): pairs of a phenomenon and its explanation (dataset `because`, with
":context" for L2EC) teach a Transformer (preset "l2e": 6 layers, 512, 2,048, 8 heads, dropout .1,
Noam's schedule) or an LSTM (preset "l2ec": 2 layers of 650, dropout .2). A why-question is first
turned into a statement by the paper's rule (`bots.why`). Greedy and beam are both options. Of other
messages it gives a reason too; that is all it can. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import nn

from bots.bot import Turn
from bots.candidates import Candidate, Decoding
from bots.dialogue import Utterance
from bots.layers.encoder_decoder import EncoderDecoder
from bots.layers.network import Network
from bots.layers.recurrent import Sizes
from bots.layers.seq2seq import Seq2SeqNetwork
from bots.layers.transformer import Sizes as Widths
from bots.layers.writing import Writer
from bots.options import option
from bots.training import Plan
from bots.vocabulary import WordCodec
from bots.weights import About
from bots.why import statement

PRESETS = {
    "l2e": {
        "network": "transformer",
        "hidden": 512,
        "layers": 6,
        "heads": 8,
        "dropout": 0.1,
        "words": 0,
        "least_count": 1,
        "warm_up": 4000,
        "rate": 1.0,
        "clip": 0.0,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 1,
        "tokens": 64,
    },
    "l2ec": {
        "network": "lstm",
        "hidden": 650,
        "dimension": 650,
        "layers": 2,
        "dropout": 0.2,
        "words": 0,
        "least_count": 1,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 6,
        "tokens": 256,
    },
}


@dataclass
class Explanation(Writer):
    """Writes an explanation of what was said, or of what was asked about."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    network: Literal["transformer", "lstm"] = option("lstm", "What it is", trained=True)
    persona: bool = option(False, "Read the persona, before the history", trained=True)
    messages: int = option(1, "How many of the last messages it reads", least=1, trained=True)
    tokens: int = option(48, "How many words of them it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector, of lstm", least=2, trained=True)
    hidden: int = option(64, "Size of a state, or width", least=4, trained=True)
    heads: int = option(4, "Of transformer; must divide hidden", least=1, trained=True)
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.45, trained=True)
    rate: float = option(0.01, "Learning rate, or factor of the schedule", least=0, trained=True)
    warm_up: int = option(0, "Steps of Noam's schedule; 0: a fixed rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(640, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> Network:
        """Return the untrained network."""
        reading = self.reading(codec)
        if self.network == "lstm":
            sizes = Sizes(self.dimension, self.hidden, self.layers, self.dropout)
            return Seq2SeqNetwork(reading, sizes, "general")
        widths = Widths(self.hidden, self.heads, self.layers, 4 * self.hidden, self.dropout)
        return EncoderDecoder(reading, widths, "vanilla", self.layers, self.heads)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam, with the betas of Vaswani et al. 2017 (section 5.3) where it warms up."""
        betas = (0.9, 0.98) if self.warm_up else (0.9, 0.999)
        return torch.optim.Adam(network.parameters(), lr=self.rate, betas=betas)

    def plan(self, seed: int, title: str) -> Plan:
        """Return how long it is trained, by Noam's schedule where it warms up."""
        plan = super().plan(seed, title)
        return replace(plan, schedule=self._noam) if self.warm_up else plan

    def _noam(self, step: int) -> float:
        """Vaswani et al. 2017, equation 3."""
        return float(self.hidden**-0.5 * min(step**-0.5, step * self.warm_up**-1.5))

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return explanations; a why-question is read as the statement it asks about."""
        return super().propose([_stated(turn) for turn in turns], decoding)


def _stated(turn: Turn) -> Turn:
    persona, history = turn
    found = statement(history[-1].text) if history else None
    if found is None:
        return turn
    return persona, (*history[:-1], Utterance(history[-1].speaker, found))


BOT = Explanation
