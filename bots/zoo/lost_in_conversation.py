"""Generative Transformer with beam search, the entry of Lost in Conversation to ConvAI2.

Source: Dinan et al. 2019 (ConvAI2), section 4.2, and the team's released code: beam 3, length
penalty .6, label smoothing .1, warm-up over 16,000 steps, a language model's loss on what is read
weighed .5. They began with GPT's weights, which do not come along: this one learns from the
dialogues alone. After the warm-up the rate falls by the inverse square root of the step [ours].
Precision bf16 is of training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from bots.learning import training
from bots.options import defaults, option
from bots.text.vocabulary import END, START, Codec
from bots.writers.causal import CausalNetwork, negative_of
from bots.writers.input_tokens import Item, padded
from bots.writers.subword_writing import SubwordWriter
from bots.writers.transformer import TransformerSizes

PRESETS = {
    "small": {
        "width": 96,
        "layers": 2,
        "tokens": 48,
        "least_count": 3,
        "examples": 0,
        "warmup": 100,
        "epochs": 4,
        "rate": 0.002,
    },
    "paper": {
        "width": 768,
        "layers": 12,
        "heads": 12,
        "tokens": 128,
        "subwords": 40000,
        "max_tokens": 32,
        "examples": 0,
        "batch": 256,
        "rate": 6.25e-5,
        "warmup": 16000,
        "epochs": 100,
        "patience": 3,
    },
}


@dataclass
@defaults(width=48, examples=240)
class LostInConversation(SubwordWriter):
    """Reads the persona and the last messages, and searches for the likeliest reply."""

    method: Literal["greedy", "beam", "sample"] = option("beam", "Search method", after="max_words")
    number: int = option(3, "Beam width", least=1)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "gnmt", "Score that orders candidates"
    )
    alpha: float = option(0.6, "Length penalty of gnmt", least=0)
    max_tokens: int = option(20, "Maximum tokens of a reply", least=1)
    lm_weight: float = option(
        0.5, "Weight of the loss on what is read", least=0, trained=True, after="persona"
    )
    smoothing: float = option(0.1, "Label smoothing of replies", least=0, most=0.9, trained=True)
    warmup: int = option(10, "Steps until the learning rate is reached", least=1, trained=True)
    rate: float = option(0.01, "Highest learning rate", least=0, trained=True)

    def build(self, codec: Codec) -> CausalNetwork:
        """Return the untrained network."""
        sizes = TransformerSizes(self.width, self.heads, self.layers, 4 * self.width, self.dropout)
        return CausalNetwork(self.reading(codec), sizes, 2 * self.tokens + 64)

    def loss(self, network: CausalNetwork, batch: Sequence[Item]) -> Tensor:
        """Return the loss on replies, smoothed in training, and that on what is read."""
        inputs = [each for each, _ in batch]
        hidden, state = network.context(inputs)
        read = negative_of(network.log_probs(hidden), network.following(inputs))
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        fed, _ = padded([(START, *reply) for _, reply in batch], network.device)
        log_probs, _ = network.write(state, fed)
        smoothing = self.smoothing if network.training else 0.0
        return negative_of(log_probs, wanted, smoothing) + self.lm_weight * read

    def plan(self, seed: int, title: str) -> training.Plan:
        """Return the training plan, with the warm-up."""
        return replace(super().plan(seed, title), schedule=self.share_of_rate)

    def share_of_rate(self, step: int) -> float:
        """Return a step's share of the learning rate."""
        return min(step / self.warmup, math.sqrt(self.warmup / step))


BOT = LostInConversation
