"""B-LIC: a generative Transformer with beam search, as Lost in Conversation entered ConvAI2.

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

from bots import training
from bots.layers.asking import Item, padded
from bots.layers.causal import CausalNetwork, negative_of
from bots.layers.subword_writing import SubwordWriter
from bots.layers.transformer import Sizes
from bots.options import option
from bots.vocabulary import END, START, Codec

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
class LostInConversation(SubwordWriter):
    """Reads the persona and the last messages, and searches for the likeliest reply."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes in training")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches")
    number: int = option(3, "The beam's width", least=1)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option("gnmt", "Which comes first")
    alpha: float = option(0.6, "Length penalty of gnmt", least=0)
    max_tokens: int = option(20, "Longest a reply may be", least=1)
    width: int = option(48, "Length of a token's vector", least=8, trained=True)
    layers: int = option(2, "Transformer blocks", least=1, trained=True)
    heads: int = option(4, "Attention heads; must divide the width", least=1, trained=True)
    dropout: float = option(0.1, "Share left out in training", least=0, most=0.9, trained=True)
    subwords: int = option(0, "Pieces of words, marks included; 0: words", least=0, trained=True)
    words: int = option(8000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are unknown", least=1, trained=True)
    messages: int = option(0, "How many of the last messages it reads; 0: all", least=0)
    tokens: int = option(32, "Most tokens it reads of messages, and of the persona", trained=True)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona", trained=True)
    lm_weight: float = option(0.5, "Weight of the loss on what is read", least=0, trained=True)
    smoothing: float = option(0.1, "Label smoothing of replies", least=0, most=0.9, trained=True)
    warmup: int = option(10, "Steps until the learning rate is reached", least=1, trained=True)
    rate: float = option(0.01, "Highest learning rate", least=0, trained=True)
    clip: float = option(1.0, "Longest a gradient may be", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the examples", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(240, "At most so many examples, by lot; 0: all", least=0, trained=True)

    def build(self, codec: Codec) -> CausalNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.width, self.heads, self.layers, 4 * self.width, self.dropout)
        return CausalNetwork(self.reading(codec), sizes, 2 * self.tokens + 64)

    def loss(self, network: CausalNetwork, batch: Sequence[Item]) -> Tensor:
        """Return the loss on replies, smoothed in training, and that on what is read."""
        asked = [each for each, _ in batch]
        hidden, state = network.context(asked)
        read = negative_of(network.log_probs(hidden), network.following(asked))
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        given, _ = padded([(START, *reply) for _, reply in batch], network.device)
        said, _ = network.write(state, given)
        smoothing = self.smoothing if network.training else 0.0
        return negative_of(said, wanted, smoothing) + self.lm_weight * read

    def plan(self, seed: int, title: str) -> training.Plan:
        """Return how long it is trained, with the warm-up."""
        return replace(super().plan(seed, title), schedule=self.share_of_rate)

    def share_of_rate(self, step: int) -> float:
        """Return a step's share of the learning rate."""
        return min(step / self.warmup, math.sqrt(self.warmup / step))


BOT = LostInConversation
