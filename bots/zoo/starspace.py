"""StarSpace: words of one table, texts as their sum, replies ranked by the cosine.

Source: Wu et al. 2017 ("StarSpace") as used by Zhang et al. 2018 ("Personalizing Dialogue Agents"),
section 4.1: a margin ranking loss against k sampled replies; the persona is part of the query. The
preset "released" is the authors' code: the cosine embedding loss, the mean of words, plain gradient
descent; but wrong replies are drawn from all there are, where it keeps the latest 1,000. Our
defaults are near those of profile_memory, which is this bot when there is no persona.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots.bot import Turn
from bots.encoders.bags import Bag
from bots.options import defaults, option
from bots.rankers.profile import OPENING, ProfileNetwork, ProfileQuery
from bots.rankers.profile_bot import Item, ProfileBot
from bots.rankers.profile_serving import MODEL

PRESETS: dict[str, dict[str, Any]] = {
    "small": {
        "sides": "self",
        "history": 1,
        "dimension": 2048,
        "scale": 20.0,
        "epochs": 6,
    },
    # For conversations without personas, and so to be trained on dialogues without them.
    "without_persona": {"dimension": 2048, "scale": 10.0, "rate": 0.0003, "epochs": 12},
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
@defaults(pooling="sum", scale=5.0, epochs=8, patience=2)
class StarSpace(ProfileBot):
    """Finds the reply nearest to the last messages and the persona, taken as one text."""

    weights: str = option("", "Directory of trained weights, also those of profile_memory")
    loss: Literal["softmax", "margin", "embedding"] = option(
        "softmax",
        "Loss function; the paper: margin, its code: embedding",
        trained=True,
        after="rare_first",
    )
    margin: float = option(
        0.1, "Margin of the losses that have one", least=0, trained=True, after="scale"
    )
    negatives: int = option(10, "Wrong replies per example, of those losses", least=1, trained=True)

    NAME = "starspace"
    SERVES = (NAME, MODEL)

    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> ProfileQuery:
        """Return the last messages and the persona as one bag."""
        persona, history = turn
        text = " ".join(each.text for each in history[-most:]) or OPENING
        return ProfileQuery(network.vocabulary.bag(" ".join((text, *persona))), ())

    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return the loss, against the replies of the batch or some drawn from the pool."""
        queries = network.queries([query for query, _ in batch])
        replies = network.embed_bags([reply for _, reply in batch])
        if self.loss == "softmax":
            indices = torch.arange(len(batch), device=queries.device)
            return functional.cross_entropy(queries @ replies.T * self.scale, indices)
        drawn = torch.randint(len(pool), (len(batch) * self.negatives,)).tolist()
        others = network.embed_bags([pool[index] for index in drawn])
        right = (queries * replies).sum(dim=1, keepdim=True)
        wrong = (queries.unsqueeze(1) * others.view(len(batch), self.negatives, -1)).sum(dim=2)
        if self.loss == "margin":
            return functional.relu(self.margin - right + wrong).sum(dim=1).mean()
        return torch.cat((1 - right, functional.relu(wrong - self.margin)), dim=1).mean()


BOT = StarSpace
