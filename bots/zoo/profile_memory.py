"""B-PROFMEM: the Ranking Profile Memory network; StarSpace when there is no persona.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.2. What the paper leaves open
follows its released code where that works at small size, and where our defaults differ (learned by
softmax over the batch with Adam, rare words longer at the start, unlisted words hashed) the preset
"released" gives theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots.bot import Turn
from bots.layers.bags import Bag
from bots.layers.profile import Asked, ProfileNetwork
from bots.layers.profile_bot import Item, ProfileBot
from bots.layers.serving import MODEL
from bots.options import option

PRESETS = {
    "small": {
        "sides": "self",
        "history": 1,
        "dimension": 2048,
        "scale": 20.0,
        "epochs": 6,
    },
    "released": {
        "loss": "margin",
        "optimizer": "sgd",
        "rate": 0.1,
        "rare_first": False,
        "hashed": 0,
        "dimension": 500,
        "max_norm": 10.0,
        "query_is_memory": True,
        "least_count": 1,
        "epochs": 100,
        "patience": 5,
    },
}


@dataclass
class ProfileMemory(ProfileBot):
    """Finds the reply nearest to the last messages and what of the persona they touch on."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    max_words: int = option(15, "Replies are at most this long, where possible", least=1)
    nearest: int = option(50, "How many of the nearest replies it tries before giving up", least=1)
    dimension: int = option(512, "Length of a word's vector", least=2, trained=True)
    pooling: Literal["mean", "sum"] = option("mean", "What words make of a text", trained=True)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    history: int = option(2, "How many of the last messages are the query", least=1, trained=True)
    query_is_memory: bool = option(False, "Attend over the query too", trained=True)
    hashed: int = option(
        8192, "Vectors shared by unlisted words; 0: ignored", least=0, trained=True
    )
    max_norm: float = option(0.0, "Longest a word's vector may be; 0: any", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not listed", least=1, trained=True)
    rare_first: bool = option(True, "Start with longer vectors for rarer words", trained=True)
    loss: Literal["softmax", "margin"] = option("softmax", "What is minimized", trained=True)
    scale: float = option(10.0, "Cosines are multiplied so in the softmax", least=0, trained=True)
    margin: float = option(0.1, "Margin of the ranking loss", least=0, trained=True)
    negatives: int = option(10, "Wrong replies per example, of margin", least=1, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "How it descends", trained=True)
    rate: float = option(0.002, "Learning rate", least=0, trained=True)
    batch: int = option(256, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Most replies kept to choose from", least=1, trained=True)

    NAME = MODEL
    SERVES = (MODEL,)

    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> Asked:
        """Return the last messages, and the persona's sentences to attend over."""
        return network.ask(*turn, most)

    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return the loss, against each other's replies."""
        queries = network.queries([asked for asked, _ in batch])
        cosine = queries @ network.embed_bags([reply for _, reply in batch]).T
        if self.loss == "softmax":
            return functional.cross_entropy(
                cosine * self.scale, torch.arange(len(batch), device=cosine.device)
            )
        return _margin_loss(cosine, self.margin, self.negatives)


def _margin_loss(cosine: Tensor, margin: float, negatives: int) -> Tensor:
    """Ranking loss against replies of others in the batch, the next ones in its random order."""
    size = len(cosine)
    places = torch.arange(size, device=cosine.device).unsqueeze(1)
    steps = torch.arange(1, min(negatives, size - 1) + 1, device=cosine.device)
    wrong = cosine.gather(1, (places + steps) % size)
    return functional.relu(margin - cosine.diagonal().unsqueeze(1) + wrong).sum(dim=1).mean()


BOT = ProfileMemory
