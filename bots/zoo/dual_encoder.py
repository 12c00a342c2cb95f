"""B-DUAL: a fast dual encoder, SRU or LSTM, trained against shared negatives.

Source: the ASAPP paper of NLP4CONVAI 2019, sections 3 and 4: all messages as one text with speakers
marked, the last 500 words of it; the reply's first 100; two encoders of the same shape, pooled by
attention (here they start alike); k wrong replies drawn by frequency and shared by the batch; Adam
with the Noam schedule. In the paper word vectors are frozen fastText of 300 dimensions; here they
are learned, or GloVe of 50, because those come by package. A persona stands before the messages.
Defaults are of toy size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import torch

from bots import training
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Utterance, examples
from bots.filters import choose, speakable
from bots.layers.bags import count_words
from bots.layers.dual import DualEncoder, Recipe, items_of, noam, train_dual
from bots.layers.dual_serving import DualServed, make_dual, open_dual, save_dual
from bots.options import option
from bots.weights import About, data_digest

PRESETS = {
    "paper": {
        "cell": "sru",
        "layers": 4,
        "hidden": 300,
        "heads": 16,
        "attention": 64,
        "dimension": 300,
        "context_words": 500,
        "reply_words": 100,
        "loss": "softmax_outside",
        "negatives": 200,
        "batch": 200,
        "rate": 0.001,
        "warmup": 4000,
        "epochs": 30,
    },
    "paper_lstm": {
        "cell": "lstm",
        "layers": 2,
        "hidden": 300,
        "heads": 16,
        "attention": 64,
        "dimension": 300,
        "context_words": 500,
        "reply_words": 100,
        "loss": "softmax_outside",
        "negatives": 200,
        "batch": 200,
        "rate": 0.001,
        "warmup": 4000,
        "epochs": 30,
    },
}


@dataclass
class Dual:
    """Says the reply whose encoding has the largest product with the conversation's."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    max_words: int = option(15, "Replies are at most this long, where possible", least=1)
    nearest: int = option(50, "How many of the best replies it tries before giving up", least=1)
    cell: Literal["sru", "lstm", "gru"] = option("sru", "Which recurrent cell", trained=True)
    layers: int = option(1, "Layers of cells", least=1, trained=True)
    hidden: int = option(48, "Units of a layer, in each direction", least=1, trained=True)
    heads: int = option(2, "Heads of the attention that pools", least=1, trained=True)
    attention: int = option(16, "Size of a head", least=1, trained=True)
    dropout: float = option(0.0, "Between layers", least=0, most=0.9, trained=True)
    vectors: Literal["learned", "glove"] = option("learned", "Where words start", trained=True)
    frozen: bool = option(False, "Leave word vectors as they start", trained=True)
    dimension: int = option(64, "Length of a learned word vector", least=2, trained=True)
    hashed: int = option(512, "Vectors shared by unlisted words", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not listed", least=1, trained=True)
    context_words: int = option(40, "Last words read of a conversation", least=1, trained=True)
    reply_words: int = option(30, "First words read of a reply", least=1, trained=True)
    loss: Literal["softmax", "softmax_outside", "hinge"] = option(
        "softmax", "What is minimized; the paper's softmax leaves the right reply out", trained=True
    )
    negatives: int = option(64, "Wrong replies per step", least=1, trained=True)
    margin: float = option(0.25, "Margin of the hinge", least=0, trained=True)
    rate: float = option(0.005, "Highest learning rate", least=0, trained=True)
    warmup: int = option(10, "Steps until it is reached", least=1, trained=True)
    batch: int = option(64, "Examples per step", least=2, trained=True)
    epochs: int = option(3, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Most replies kept to choose from", least=1, trained=True)
    _served: DualServed | None = field(default=None, init=False, repr=False, compare=False)
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
        ranked = self._ready().best(turns, self.nearest)
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
        found, seen = list(examples(learned)), list(examples(watched))
        if not found:
            raise ValueError(f"{len(known)} dialogues hold no reply to learn from")
        options = self._options()
        network = self._start(found, options, seed)
        history = self._fit(network, (found, seen), seed)
        pairs = speakable([*found, *seen], self.candidates, self.max_words, seed)
        self._served = DualServed.build(network, [reply for _, reply in pairs], options)
        self._about = About(
            bot="dual_encoder",
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
        self._served, self._about = open_dual(path, "dual_encoder", self.device)

    def _ready(self) -> DualServed:
        if self._served is None:
            raise ValueError("dual_encoder must be trained, or be given weights, first")
        return self._served

    def _options(self) -> dict[str, Any]:
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return {**options, "dimension": 50} if self.vectors == "glove" else options

    def _start(self, found: Sequence[Example], options: dict[str, Any], seed: int) -> DualEncoder:
        texts = (text for each in found for text in (*each.persona, each.reply))
        counted = count_words(texts)
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
            self.epochs,
            self.batch,
            self.patience,
            seed,
            "dual_encoder",
            schedule=noam(self.warmup),
        )
        found, seen = (items_of(network.table, part, recipe) for part in data)
        learned = [each for each in network.parameters() if each.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=self.rate)
        return train_dual(network, optimizer, (found, seen), recipe, plan)


BOT = Dual
