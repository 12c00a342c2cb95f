"""B-MEENA: an encoder-decoder of Evolved Transformer blocks, or of vanilla ones.

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
from bots.layers.asking import drawn, to_learn
from bots.layers.encoder_decoder import EncoderDecoder
from bots.layers.network import Stepped
from bots.layers.subword_writing import SubwordWriter
from bots.layers.transformer import Sizes
from bots.layers.writing import History
from bots.likelihood import measure
from bots.options import option
from bots.vocabulary import Codec

MEASURED = 200  # held-out replies that the perplexity is of, by lot

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
class Meena(SubwordWriter):
    """Reads up to seven turns, draws replies and says the likeliest."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes in training")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("sample", "How it searches")
    number: int = option(8, "Candidates that are drawn, or the beam's width", least=1)
    temperature: float = option(0.88, "Below 1: likelier words", least=0)
    top_k: int = option(0, "Pieces are drawn from so many likeliest; 0: all", least=0)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option("mean_logp", "What is likeliest")
    max_tokens: int = option(30, "Longest a candidate may be, in pieces", least=1)
    seed: int = option(0, "Of the draws")
    block: Literal["evolved", "vanilla"] = option("evolved", "What it is made of", trained=True)
    width: int = option(32, "Length of a token's vector", least=16, trained=True)
    heads: int = option(4, "Attention heads; must divide the width", least=1, trained=True)
    branch_heads: int = option(16, "Of an evolved decoder's first one", least=1, trained=True)
    encoders: int = option(1, "Blocks of the encoder", least=1, trained=True)
    layers: int = option(1, "Blocks of the decoder", least=1, trained=True)
    dropout: float = option(0.1, "Share left out in training", least=0, most=0.9, trained=True)
    subwords: int = option(800, "Pieces of words, marks included; 0: words", least=0, trained=True)
    words: int = option(8000, "Most words, where not pieces; 0: all", least=0, trained=True)
    least_count: int = option(2, "Rarer words, or pairs, are not listed", least=1, trained=True)
    messages: int = option(7, "How many of the last messages it reads", least=1, trained=True)
    tokens: int = option(32, "Most pieces of them; of the persona again", least=2, trained=True)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona, before the messages", trained=True)
    rate: float = option(0.03, "Adafactor's, until 1 / sqrt(step) is less", least=0, trained=True)
    clip: float = option(0.0, "Longest a gradient may be; 0: any", least=0, trained=True)
    batch: int = option(8, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the examples", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(320, "At most so many examples, by lot; 0: all", least=0, trained=True)

    def build(self, codec: Codec) -> EncoderDecoder:
        """Return the untrained network."""
        sizes = Sizes(self.width, self.heads, self.layers, 4 * self.width, self.dropout)
        reading = self.reading(codec)
        return EncoderDecoder(reading, sizes, self.block, self.encoders, self.branch_heads)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return how it descends."""
        return torch.optim.Adafactor(network.parameters(), lr=self.rate)

    def learn(
        self,
        network: EncoderDecoder,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn, and measure the perplexity on what was held out."""
        history = super().learn(network, learned, watched, seed)
        seen = drawn(to_learn(watched, 0, seed), MEASURED, seed)
        if not seen:
            return history
        found = measure(Stepped(network.eval()), seen)
        told = {"ppl_per_token": found.per_token, "ppl_per_word": found.per_word}
        return (*history, {**told, "tokens_per_word": found.tokens / found.words})


BOT = Meena
