"""B-PROFMEM: the Ranking Profile Memory network; StarSpace when there is no persona.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.2. What the paper leaves open
follows its released code where that works at small size, and where our defaults differ (learned by
softmax over the batch with Adam, rare words longer at the start, unlisted words hashed) the preset
"released" gives theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots import training
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Utterance, examples
from bots.filters import choose, speakable
from bots.layers.bags import Bag, count_words
from bots.layers.profile import Asked, ProfileNetwork, ReplyIndex
from bots.layers.serving import (
    MODEL,
    Served,
    cosines,
    make_network,
    open_weights,
    save_weights,
)
from bots.options import option
from bots.weights import About, data_digest, read_about

Item = tuple[Asked, Bag]

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
class ProfileMemory:
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
    _served: Served | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass: the best reply that was not said yet."""
        if not turns:
            return []
        served = self._ready()
        ranked = served.index.best(served.queries(turns), self.nearest)
        return [
            choose(found, history, self.max_words)
            for found, (_, history) in zip(ranked, turns, strict=True)
        ]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the cosine of the query with each candidate."""
        served = self._ready()
        return list(cosines(served.queries([(persona, history)]), served.embed(candidates)))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn word vectors, and keep replies to choose from."""
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found, watching = (list(examples(each, self.sides)) for each in (learned, watched))
        if not found:
            raise ValueError(f"{len(known)} dialogues hold no reply to learn from")
        network = self._start(found, seed)
        items = [self._item(network, example) for example in found]
        seen = [self._item(network, example) for example in watching]
        plan = training.Plan(self.epochs, self.batch, self.patience, seed, "profile_memory")
        step = self._optimizer(network)
        history = training.fit(
            network, step, items, seen, lambda batch: self._loss(network, batch), plan
        )
        pairs = speakable([*found, *watching], self.candidates, self.max_words, seed)
        index = ReplyIndex.build(network, pairs)
        self._served = Served(network, index, self.history)
        self._about = About(
            bot=MODEL,
            options={each.name: getattr(self, each.name) for each in fields(self) if each.init},
            seed=seed,
            data=data_digest(known),
            versions=training.versions(),
            vocabulary=network.vocabulary.listed,
            replies=index.replies,
            history=history,
        )

    def save(self, path: Path) -> None:
        """Write what was learned."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        save_weights(path, self._ready(), self._about)

    def load(self, path: Path) -> None:
        """Read what was learned."""
        self._served = open_weights(path, self.device)
        self._about = read_about(path)

    def _ready(self) -> Served:
        if self._served is None:
            raise ValueError("profile_memory must be trained, or be given weights, first")
        return self._served

    def _start(self, found: Sequence[Example], seed: int) -> ProfileNetwork:
        texts = (text for each in found for text in (*each.persona, each.reply))
        counted = count_words(texts)
        listed = [word for word, number in counted.items() if number >= self.least_count]
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        with training.seeded(seed):
            network = make_network(sorted(listed), options)
            network.encoder.start(network.vocabulary, counted if self.rare_first else None)
        return network.to(training.device(self.device))

    def _item(self, network: ProfileNetwork, example: Example) -> Item:
        asked = network.ask(example.persona, example.history, self.history)
        return asked, network.vocabulary.bag(example.reply)

    def _optimizer(self, network: ProfileNetwork) -> torch.optim.Optimizer:
        kind = torch.optim.SparseAdam if self.optimizer == "adam" else torch.optim.SGD
        return kind(network.parameters(), lr=self.rate)

    def _loss(self, network: ProfileNetwork, batch: Sequence[Item]) -> Tensor:
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
