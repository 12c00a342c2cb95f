"""B-S2S: an LSTM reads the persona and the history, another one writes, with or without attention.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3: x = all sentences of the
persona, then the history; GloVe vectors. The preset "paper" has the sizes of its released code,
"convai2" those of the ConvAI2 baseline (Dinan et al. 2019): attention "general" (Luong et al.
2015), vectors shared by encoder and decoder, SGD. GloVe's vectors are 50 numbers long here, so the
rest of a longer vector starts at random. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import nn

from bots.layers.network import Network
from bots.layers.recurrent import Sizes
from bots.layers.seq2seq import Seq2SeqNetwork
from bots.layers.writing import Writer
from bots.options import option
from bots.vocabulary import WordCodec
from bots.weights import About

PRESETS = {
    "small": {
        "vectors": "glove",
        "dimension": 50,
        "hidden": 128,
        "dropout": 0.2,
        "words": 8000,
        "least_count": 3,
        "examples": 0,
        "tokens": 40,
        "batch": 32,
        "rate": 0.003,
        "epochs": 4,
    },
    "paper": {
        "attention": "none",
        "vectors": "glove",
        "dimension": 300,
        "hidden": 1024,
        "dropout": 0.1,
        "shared": False,
        "words": 0,
        "least_count": 1,
        "optimizer": "adam",
        "rate": 0.001,
        "clip": 0.0,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "method": "greedy",
    },
    "convai2": {
        "attention": "general",
        "dimension": 256,
        "hidden": 1024,
        "layers": 2,
        "dropout": 0.1,
        "shared": True,
        "words": 0,
        "least_count": 1,
        "optimizer": "sgd",
        "rate": 3.0,
        "momentum": 0.9,
        "clip": 0.1,
        "batch": 64,
        "epochs": 100,
        "patience": 12,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "method": "greedy",
    },
}


@dataclass
class Seq2Seq(Writer):
    """Writes a reply word by word."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    attention: Literal["none", "general", "additive", "dot"] = option(
        "general", "How it looks back at what it read", trained=True
    )
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(2, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(64, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True)
    shared: bool = option(True, "One table of vectors for what is read and written", trained=True)
    dropout: float = option(0.1, "Dropout; the encoder's is twice that", most=0.45, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "How it descends", trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    momentum: float = option(0.9, "Of sgd", least=0, most=1, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(640, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> Seq2SeqNetwork:
        """Return the untrained network."""
        return Seq2SeqNetwork(
            self.reading(codec),
            Sizes(self.dimension, self.hidden, self.layers, self.dropout),
            self.attention,
            shared=self.shared,
        )

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam or SGD."""
        if self.optimizer == "adam":
            return super().descent(network)
        return torch.optim.SGD(network.parameters(), lr=self.rate, momentum=self.momentum)


BOT = Seq2Seq
