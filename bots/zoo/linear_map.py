"""Learned linear map of the reply's vector over frozen sentence vectors.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.2: score
<x, (W + alpha I) y> of unit vectors x of the context and y of the reply, W and alpha learned on
10,000 examples with the in-batch softmax, learning rate and regularization swept on a dev split.
From the released code: W orthogonal and alpha 1 at the start, Adagrad, batches of 256, label
smoothing 0.2, rates {10, 3, 1, 0.3, 0.01} by penalties {0, 0.1, 0.01, 0.001}, at most 100 epochs, a
fifth of the examples as dev split; the mapped vector is not made of length 1 again. `preset=paper`
is that sweep; the default is a smaller one, and W starts at 0, from where few examples get further.
What the persona adds, the same score with its nearest sentence, is our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Utterance, examples, no_reply
from bots.encoders.sentences import Encode, encoder
from bots.guards.filters import speakable
from bots.learning import training
from bots.learning.restoring import restore
from bots.options import option
from bots.rankers import frozen

PRESETS = {
    "paper": {
        "encoder": "minilm",
        "persona": "ignored",
        "start": "orthogonal",
        "rates": "10 3 1 0.3 0.01",
        "penalties": "0 0.1 0.01 0.001",
        "epochs": 100,
        "patience": 5,
        "scale": 1.0,
    },
    "minilm": {"encoder": "minilm", "rates": "0.0003 0.001 0.003", "epochs": 12},
}
Item = tuple[Tensor, Tensor]  # the vectors of a context: last message and persona; of the reply


@dataclass
class LinearMap:
    """Replies with the text whose mapped vector fits the last message and the persona."""

    weights: str = option("", "Directory of the map and the replies")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    encoder: Literal["hashed", "glove", "minilm"] = option(
        "hashed", "Encoder of texts", trained=True
    )
    persona: Literal["best", "ignored"] = option("best", "Use of the persona", trained=True)
    start: Literal["zero", "orthogonal"] = option("zero", "Initial W", trained=True)
    rates: str = option("0.0003 0.001", "Learning rates to try", trained=True)
    penalties: str = option("0.001", "Weights of W squared to try", trained=True)
    scale: float = option(10.0, "Factor of scores in the softmax", least=0, trained=True)
    smoothing: float = option(0.2, "Label smoothing", least=0, most=0.9, trained=True)
    batch: int = option(256, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "Maximum passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs without improvement before it stops", least=1, trained=True)
    learned: int = option(10000, "Maximum examples to learn from", least=2, trained=True)
    held_out: float = option(0.2, "Share of dialogues held out", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Maximum replies to choose from", least=1, trained=True)
    _map: Map | None = field(default=None, init=False, repr=False, compare=False)
    _replies: Tensor | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("rates", "penalties"):
            _numbers(name, getattr(self, name))
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each with the best reply that was not given yet."""
        if not turns:
            return []
        _, mapped, about = self._ready()
        queries = frozen.query_vectors_of_all(self._encode(), turns, self.persona)
        scored = frozen.fit_all(queries, mapped)
        return frozen.best_replies(about.replies, list(scored), turns, self.nearest, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return <x, (W + alpha I) y> of the last message, plus that of the nearest sentence."""
        learned, _, _ = self._ready()
        encode = self._encode()
        query = frozen.query_vectors(encode, persona, history, self.persona)
        with torch.inference_mode():
            return frozen.as_floats(frozen.fit(query, learned(encode(candidates))))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn the map, and keep replies to choose from.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found = list(examples(learned))
        if not found:
            raise no_reply(known)
        with training.seeded(seed) as chance:
            found = chance.sample(found, min(self.learned, len(found)))
        pairs = speakable([*found, *examples(watched)], self.candidates, self.max_words, seed)
        encode = self._encode()
        items, held_out = self._items(encode, found), self._items(encode, list(examples(watched)))
        self._map, history = self._sweep(items, held_out, seed)
        replies = tuple(reply for _, reply in pairs)
        with torch.inference_mode():
            self._replies = self._map(encode(replies)).clone()
        self._about = on_disk.About(
            bot="linear_map",
            options={each.name: getattr(self, each.name) for each in fields(self) if each.init},
            seed=seed,
            data=on_disk.data_digest(known),
            versions=training.versions(),
            replies=replies,
            history=history,
        )

    def _items(self, encode: Encode, found: Sequence[Example]) -> list[Item]:
        once = frozen.remembered(encode)
        query = [
            frozen.query_vectors(once, each.persona, each.history, self.persona) for each in found
        ]
        replies = encode([each.reply for each in found])
        return list(zip(query, replies, strict=True))

    def _sweep(
        self, items: Sequence[Item], held_out: Sequence[Item], seed: int
    ) -> tuple[Map, tuple[dict[str, float], ...]]:
        """Learn with every rate and penalty; keep what is best on the watched examples."""
        tried = []
        for rate in _numbers("rates", self.rates):
            for penalty in _numbers("penalties", self.penalties):
                learned, history = self._learn(items, held_out, seed, rate, penalty)
                best = min((entry["held_out"] for entry in history), default=0.0)
                tried.append((best, learned, history))
        _, learned, history = min(tried, key=lambda each: each[0])
        return learned, history

    def _learn(
        self,
        items: Sequence[Item],
        held_out: Sequence[Item],
        seed: int,
        rate: float,
        penalty: float,
    ) -> tuple[Map, tuple[dict[str, float], ...]]:
        with training.seeded(seed):
            learned = Map(items[0][1].shape[0], self.start).to(training.device(self.device))
        title = f"linear_map {rate:g} {penalty:g}"
        plan = training.Plan(self.epochs, self.batch, self.patience, seed, title)

        def loss(batch: Sequence[Item]) -> Tensor:
            mapped = learned(torch.stack([reply for _, reply in batch]))
            scores = self.scale * frozen.fit_all([query for query, _ in batch], mapped)
            right = torch.arange(len(batch), device=scores.device)
            cost = functional.cross_entropy(scores, right, label_smoothing=self.smoothing)
            return cost + penalty * learned.weight.square().sum() if learned.training else cost

        step = torch.optim.Adagrad(learned.parameters(), lr=rate)
        history = training.fit(learned, step, items, held_out, loss, plan)
        return learned.eval(), tuple({**entry, "rate": rate, "l2": penalty} for entry in history)

    def save(self, path: Path) -> None:
        """Write the map and the mapped vectors of the replies."""
        learned, mapped, about = self._ready()
        arrays = {name: value.cpu().numpy() for name, value in learned.state_dict().items()}
        on_disk.save(path, {**arrays, "replies": mapped.cpu().numpy()}, about)

    def load(self, path: Path) -> None:
        """Read what `save` wrote."""
        arrays, about = on_disk.load(path, "linear_map")
        size, where = self._encode()([""]).shape[1], training.device(self.device)
        self._map = Map(size, "zero").to(where).eval()
        restore(self._map, arrays, {"replies": (len(about.replies), size)})
        self._replies, self._about = torch.from_numpy(arrays["replies"]).to(where), about

    def _encode(self) -> Encode:
        return encoder(self.encoder, str(training.device(self.device)))

    def _ready(self) -> tuple[Map, Tensor, on_disk.About]:
        if self._map is None or self._replies is None or self._about is None:
            raise ValueError("linear_map must be trained, or be given weights, first")
        return self._map, self._replies, self._about


class Map(nn.Module):
    """(W + alpha I) y."""

    def __init__(self, size: int, start: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size, size))
        if start == "orthogonal":
            nn.init.orthogonal_(self.weight)
        self.alpha = nn.Parameter(torch.tensor([1.0]))

    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors of replies."""
        mapped: Tensor = vectors @ self.weight.T + self.alpha * vectors
        return mapped


def _numbers(name: str, text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split()]
    except ValueError:
        found = []
    if not found or min(found) < 0:
        raise ValueError(
            f"{name} is {text!r}, but must be numbers of 0 or more, with spaces between"
        )
    return found


BOT = LinearMap
