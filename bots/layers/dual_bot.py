"""What bots that are dual encoders share: all but their options, which their files declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import torch

from bots import glove, training, whitelists
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Sides, Utterance, examples
from bots.filters import choose, speakable
from bots.layers.bags import count_words
from bots.layers.dual import DualEncoder, Loss, Recipe, items_of, noam, train_dual
from bots.layers.dual_serving import DualServed, make_dual, open_dual, save_dual
from bots.weights import About, data_digest


class DualBot:
    """Says the reply whose encoding has the largest product with the conversation's.

    The annotations are the options it needs; a file that has a recipe's value fixed sets it as a
    plain attribute of the class.
    """

    NAME: ClassVar[str]
    FIXED: ClassVar[Mapping[str, object]] = {}  # of the network, where the recipe leaves no choice
    weights: str
    device: str
    whitelist: str
    max_words: int
    nearest: int
    vectors: str
    frozen: bool
    sides: Sides = "both"
    least_count: int
    context_words: int
    reply_words: int
    loss: Loss = "softmax"
    negatives: int
    margin: float = 0.0
    rate: float
    warmup: int
    batch: int
    epochs: int
    patience: int
    held_out: float
    candidates: int
    _served: DualServed | None
    _about: About | None
    _stamp: tuple[int, int]

    def __post_init__(self) -> None:
        self._served, self._about, self._stamp = None, None, (0, 0)
        if self.weights:
            self.load(Path(self.weights))
            self._offering()

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass: the best reply that was not said yet."""
        if not turns:
            return []
        ranked = self._offering().best(turns, self.nearest)
        return [
            choose(found, history, self.max_words)
            for found, (_, history) in zip(ranked, turns, strict=True)
        ]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the product of the conversation with each candidate."""
        return self._ready().scores((persona, history), candidates)

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn both encoders, and encode the replies to choose from."""
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found, seen = (list(examples(each, self.sides)) for each in (learned, watched))
        if not found:
            raise ValueError(f"{len(known)} dialogues hold no reply to learn from")
        options = self._options()
        network = self._start(found, options, seed)
        history = self._fit(network, (found, seen), seed)
        pairs = speakable([*found, *seen], self.candidates, self.max_words, seed)
        self._served = DualServed.build(network, [reply for _, reply in pairs], options)
        self._about = About(
            bot=self.NAME,
            options=options,
            seed=seed,
            data=data_digest(known),
            versions=training.versions(),
            vocabulary=network.table.vocabulary.listed,
            replies=self._served.replies,
            history=history,
        )

    def save(self, path: Path) -> None:
        """Write what was learned."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        save_dual(path, self._ready(), self._about)

    def load(self, path: Path) -> None:
        """Read what was learned."""
        self._served, self._about = open_dual(path, self.NAME, self.device)

    def encode(self, replies: Sequence[str]) -> Any:
        """Return a row for each reply, as numpy's array."""
        return self._ready().embed(replies).cpu().numpy()

    def _ready(self) -> DualServed:
        if self._served is None:
            raise ValueError(f"{self.NAME} must be trained, or be given weights, first")
        return self._served

    def _offering(self) -> DualServed:
        """Return what it serves; a whitelist that is new, or was edited, is encoded first."""
        served = self._ready()
        if not self.whitelist:
            return served
        path = Path(self.whitelist)
        stamp = whitelists.stamp(path)
        if stamp != self._stamp:
            replies = whitelists.replies(whitelists.read(path))
            self._whitelisted, self._stamp = served.offering(replies), stamp
        return self._whitelisted

    def _options(self) -> dict[str, Any]:
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init}  # type: ignore[arg-type]
        size = {"dimension": glove.SIZE} if self.vectors == "glove" else {}
        return {**options, **self.FIXED, **size}

    def _start(self, found: Sequence[Example], options: dict[str, Any], seed: int) -> DualEncoder:
        counted = count_words(text for each in found for text in (*each.persona, each.reply))
        listed = sorted(word for word, number in counted.items() if number >= self.least_count)
        with training.seeded(seed):
            network = make_dual(listed, options)
            network.table.start(counted)
        if self.vectors == "glove":
            network.table.take_glove()
        network.table.weight.requires_grad_(not self.frozen)
        return network.to(training.device(self.device))

    def _fit(
        self, network: DualEncoder, data: tuple[Sequence[Example], Sequence[Example]], seed: int
    ) -> tuple[dict[str, float], ...]:
        recipe = Recipe(
            self.loss, self.negatives, self.margin, self.context_words, self.reply_words
        )
        plan = training.Plan(
            self.epochs, self.batch, self.patience, seed, self.NAME, schedule=noam(self.warmup)
        )
        found, seen = (items_of(network.table, part, recipe) for part in data)
        learned = [each for each in network.parameters() if each.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=self.rate)
        return train_dual(network, optimizer, (found, seen), recipe, plan)
