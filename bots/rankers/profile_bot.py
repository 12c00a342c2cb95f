"""Profile bots, StarSpace and Profile Memory: all but their query, their loss and own options.

Both learn vectors of words with a `ProfileNetwork` and say the reply nearest to a query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor

from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Utterance, examples, no_reply
from bots.encoders.bags import Bag, count_words
from bots.guards.filters import choose, nearest_to_try, speakable
from bots.learning import training
from bots.options import option
from bots.rankers.profile import ProfileNetwork, ProfileQuery, ReplyIndex
from bots.rankers.profile_serving import Served, cosines, make_network, open_weights, save_weights
from bots.weights import About, data_digest, read_about

Item = tuple[ProfileQuery, Bag]  # the query and the reply


@dataclass
class ProfileBot(ABC):
    """Finds the nearest reply."""

    NAME: ClassVar[str]
    SERVES: ClassVar[tuple[str, ...]]  # bots whose weights it can answer with
    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    dimension: int = option(512, "Length of a word's vector", least=2, trained=True)
    pooling: Literal["mean", "sum"] = option("mean", "Pooling of the words of a text", trained=True)
    sides: Literal["both", "self"] = option("both", "Sides whose replies it learns", trained=True)
    history: int = option(2, "Last messages in the query", least=1, trained=True)
    hashed: int = option(
        8192, "Vectors shared by unlisted words; 0: ignored", least=0, trained=True
    )
    max_norm: float = option(
        0.0, "Maximum length of a word's vector; 0: unlimited", least=0, trained=True
    )
    least_count: int = option(2, "Minimum count of a listed word", least=1, trained=True)
    rare_first: bool = option(True, "Start with longer vectors for rarer words", trained=True)
    scale: float = option(10.0, "Factor of cosines in the softmax", least=0, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "Optimizer", trained=True)
    rate: float = option(0.002, "Learning rate", least=0, trained=True)
    batch: int = option(256, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "Maximum passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs without improvement before it stops", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues held out", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Maximum replies to choose from", least=1, trained=True)

    def __post_init__(self) -> None:
        self._served: Served | None = None
        self._about: About | None = None
        if self.weights:
            self.load(Path(self.weights))

    @abstractmethod
    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> ProfileQuery:
        """Return the query of a conversation: at most so many of its last messages."""

    @abstractmethod
    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return the loss; the pool is all replies that are learned."""

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass: the best reply that was not given yet."""
        if not turns:
            return []
        most = max(nearest_to_try(self.nearest, history) for _, history in turns)
        ranked = self._ready().index.best(self._queries(turns), most)
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
        """Learn word vectors, and keep replies to choose from.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found, held_out = (list(examples(each, self.sides)) for each in (learned, watched))
        if not found:
            raise no_reply(known)
        pairs = speakable([*found, *held_out], self.candidates, self.max_words, seed)
        network = self._start(found, seed)
        history = self._fit(
            network, self._items(network, found), self._items(network, held_out), seed
        )
        index = ReplyIndex.build(network, pairs)
        self._served = Served(network, index, self.history)
        self._about = About(
            bot=self.NAME,
            options=self._options(),
            seed=seed,
            data=data_digest(known),
            versions=training.versions(),
            vocabulary=network.vocabulary.listed,
            replies=index.replies,
            history=history,
        )

    def save(self, path: Path) -> None:
        """Write the learned weights. Raises ValueError if it is untrained."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        save_weights(path, self._ready(), self._about)

    def load(self, path: Path) -> None:
        """Read the learned weights."""
        self._served = open_weights(path, self.device, self.SERVES)
        self._about = read_about(path)

    def _ready(self) -> Served:
        if self._served is None:
            raise ValueError(f"{self.NAME} must be trained, or be given weights, first")
        return self._served

    def _queries(self, turns: Sequence[Turn]) -> Tensor:
        """Return the unit vectors of conversations."""
        served = self._ready()
        with torch.inference_mode():
            query = [self.ask(served.network, turn, served.messages) for turn in turns]
            return served.network.queries(query)

    def _items(self, network: ProfileNetwork, found: Sequence[Example]) -> list[Item]:
        bag = network.vocabulary.bag
        return [
            (self.ask(network, (each.persona, each.history), self.history), bag(each.reply))
            for each in found
        ]

    def _options(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def _start(self, found: Sequence[Example], seed: int) -> ProfileNetwork:
        counted = count_words(text for each in found for text in (*each.persona, each.reply))
        listed = [word for word, number in counted.items() if number >= self.least_count]
        with training.seeded(seed):
            network = make_network(sorted(listed), self._options())
            network.encoder.start(network.vocabulary, counted if self.rare_first else None)
        return network.to(training.device(self.device))

    def _fit(
        self, network: ProfileNetwork, learned: Sequence[Item], watched: Sequence[Item], seed: int
    ) -> tuple[dict[str, float], ...]:
        kind = torch.optim.SparseAdam if self.optimizer == "adam" else torch.optim.SGD
        step = kind(network.parameters(), lr=self.rate)
        pool = [reply for _, reply in learned]
        plan = training.Plan(self.epochs, self.batch, self.patience, seed, self.NAME)
        return training.fit(
            network, step, learned, watched, lambda batch: self.cost(network, batch, pool), plan
        )
