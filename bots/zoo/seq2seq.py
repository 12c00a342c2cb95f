"""Seq2Seq: one LSTM reads the persona and the history, another writes, with or without attention.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3: x = all sentences of the
persona, then the history; GloVe vectors. The preset "paper" has the sizes of its released code,
"convai2" those of the ConvAI2 baseline (Dinan et al. 2019): attention "general" (Luong et al.
2015), vectors shared by encoder and decoder, SGD. GloVe's vectors are 50 numbers long here, so the
rest of a longer vector starts at random. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from bots.options import defaults, option
from bots.text.vocabulary import WordCodec
from bots.writers.recurrent import RecurrentSizes
from bots.writers.seq2seq import Seq2SeqNetwork
from bots.writers.word_writing import WordWriter

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
@defaults(hidden=64, examples=640)
class Seq2Seq(WordWriter):
    """Writes a reply word by word."""

    attention: Literal["none", "general", "additive", "dot"] = option(
        "general", "Attention to what it read", trained=True
    )
    sides: Literal["both", "self"] = option("both", "Sides whose replies it learns", trained=True)
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True, after="hidden")
    shared: bool = option(True, "One table of vectors for what is read and written", trained=True)
    dropout: float = option(0.1, "Dropout; twice that in the encoder", most=0.45, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "Optimizer", trained=True, after="dropout")
    momentum: float = option(0.9, "Momentum of sgd", least=0, most=1, trained=True, after="rate")

    def build(self, codec: WordCodec) -> Seq2SeqNetwork:
        """Return the untrained network."""
        return Seq2SeqNetwork(
            self.reading(codec),
            RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout),
            self.attention,
            shared=self.shared,
        )

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam or SGD."""
        if self.optimizer == "adam":
            return super().descent(network)
        return torch.optim.SGD(network.parameters(), lr=self.rate, momentum=self.momentum)


BOT = Seq2Seq
