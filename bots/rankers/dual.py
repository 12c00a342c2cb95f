"""Dual encoders: contexts and replies encoded apart, scored by one product.

Source: the ASAPP dual encoder (NLP4CONVAI 2019), s(c, r) = f(c) . g(r); with `bilinear` the score
f(c) M g(r) of Lowe et al. 2015 (equation 2), the baseline of DSTC7. The wrong replies of a step
are drawn by how often people give them, and are the same for all of its contexts: b + k encodings.
The paper's equations 6 and 7 have misprints; the losses here are what its text describes.

Apart because the network needs torch and the bot around it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Example
from bots.encoders.bags import Bag
from bots.encoders.text_encoder import TextEncoder, WordTable
from bots.learning import training
from bots.text.tokens import key

Loss = Literal["softmax", "softmax_outside", "hinge"]


class DualEncoder(nn.Module):
    """One table of words, and a text encoder for each side, unless `replies` is that of both."""

    def __init__(
        self, table: WordTable, contexts: TextEncoder, replies: TextEncoder, *, bilinear: bool
    ) -> None:
        super().__init__()
        self.table = table
        self.contexts = contexts
        self.replies = replies
        width = contexts.reader.width
        self.bilinear = nn.Linear(width, width, bias=False) if bilinear else None

    def queries(self, texts: Sequence[Bag]) -> Tensor:
        """Encode contexts as the vectors that replies are multiplied with."""
        found: Tensor = self.contexts(texts)
        return found if self.bilinear is None else self.bilinear(found)

    def embed(self, texts: Sequence[Bag]) -> Tensor:
        """Encode replies."""
        found: Tensor = self.replies(texts)
        return found


@dataclass(frozen=True)
class DualItem:
    """An example in numbers; replies that say the same have the same `number`."""

    context: Bag
    reply: Bag
    number: int


@dataclass(frozen=True)
class Recipe:
    """Loss settings: `negatives` wrong replies per step, `margin` of the hinge."""

    loss: Loss
    negatives: int
    margin: float
    context_words: int
    reply_words: int


def items_of(table: WordTable, found: Sequence[Example], recipe: Recipe) -> list[DualItem]:
    """Turn examples into numbers."""
    numbers: dict[str, int] = {}
    return [
        DualItem(
            table.dialogue(example.persona, example.history, recipe.context_words),
            table.text(example.reply, recipe.reply_words),
            numbers.setdefault(key(example.reply), len(numbers)),
        )
        for example in found
    ]


def train_dual(
    network: DualEncoder,
    optimizer: torch.optim.Optimizer,
    data: tuple[Sequence[DualItem], Sequence[DualItem]],
    recipe: Recipe,
    plan: training.Plan,
) -> tuple[dict[str, float], ...]:
    """Train on the first items, watch the second; wrong replies are drawn from the first."""
    pool, watched = data
    loss = SharedNegatives(network, pool, recipe)
    return training.fit(network, optimizer, pool, watched, loss, plan)


class SharedNegatives:
    """The loss of a batch against replies drawn for all of it."""

    def __init__(self, network: DualEncoder, pool: Sequence[DualItem], recipe: Recipe) -> None:
        self.network = network
        self.pool = pool
        self.recipe = recipe

    def __call__(self, batch: Sequence[DualItem]) -> Tensor:
        """Draw wrong replies by frequency, and compare."""
        indices = torch.randint(len(self.pool), (self.recipe.negatives,)).tolist()
        drawn = [self.pool[index] for index in indices]
        queries = self.network.queries([each.context for each in batch])
        replies = self.network.embed([each.reply for each in (*batch, *drawn)])
        own = (queries * replies[: len(batch)]).sum(dim=1)
        others = queries @ replies[len(batch) :].T
        numbers = torch.tensor([each.number for each in drawn], device=own.device)
        right = torch.tensor([[each.number] for each in batch], device=own.device) == numbers
        return compare(own, others.masked_fill(right, -1e4), self.recipe)


def compare(own: Tensor, others: Tensor, recipe: Recipe) -> Tensor:
    """Return the mean loss of right replies' scores against those of wrong ones."""
    if recipe.loss == "hinge":
        return functional.relu(recipe.margin - own.unsqueeze(1) + others).mean()
    if recipe.loss == "softmax":
        others = torch.cat((own.unsqueeze(1), others), dim=1)
    return (torch.logsumexp(others, dim=1) - own).mean()


def noam(warmup: int) -> Callable[[int], float]:
    """Return the Noam schedule (Vaswani et al. 2017, equation 3) with its peak, 1, at `warmup`."""
    return lambda step: min(step / warmup, (warmup / step) ** 0.5)
