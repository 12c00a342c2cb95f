"""B-STARSPACE: words of one table, texts as their sum, replies ranked by the cosine.

Source: Wu et al. 2017 ("StarSpace") as used by Zhang et al. 2018 ("Personalizing Dialogue Agents"),
section 4.1: a margin ranking loss against k sampled replies; the persona is part of the query. The
preset "released" is the authors' code: the cosine embedding loss, the mean of words, plain gradient
descent; but wrong replies are drawn from all there are, where it keeps the latest 1,000. Our
defaults are near those of profile_memory, which is this bot when there is no persona.
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
from bots.layers.profile import OPENING, Asked, ProfileNetwork
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
        "loss": "embedding",
        "optimizer": "sgd",
        "rate": 0.1,
        "rare_first": False,
        "hashed": 0,
        "dimension": 128,
        "max_norm": 10.0,
        "margin": 0.1,
        "negatives": 10,
        "least_count": 1,
        "epochs": 100,
        "patience": 5,
    },
}


@dataclass
class StarSpace(ProfileBot):
    """Finds the reply nearest to the last messages and the persona, taken as one text."""

    weights: str = option("", "Directory of trained weights; profile_memory's will do")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    max_words: int = option(15, "Replies are at most this long, where possible", least=1)
    nearest: int = option(50, "How many of the nearest replies it tries before giving up", least=1)
    dimension: int = option(512, "Length of a word's vector", least=2, trained=True)
    pooling: Literal["mean", "sum"] = option("sum", "What words make of a text", trained=True)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    history: int = option(2, "How many of the last messages are the query", least=1, trained=True)
    hashed: int = option(
        8192, "Vectors shared by unlisted words; 0: ignored", least=0, trained=True
    )
    max_norm: float = option(0.0, "Longest a word's vector may be; 0: any", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not listed", least=1, trained=True)
    rare_first: bool = option(True, "Start with longer vectors for rarer words", trained=True)
    loss: Literal["softmax", "margin", "embedding"] = option(
        "softmax", "What is minimized; the paper: margin, its code: embedding", trained=True
    )
    scale: float = option(5.0, "Cosines are multiplied so in the softmax", least=0, trained=True)
    margin: float = option(0.1, "Margin of the losses that have one", least=0, trained=True)
    negatives: int = option(10, "Wrong replies drawn per example, of those", least=1, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "How it descends", trained=True)
    rate: float = option(0.002, "Learning rate", least=0, trained=True)
    batch: int = option(256, "Examples per step", least=2, trained=True)
    epochs: int = option(8, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Most replies kept to choose from", least=1, trained=True)

    NAME = "starspace"
    SERVES = (NAME, MODEL)

    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> Asked:
        """Return the last messages and the persona as one bag."""
        persona, history = turn
        said = " ".join(each.text for each in history[-most:]) or OPENING
        return Asked(network.vocabulary.bag(" ".join((said, *persona))), ())

    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return the loss, against each other's replies or some drawn from the pool."""
        queries = network.queries([asked for asked, _ in batch])
        replies = network.embed_bags([reply for _, reply in batch])
        if self.loss == "softmax":
            places = torch.arange(len(batch), device=queries.device)
            return functional.cross_entropy(queries @ replies.T * self.scale, places)
        drawn = torch.randint(len(pool), (len(batch) * self.negatives,)).tolist()
        others = network.embed_bags([pool[place] for place in drawn])
        right = (queries * replies).sum(dim=1, keepdim=True)
        wrong = (queries.unsqueeze(1) * others.view(len(batch), self.negatives, -1)).sum(dim=2)
        if self.loss == "margin":
            return functional.relu(self.margin - right + wrong).sum(dim=1).mean()
        return torch.cat((1 - right, functional.relu(wrong - self.margin)), dim=1).mean()


BOT = StarSpace
