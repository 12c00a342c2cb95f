"""Dual-encoder bots: all but the options that only one of them has.

Long because the network they serve, and its file, stand here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from bots import weights
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Sides, Utterance, examples, no_reply
from bots.encoders.bags import Vocabulary, count_words
from bots.encoders.shortlist import RowSearch
from bots.encoders.text_encoder import Shape, TextEncoder, WordTable, encode_all
from bots.guards import whitelists
from bots.guards.filters import choose, nearest_to_try, speakable
from bots.learning import training
from bots.learning.restoring import shapes
from bots.options import option
from bots.rankers.dual import DualEncoder, Loss, Recipe, items_of, noam, train_dual
from bots.text import glove
from bots.weights import About, data_digest

MATRIX = "replies"  # the array that holds the encoded replies
NETWORK = "network."


@dataclass(frozen=True)
class DualServed:
    """A network with its encoded replies: `matrix` has a row per reply."""

    network: DualEncoder
    replies: tuple[str, ...]
    matrix: Tensor
    context_words: int
    reply_words: int

    @classmethod
    def build(
        cls, network: DualEncoder, replies: Sequence[str], options: Mapping[str, Any]
    ) -> DualServed:
        """Encode the replies."""
        network.eval()
        sizes = int(options["context_words"]), int(options["reply_words"])
        empty = torch.zeros(0, 0)
        return cls(network, (), empty, *sizes).offering(replies)

    def offering(self, replies: Sequence[str]) -> DualServed:
        """Return a copy with other replies to choose from, encoded now."""
        return replace(self, replies=tuple(replies), matrix=self.embed(replies))

    @cached_property
    def search(self) -> RowSearch:
        """The encoded replies as they are searched, rounded once where they are many."""
        return RowSearch(self.matrix)

    def queries(self, turns: Sequence[Turn]) -> Tensor:
        """Encode conversations."""
        most, table = self.context_words, self.network.table
        texts = [table.dialogue(persona, history, most) for persona, history in turns]
        return encode_all(self.network.queries, texts)

    def embed(self, replies: Sequence[str]) -> Tensor:
        """Encode replies."""
        table, most = self.network.table, self.reply_words
        return encode_all(self.network.embed, [table.text(reply, most) for reply in replies])

    def best(self, turns: Sequence[Turn], most: int) -> list[list[tuple[str, float]]]:
        """Return for each conversation the best replies, exactly: one product with all."""
        values, indices = self.search.best(self.queries(turns), most)
        return [
            [(self.replies[index], score) for index, score in zip(*row, strict=True)]
            for row in zip(indices.tolist(), values.tolist(), strict=True)
        ]

    def scores(self, turn: Turn, candidates: Sequence[str]) -> list[float]:
        """Score the candidates of one conversation."""
        found: list[float] = (self.embed(candidates) @ self.queries([turn])[0]).tolist()
        return found


def make_dual(listed: Sequence[str], options: Mapping[str, Any]) -> DualEncoder:
    """Build an untrained network as the options say; of heads, none pools the last states."""
    vocabulary = Vocabulary(listed, int(options["hashed"]))
    table = WordTable(vocabulary, int(options["dimension"]))
    shape = Shape(
        options["cell"],
        int(options["layers"]),
        int(options["hidden"]),
        int(options.get("heads", 0)),
        int(options.get("attention", 1)),
        float(options["dropout"]),
    )
    contexts, replies = TextEncoder(table, shape), TextEncoder(table, shape)
    replies.load_state_dict(contexts.state_dict())  # they start alike, and part while they learn
    return DualEncoder(table, contexts, replies, bilinear=not options.get("heads", 0))


def save_dual(path: Path, served: DualServed, about: weights.About) -> None:
    """Write the network, each array once, and the encoded replies."""
    named = dict(served.network.named_parameters())
    arrays = {NETWORK + name: each.detach().cpu().numpy() for name, each in named.items()}
    weights.save(path, {**arrays, MATRIX: served.matrix.cpu().numpy()}, about)


def open_dual(path: Path, bot: str, device: str) -> tuple[DualServed, weights.About]:
    """Read what `save_dual` wrote for this bot, onto a device."""
    arrays, about = weights.load(path, bot)
    where = training.device(device)
    network = make_dual(about.vocabulary, about.options).to(where)
    _fill(network, arrays, len(about.replies))
    network.eval()
    sizes = int(about.options["context_words"]), int(about.options["reply_words"])
    matrix = torch.from_numpy(arrays[MATRIX]).to(where)
    return DualServed(network, about.replies, matrix, *sizes), about


def _fill(network: DualEncoder, arrays: weights.Arrays, replies: int) -> None:
    named = dict(network.named_parameters())
    arrays.fit({**shapes(named, NETWORK), MATRIX: (replies, network.contexts.reader.width)})
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(torch.from_numpy(arrays[NETWORK + name]))


@dataclass
class DualBot:
    """Replies with the text whose encoding has the largest product with the conversation's.

    `sides`, `loss` and `margin` are options only of a bot whose recipe leaves them open.
    """

    NAME: ClassVar[str]
    FIXED: ClassVar[Mapping[str, object]] = {}  # of the network, where the recipe leaves no choice
    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    whitelist: str = option("", "File of the only replies it may give, see `bots whitelist`")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Best replies to try before giving up", least=1)
    layers: int = option(1, "Layers of cells", least=1, trained=True)
    hidden: int = option(48, "Units of a layer, in each direction", least=1, trained=True)
    dropout: float = option(0.0, "Dropout between layers", least=0, most=0.9, trained=True)
    vectors: Literal["learned", "glove"] = option("learned", "Initial word vectors", trained=True)
    frozen: bool = option(False, "Keep the initial word vectors", trained=True)
    dimension: int = option(64, "Length of a learned word vector", least=2, trained=True)
    hashed: int = option(512, "Vectors shared by unlisted words", least=0, trained=True)
    least_count: int = option(2, "Minimum count of a listed word", least=1, trained=True)
    context_words: int = option(40, "Last words read of a conversation", least=1, trained=True)
    reply_words: int = option(30, "First words read of a reply", least=1, trained=True)
    negatives: int = option(64, "Wrong replies per step", least=1, trained=True)
    rate: float = option(0.005, "Highest learning rate", least=0, trained=True)
    warmup: int = option(10, "Steps until the highest learning rate", least=1, trained=True)
    batch: int = option(64, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "Maximum passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs without improvement before it stops", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues held out", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Maximum replies to choose from", least=1, trained=True)
    sides: Sides = field(default="both", init=False)
    loss: Loss = field(default="softmax", init=False)
    margin: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._served: DualServed | None = None
        self._about: About | None = None
        self._stamp = (0, 0)
        if self.weights:
            self.load(Path(self.weights))
            self._offering()

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass: the best reply that was not given yet."""
        if not turns:
            return []
        most = max(nearest_to_try(self.nearest, history) for _, history in turns)
        ranked = self._offering().best(turns, most)
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
        """Learn both encoders, and encode the replies to choose from.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        learned, watched = training.hold_out(known, self.held_out, seed)
        found, held_out = (list(examples(each, self.sides)) for each in (learned, watched))
        if not found:
            raise no_reply(known)
        pairs = speakable([*found, *held_out], self.candidates, self.max_words, seed)
        options = self._options()
        network = self._start(found, options, seed)
        history = self._fit(network, (found, held_out), seed)
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
        """Write the learned weights. Raises ValueError if it is untrained."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        save_dual(path, self._ready(), self._about)

    def load(self, path: Path) -> None:
        """Read the learned weights."""
        self._served, self._about = open_dual(path, self.NAME, self.device)

    def encode(self, replies: Sequence[str]) -> Any:
        """Return a row for each reply, as numpy's array."""
        return self._ready().embed(replies).cpu().numpy()

    def _ready(self) -> DualServed:
        if self._served is None:
            raise ValueError(f"{self.NAME} must be trained, or be given weights, first")
        return self._served

    def _offering(self) -> DualServed:
        """Return the served replies; a whitelist that is new, or was edited, is encoded first."""
        served = self._ready()
        if not self.whitelist:
            return served
        path = Path(self.whitelist)
        stamp = whitelists.stamp(path)
        if stamp != self._stamp:
            replies = whitelists.replies(whitelists.read_whitelist(path))
            self._whitelisted, self._stamp = served.offering(replies), stamp
        return self._whitelisted

    def _options(self) -> dict[str, Any]:
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
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
        found, held_out = (items_of(network.table, part, recipe) for part in data)
        learned = [each for each in network.parameters() if each.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=self.rate)
        return train_dual(network, optimizer, (found, held_out), recipe, plan)
