"""Random candidate: the lower bound of rankers, which knows nothing.

Source: none; a lower bound of our own for the tables of rankers. It ranks by lot, and in a chat
it says by lot something that was said in what it was trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np

from bots import weights as stored
from bots.bot import Reply
from bots.dialogue import Dialogue, Utterance, examples
from bots.guards.filters import choose, speakable
from bots.options import option

NAME = "random_candidate"


@dataclass
class RandomCandidate:
    """Draws at random; the same question has the same draw."""

    weights: str = option("", "Directory of the replies it gives in a conversation")
    seed: int = option(0, "Seed of its draws")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    candidates: int = option(1000, "Maximum replies to choose from", least=1, trained=True)
    _about: stored.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Send any reply that was not given yet."""
        known = () if self._about is None else self._about.replies
        lots = self.rank(persona, history, known)
        drawn = sorted(zip(known, lots, strict=True), key=lambda each: -each[1])
        return choose(drawn, history, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return a draw, uniform between 0 and 1, per candidate, whatever its position."""
        drawn_for = (self.seed, tuple(persona), [(turn.speaker, turn.text) for turn in history])
        return [_lot(repr((drawn_for, text))) for text in candidates]

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Keep replies."""
        known = list(dialogues)
        pairs = speakable(examples(known), self.candidates, self.max_words, seed)
        self._about = stored.About(
            bot=NAME,
            options={"candidates": self.candidates},
            seed=seed,
            data=stored.data_digest(known),
            versions={},
            replies=tuple(reply for _, reply in pairs),
        )

    def save(self, path: Path) -> None:
        """Write the replies. Raises ValueError if it is untrained."""
        if self._about is None:
            raise ValueError("nothing to save: train, or load weights, first")
        stored.save(path, {"kept": np.array([len(self._about.replies)])}, self._about)

    def load(self, path: Path) -> None:
        """Read the replies. Raises InvalidWeights if they are of another bot."""
        about = stored.read_about(path)
        if about.bot != NAME:
            raise stored.InvalidWeights(f"{path} holds weights of {about.bot}, not of {NAME}")
        self._about = about


def _lot(text: str) -> float:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") / 2**64


BOT = RandomCandidate
