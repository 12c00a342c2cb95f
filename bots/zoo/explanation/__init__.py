"""Replies to why-questions, learned from explanations that people gave with "because".

Source: L2E (NLP4CONVAI 2019): pairs of a phenomenon and its explanation (dataset `because`, with
":context" for L2EC) teach a Transformer (preset "l2e": 6 layers, 512, 2,048, 8 heads, dropout .1,
Noam's schedule) or an LSTM (preset "l2ec": 2 layers of 650, dropout .2). A why-question is first
turned into a statement by the paper's rule (`bots.zoo.explanation.why_questions`). Greedy and beam
are both options. Of other messages it gives a reason too; that is all it can. Precision "bf16"
computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import nn

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.learning.training import Plan
from bots.options import defaults, option
from bots.text.vocabulary import WordCodec
from bots.writers.encoder_decoder import EncoderDecoder
from bots.writers.network import Network
from bots.writers.recurrent import RecurrentSizes
from bots.writers.seq2seq import Seq2SeqNetwork
from bots.writers.transformer import TransformerSizes
from bots.writers.word_writing import WordWriter
from bots.zoo.explanation.why_questions import statement

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
@defaults(persona=False, examples=640)
class Explanation(WordWriter):
    """Writes an explanation of a message, or of the subject of a why-question."""

    network: Literal["transformer", "lstm"] = option("lstm", "Kind of network", trained=True)
    messages: int = option(1, "Last messages it reads", least=1, trained=True)
    tokens: int = option(48, "Words of them it reads", least=8, trained=True)
    dimension: int = option(50, "Length of a word's vector, of lstm", least=2, trained=True)
    hidden: int = option(64, "Size of a state, or width", least=4, trained=True)
    heads: int = option(
        4,
        "Attention heads of `transformer`; must divide hidden",
        least=1,
        trained=True,
        after="hidden",
    )
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.45, trained=True)
    rate: float = option(0.01, "Learning rate, or factor of the schedule", least=0, trained=True)
    warm_up: int = option(
        0, "Steps of Noam's schedule; 0: a fixed rate", least=0, trained=True, after="rate"
    )

    def build(self, codec: WordCodec) -> Network:
        """Return the untrained network."""
        reading = self.reading(codec)
        if self.network == "lstm":
            sizes = RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout)
            return Seq2SeqNetwork(reading, sizes, "general")
        widths = TransformerSizes(
            self.hidden, self.heads, self.layers, 4 * self.hidden, self.dropout
        )
        return EncoderDecoder(reading, widths, "vanilla", self.layers, self.heads)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam, with the betas of Vaswani et al. 2017 (section 5.3) where it warms up."""
        betas = (0.9, 0.98) if self.warm_up else (0.9, 0.999)
        return torch.optim.Adam(network.parameters(), lr=self.rate, betas=betas)

    def plan(self, seed: int, title: str) -> Plan:
        """Return the training plan, by Noam's schedule where it warms up."""
        plan = super().plan(seed, title)
        return replace(plan, schedule=self._noam) if self.warm_up else plan

    def _noam(self, step: int) -> float:
        """Vaswani et al. 2017, equation 3."""
        return float(self.hidden**-0.5 * min(step**-0.5, step * self.warm_up**-1.5))

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return explanations; a why-question is read as the statement that it presupposes."""
        return super().propose([_stated(turn) for turn in turns], decoding)


def _stated(turn: Turn) -> Turn:
    persona, history = turn
    found = statement(history[-1].text) if history else None
    if found is None:
        return turn
    return persona, (*history[:-1], Utterance(history[-1].speaker, found))


BOT = Explanation
