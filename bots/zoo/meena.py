"""Encoder-decoder of Evolved Transformer blocks, or of vanilla ones.

Source: Adiwardana et al. 2020 (MEENA), sections 3.1-3.4, and So et al. 2019 for the blocks. Byte
pairs, up to seven turns of context, one table of vectors, Adafactor at a rate of 0.01 for 10,000
steps and then 1 / sqrt(step): torch's, whose step is the smaller of the two. Candidates are drawn
and ranked (`sample_and_rank` around it sets N, T and top-k anew). The last entry of the history in
its weights is the held-out perplexity, per token and per word. Toy and "mid" sizes are ours;
"paper" and "vanilla" are the two models of section 4.1. Precision bf16 is of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from bots.dialogue import Dialogue
from bots.generation.likelihood import measure
from bots.options import defaults, option
from bots.text.vocabulary import Codec
from bots.writers.encoder_decoder import EncoderDecoder
from bots.writers.input_tokens import drawn, to_learn
from bots.writers.network import Stepped
from bots.writers.subword_writing import SubwordWriter
from bots.writers.transformer import TransformerSizes
from bots.writers.writer import History

MEASURED = 200  # held-out replies, drawn at random, for the perplexity

PRESETS = {
    "small": {
        "block": "vanilla",
        "width": 96,
        "layers": 2,
        "subwords": 0,
        "tokens": 48,
        "words": 8000,
        "least_count": 3,
        "examples": 0,
        "batch": 32,
        "rate": 0.01,
        "epochs": 4,
        "number": 20,
    },
    "mid": {
        "width": 256,
        "heads": 4,
        "layers": 4,
        "subwords": 4000,
        "tokens": 128,
        "examples": 0,
        "epochs": 10,
        "batch": 32,
        "rate": 0.01,
        "number": 20,
    },
    "paper": {
        "width": 2560,
        "heads": 32,
        "layers": 13,
        "subwords": 8000,
        "tokens": 128,
        "max_tokens": 128,
        "examples": 0,
        "epochs": 164,
        "batch": 8,
        "patience": 164,
        "rate": 0.01,
        "number": 20,
    },
    "vanilla": {
        "block": "vanilla",
        "width": 2560,
        "heads": 32,
        "layers": 32,
        "subwords": 8000,
        "tokens": 128,
        "max_tokens": 128,
        "examples": 0,
        "epochs": 164,
        "batch": 8,
        "patience": 164,
        "rate": 0.01,
        "number": 20,
    },
}


@dataclass
@defaults(subwords=800, batch=8)
class Meena(SubwordWriter):
    """Reads up to seven turns, draws replies and sends the likeliest."""

    method: Literal["greedy", "beam", "sample"] = option(
        "sample", "Search method", after="max_words"
    )
    number: int = option(8, "Candidates drawn, or beam width", least=1)
    temperature: float = option(0.88, "Sampling temperature; below 1: likelier words", least=0)
    top_k: int = option(0, "Likeliest pieces to sample from; 0: all", least=0)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "Score that orders candidates"
    )
    max_tokens: int = option(30, "Maximum pieces of a candidate", least=1)
    seed: int = option(0, "Seed of the draws")
    block: Literal["evolved", "vanilla"] = option("evolved", "Kind of blocks", trained=True)
    width: int = option(32, "Length of a token's vector", least=16, trained=True)
    branch_heads: int = option(
        16,
        "Attention heads of an evolved decoder's first branch",
        least=1,
        trained=True,
        after="heads",
    )
    encoders: int = option(1, "Blocks of the encoder", least=1, trained=True)
    layers: int = option(1, "Blocks of the decoder", least=1, trained=True, after="encoders")
    words: int = option(
        8000, "Vocabulary size, where not in pieces; 0: all words", least=0, trained=True
    )
    least_count: int = option(2, "Minimum count of a listed word or pair", least=1, trained=True)
    messages: int = option(7, "Last messages it reads", least=1, trained=True)
    tokens: int = option(
        32, "Maximum pieces of messages, and of the persona", least=2, trained=True
    )
    persona: bool = option(True, "Read the persona, before the messages", trained=True)
    rate: float = option(
        0.03, "Learning rate of Adafactor until 1 / sqrt(step) is less", least=0, trained=True
    )
    clip: float = option(0.0, "Maximum gradient norm; 0: unlimited", least=0, trained=True)

    def build(self, codec: Codec) -> EncoderDecoder:
        """Return the untrained network."""
        sizes = TransformerSizes(self.width, self.heads, self.layers, 4 * self.width, self.dropout)
        reading = self.reading(codec)
        return EncoderDecoder(reading, sizes, self.block, self.encoders, self.branch_heads)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adafactor(network.parameters(), lr=self.rate)

    def learn(
        self,
        network: EncoderDecoder,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn, and measure the perplexity on held-out replies."""
        history = super().learn(network, learned, watched, seed)
        held_out = drawn(to_learn(watched, 0, seed), MEASURED, seed)
        if not held_out:
            return history
        found = measure(Stepped(network.eval()), held_out)
        measured = {"ppl_per_token": found.per_token, "ppl_per_word": found.per_word}
        return (*history, {**measured, "tokens_per_word": found.tokens / found.words})


BOT = Meena
