"""Ranking Profile Memory network; it equals StarSpace when there is no persona.

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
from bots.encoders.bags import Bag
from bots.options import option
from bots.rankers.profile import ProfileNetwork, ProfileQuery
from bots.rankers.profile_bot import Item, ProfileBot
from bots.rankers.profile_serving import MODEL

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
    """Finds the reply nearest to the last messages and the lines of the persona they touch on."""

    query_is_memory: bool = option(
        False, "Attend over the query too", trained=True, after="history"
    )
    loss: Literal["softmax", "margin"] = option(
        "softmax", "Loss function", trained=True, after="rare_first"
    )
    margin: float = option(0.1, "Margin of the ranking loss", least=0, trained=True, after="scale")
    negatives: int = option(10, "Wrong replies per example, of margin", least=1, trained=True)

    NAME = MODEL
    SERVES = (MODEL,)

    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> ProfileQuery:
        """Return the last messages, and the persona's sentences to attend over."""
        return network.ask(*turn, most)

    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return the loss, against the replies of the batch."""
        queries = network.queries([query for query, _ in batch])
        cosine = queries @ network.embed_bags([reply for _, reply in batch]).T
        if self.loss == "softmax":
            return functional.cross_entropy(
                cosine * self.scale, torch.arange(len(batch), device=cosine.device)
            )
        return _margin_loss(cosine, self.margin, self.negatives)


def _margin_loss(cosine: Tensor, margin: float, negatives: int) -> Tensor:
    """Ranking loss against replies of others in the batch, the next ones in its random order."""
    size = len(cosine)
    indices = torch.arange(size, device=cosine.device).unsqueeze(1)
    steps = torch.arange(1, min(negatives, size - 1) + 1, device=cosine.device)
    wrong = cosine.gather(1, (indices + steps) % size)
    return functional.relu(margin - cosine.diagonal().unsqueeze(1) + wrong).sum(dim=1).mean()


BOT = ProfileMemory
