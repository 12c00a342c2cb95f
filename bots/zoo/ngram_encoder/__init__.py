"""Dual encoder over unigrams and bigrams.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.2
(POLYAI-ENCODER): context and reply through separate networks: unigrams and bigrams, those not known
in hash buckets, have embeddings of their own; each kind goes through self-attention and is reduced
over time; both are combined, go through dense layers and get length 1; the product times a learned
scale is the score; in-batch softmax with label smoothing. The paper leaves sizes open. Our own, for
small data: both networks share the embeddings (shared=false: they do not), which start longer for
rarer n-grams; attention and dense layers are added to what they get, so that at first a text is the
sum of its n-grams; and the persona's sentence nearest to the reply counts as much as the context
(persona=joined: all of it is one text with the context, as models.md, section 0, has it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Example, Utterance, examples, no_reply
from bots.encoders.bags import count_words
from bots.guards.filters import speakable
from bots.learning import training
from bots.learning.restoring import restore
from bots.options import option
from bots.rankers import frozen
from bots.zoo.ngram_encoder.ngrams import Grams, NgramEncoder, NgramSizes, NgramTerms

PRESETS = {
    "paper": {
        "unigrams": 320,
        "bigrams": 320,
        "shared": False,
        "layers": 3,
        "dense": 1024,
        "output": 512,
        "learned": 10000000,
        "batch": 500,
        "epochs": 20,
        "persona": "joined",
    },
    "best": {
        "learned": 1000000,
        "unigrams": 512,
        "bigrams": 128,
        "output": 640,
        "epochs": 6,
        "patience": 2,
    },
}
Item = tuple[
    tuple[NgramTerms, ...], NgramTerms
]  # the context and sentences of the persona; the reply


@dataclass
class Ngrams:
    """Replies with the text whose n-grams fit those of the last messages and the persona."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    history: int = option(1, "Last messages to read", least=1, trained=True)
    persona: Literal["best", "joined", "ignored"] = option(
        "best", "Reading of the persona", trained=True
    )
    unigrams: int = option(256, "Length of a unigram's vector", least=2, trained=True)
    bigrams: int = option(64, "Length of a bigram's vector", least=2, trained=True)
    buckets: int = option(8192, "Vectors shared by unlisted n-grams", least=1, trained=True)
    least_count: int = option(3, "Minimum count of a listed word", least=1, trained=True)
    shared: bool = option(True, "Context and reply share the embeddings", trained=True)
    layers: int = option(1, "Dense layers before the last", least=0, trained=True)
    dense: int = option(128, "Units in each of them", least=2, trained=True)
    output: int = option(320, "Length of a text's vector", least=2, trained=True)
    smoothing: float = option(0.1, "Label smoothing", least=0, most=0.9, trained=True)
    rate: float = option(0.0003, "Learning rate", least=0, trained=True)
    learned: int = option(800, "Maximum examples to learn from", least=2, trained=True)
    batch: int = option(128, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "Maximum passes over the data", least=0, trained=True)
    patience: int = option(1, "Epochs without improvement before it stops", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues held out", least=0, most=0.5, trained=True)
    candidates: int = option(10000, "Maximum replies to choose from", least=1, trained=True)
    _network: NgramEncoder | None = field(default=None, init=False, repr=False, compare=False)
    _replies: Tensor | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass: the best reply that was not given yet."""
        if not turns:
            return []
        network, replies, about = self._ready()
        query = [self._query(network.grams, *turn) for turn in turns]
        with torch.inference_mode():
            scored = frozen.fit_all(network.grouped(query), replies)
        return frozen.best_replies(about.replies, list(scored), turns, self.nearest, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the cosine of the context, plus that of the nearest sentence, with each."""
        network, _, _ = self._ready()
        with torch.inference_mode():
            query = network.grouped([self._query(network.grams, persona, history)])
            offered = network.replies([network.grams.terms(text) for text in candidates])
            return frozen.as_floats(frozen.fit(query[0], offered))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Learn embeddings and networks, and keep replies to choose from.

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
        network = self._start(found, seed)
        items, held_out = (
            [self._item(network.grams, each) for each in part]
            for part in (found, examples(watched))
        )
        network.lengthen([term for query, reply in items for term in (*query, reply)])
        plan = training.Plan(self.epochs, self.batch, self.patience, seed, "ngram_encoder")
        step = torch.optim.Adam(network.parameters(), lr=self.rate)
        history = training.fit(
            network, step, items, held_out, lambda batch: self._loss(network, batch), plan
        )
        network.eval()
        replies = tuple(reply for _, reply in pairs)
        self._network, self._replies = network, network.vectors(replies)
        self._about = on_disk.About(
            bot="ngram_encoder",
            options={each.name: getattr(self, each.name) for each in fields(self) if each.init},
            seed=seed,
            data=on_disk.data_digest(known),
            versions=training.versions(),
            vocabulary=network.grams.listed,
            replies=replies,
            history=history,
        )

    def save(self, path: Path) -> None:
        """Write the learned weights."""
        network, replies, about = self._ready()
        arrays = {name: value.cpu().numpy() for name, value in network.state_dict().items()}
        on_disk.save(path, {**arrays, "cached": replies.cpu().numpy()}, about)

    def load(self, path: Path) -> None:
        """Read the learned weights."""
        arrays, about = on_disk.load(path, "ngram_encoder")
        where = training.device(self.device)
        self._network = self._make(about.vocabulary).to(where).eval()
        restore(self._network, arrays, {"cached": (len(about.replies), self.output)})
        self._replies, self._about = torch.from_numpy(arrays["cached"]).to(where), about

    def _ready(self) -> tuple[NgramEncoder, Tensor, on_disk.About]:
        if self._network is None or self._replies is None or self._about is None:
            raise ValueError("ngram_encoder must be trained, or be given weights, first")
        return self._network, self._replies, self._about

    def _start(self, found: Sequence[Example], seed: int) -> NgramEncoder:
        counted = count_words(text for each in found for text in (*each.persona, each.reply))
        listed = sorted(word for word, count in counted.items() if count >= self.least_count)
        with training.seeded(seed):
            return self._make(listed).to(training.device(self.device))

    def _make(self, listed: Sequence[str]) -> NgramEncoder:
        sizes = NgramSizes(self.unigrams, self.bigrams, self.layers, self.dense, self.output)
        return NgramEncoder(Grams(listed, self.buckets), sizes, shared=self.shared)

    def _query(
        self, grams: Grams, persona: Sequence[str], history: Sequence[Utterance]
    ) -> tuple[NgramTerms, ...]:
        first = persona if self.persona == "joined" else ()
        context = " . ".join([*first, *(turn.text for turn in history[-self.history :])])
        lines = persona if self.persona == "best" else ()
        return tuple(grams.terms(text) for text in (context, *lines))

    def _item(self, grams: Grams, example: Example) -> Item:
        return self._query(grams, example.persona, example.history), grams.terms(example.reply)

    def _loss(self, network: NgramEncoder, batch: Sequence[Item]) -> Tensor:
        query = network.grouped([context for context, _ in batch])
        replies = network.replies([reply for _, reply in batch])
        scores = network.scale * frozen.fit_all(query, replies)
        right = torch.arange(len(batch), device=scores.device)
        return functional.cross_entropy(scores, right, label_smoothing=self.smoothing)


BOT = Ngrams
