"""What StarSpace and Profile Memory share: all but their options, their query and their loss.

Both learn vectors of words with a `ProfileNetwork` and say the reply nearest to a query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from bots import training
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Sides, Utterance, examples
from bots.filters import choose, speakable
from bots.layers.bags import Bag, count_words
from bots.layers.profile import Asked, ProfileNetwork, ReplyIndex
from bots.layers.serving import Served, cosines, make_network, open_weights, save_weights
from bots.weights import About, data_digest, read_about

Item = tuple[Asked, Bag]  # the query and the reply


class ProfileBot(ABC):
    """Finds the nearest reply; the annotations are the options it needs."""

    NAME: ClassVar[str]
    SERVES: ClassVar[tuple[str, ...]]  # whose weights it can answer with
    weights: str
    device: str
    max_words: int
    nearest: int
    sides: Sides
    history: int
    least_count: int
    rare_first: bool
    optimizer: str
    rate: float
    batch: int
    epochs: int
    patience: int
    held_out: float
    candidates: int
    _served: Served | None
    _about: About | None

    def __post_init__(self) -> None:
        self._served, self._about = None, None
        if self.weights:
            self.load(Path(self.weights))

    @abstractmethod
    def ask(self, network: ProfileNetwork, turn: Turn, most: int) -> Asked:
        """Return the query of a conversation: at most so many of its last messages."""

    @abstractmethod
    def cost(self, network: ProfileNetwork, batch: Sequence[Item], pool: Sequence[Bag]) -> Tensor:
        """Return what is minimized; the pool is all replies that are learned."""

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
        history = self._fit(network, self._items(network, found), self._items(network, seen), seed)
        pairs = speakable([*found, *seen], self.candidates, self.max_words, seed)
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
        """Write what was learned."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        save_weights(path, self._ready(), self._about)

    def load(self, path: Path) -> None:
        """Read what was learned."""
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
            asked = [self.ask(served.network, turn, served.messages) for turn in turns]
            return served.network.queries(asked)

    def _items(self, network: ProfileNetwork, found: Sequence[Example]) -> list[Item]:
        bag = network.vocabulary.bag
        return [
            (self.ask(network, (each.persona, each.history), self.history), bag(each.reply))
            for each in found
        ]

    def _options(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}  # type: ignore[arg-type]

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
