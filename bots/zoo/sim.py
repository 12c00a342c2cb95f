"""Cosine of frozen sentence vectors; nothing is learned.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.2: replies are
ranked by cosine(context, reply), the context being the last message. What the persona adds, the
cosine with its nearest sentence, is our own (persona=ignored is the paper's). "Training" only keeps
replies to choose from; candidates that are given are ranked without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import torch

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Utterance, examples, no_reply
from bots.encoders.sentences import Encode, encoder
from bots.guards.filters import speakable
from bots.learning import training
from bots.options import option
from bots.rankers import frozen

PRESETS = {"minilm": {"encoder": "minilm"}, "glove": {"encoder": "glove"}}


@dataclass
class Sim:
    """Replies with the text most like the last message and the persona."""

    weights: str = option(
        "", "Directory of the replies it may give; without them it only ranks", needed=False
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    persona: Literal["best", "ignored"] = option("best", "Use of the persona")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    encoder: Literal["hashed", "glove", "minilm"] = option(
        "hashed", "Encoder of texts", trained=True
    )
    candidates: int = option(10000, "Maximum replies to choose from", least=1, trained=True)
    _replies: torch.Tensor | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each with the best reply that was not given yet."""
        if not turns:
            return []
        vectors, about = self._ready()
        queries = frozen.query_vectors_of_all(self._encode(), turns, self.persona)
        scored = frozen.fit_all(queries, vectors)
        return frozen.best_replies(about.replies, list(scored), turns, self.nearest, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the cosine with the last message, plus that with the nearest persona sentence."""
        encode = self._encode()
        query = frozen.query_vectors(encode, persona, history, self.persona)
        return frozen.as_floats(frozen.fit(query, encode(candidates)))

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Keep replies fit to be said, with their vectors.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        found = list(examples(known))
        if not found:
            raise no_reply(known)
        pairs = speakable(found, self.candidates, self.max_words, seed)
        replies = tuple(reply for _, reply in pairs)
        self._replies = self._encode()(replies)
        self._about = on_disk.About(
            bot="sim",
            options={"encoder": self.encoder, "candidates": self.candidates},
            seed=seed,
            data=on_disk.data_digest(known),
            versions={name: version(name) for name in ("torch", "numpy", "safetensors")},
            replies=replies,
        )

    def save(self, path: Path) -> None:
        """Write the replies and their vectors."""
        vectors, about = self._ready()
        on_disk.save(path, {"replies": vectors.cpu().numpy()}, about)

    def load(self, path: Path) -> None:
        """Read what `save` wrote."""
        arrays, about = on_disk.load(path, "sim")
        size = self._encode()([""]).shape[1]
        arrays.fit({"replies": (len(about.replies), size)})
        where = training.device(self.device)
        self._replies, self._about = torch.from_numpy(arrays["replies"]).to(where), about

    def _encode(self) -> Encode:
        return encoder(self.encoder, str(training.device(self.device)))

    def _ready(self) -> tuple[torch.Tensor, on_disk.About]:
        if self._replies is None or self._about is None:
            raise on_disk.InvalidWeights(
                "sim has no replies to choose from: train, or give weights, first"
            )
        return self._replies, self._about


BOT = Sim
