"""B-STARSPACE: words of one table, texts as their sum, replies ranked by the cosine.

Source: Wu et al. 2017 ("StarSpace") as used by Zhang et al. 2018 ("Personalizing Dialogue Agents"),
section 4.1: a margin ranking loss against k sampled replies; the persona is part of the query. The
preset "released" is the authors' code: the cosine embedding loss, the mean of words, plain gradient
descent; but wrong replies are drawn from all there are, where it keeps the latest 1,000. Our
defaults are near those of profile_memory, which is this bot when there is no persona.
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
from bots.layers.profile import OPENING, Asked, ProfileNetwork, ReplyIndex
from bots.layers.serving import MODEL, Served, cosines, make_network, open_weights, save_weights
from bots.options import option
from bots.weights import About, data_digest, read_about

NAME = "starspace"
Item = tuple[Bag, Bag]  # the query and the reply

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
class StarSpace:
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
        ranked = self._ready().index.best(self._queries(turns), self.nearest)
        return [
            choose(found, history, self.max_words)
            for found, (_, history) in zip(ranked, turns, strict=True)
        ]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the cosine of the query with each candidate."""
        queries = self._queries([(persona, history)])
        return list(cosines(queries, self._ready().embed(candidates)))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn word vectors, and keep replies to choose from."""
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found, seen = (list(examples(each, self.sides)) for each in (learned, watched))
        if not found:
            raise ValueError(f"{len(known)} dialogues hold no reply to learn from")
        network = self._start(found, seed)
        history = self._fit(network, found, seen, seed)
        pairs = speakable([*found, *seen], self.candidates, self.max_words, seed)
        index = ReplyIndex.build(network, pairs)
        self._served = Served(network, index, self.history)
        self._about = About(
            bot=NAME,
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
        self._served = open_weights(path, self.device, (NAME, MODEL))
        self._about = read_about(path)

    def _ready(self) -> Served:
        if self._served is None:
            raise ValueError("starspace must be trained, or be given weights, first")
        return self._served

    def _queries(self, turns: Sequence[Turn]) -> Tensor:
        """Return the unit vectors of conversations."""
        served = self._ready()
        bags = [_query(served.network, *turn, served.messages) for turn in turns]
        with torch.inference_mode():
            return _embed_queries(served.network, bags)

    def _start(self, found: Sequence[Example], seed: int) -> ProfileNetwork:
        counted = count_words(text for each in found for text in (*each.persona, each.reply))
        listed = [word for word, number in counted.items() if number >= self.least_count]
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        with training.seeded(seed):
            network = make_network(sorted(listed), options)
            network.encoder.start(network.vocabulary, counted if self.rare_first else None)
        return network.to(training.device(self.device))

    def _fit(
        self,
        network: ProfileNetwork,
        found: Sequence[Example],
        seen: Sequence[Example],
        seed: int,
    ) -> tuple[dict[str, float], ...]:
        learned, watched = (
            [
                (
                    _query(network, each.persona, each.history, self.history),
                    network.vocabulary.bag(each.reply),
                )
                for each in part
            ]
            for part in (found, seen)
        )
        kind = torch.optim.SparseAdam if self.optimizer == "adam" else torch.optim.SGD
        step = kind(network.parameters(), lr=self.rate)
        pool = [reply for _, reply in learned]
        plan = training.Plan(self.epochs, self.batch, self.patience, seed, NAME)
        return training.fit(
            network, step, learned, watched, lambda batch: self._loss(network, batch, pool), plan
        )

    def _loss(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        queries = _embed_queries(network, [query for query, _ in batch])
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


def _query(
    network: ProfileNetwork,
    persona: Sequence[str],
    history: Sequence[Utterance],
    messages: int,
) -> Bag:
    """Return the last messages and the persona as one bag."""
    said = " ".join(turn.text for turn in history[-messages:]) or OPENING
    return network.vocabulary.bag(" ".join((said, *persona)))


def _embed_queries(network: ProfileNetwork, bags: Sequence[Bag]) -> Tensor:
    return network.queries([Asked(bag, ()) for bag in bags])


BOT = StarSpace
