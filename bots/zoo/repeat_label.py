"""Repeated label: the upper bound of rankers, which knows all the answers.

Source: none; an upper bound of our own for the tables of rankers. It remembers what was said
after every history that it was trained on, so train it on the very dialogues that it is tested on:
where it misses, a table's task has two right answers, or a benchmark is broken. Of a history that
it does not know it knows nothing: candidates get lots, and in a chat it says something neutral.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np

from bots import weights as stored
from bots.bot import Reply
from bots.dialogue import Dialogue, Utterance, examples, no_reply
from bots.guards.filters import choose
from bots.options import option
from bots.text.tokens import key

NAME = "repeat_label"


@dataclass
class RepeatLabel:
    """Repeats the reply that followed the same history in its training data."""

    weights: str = option("", "Directory of the replies by history")
    max_words: int = option(30, "Maximum words of a reply, where possible", least=1)
    _histories: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)
    _replies: dict[int, list[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _about: stored.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Send the reply that followed this history."""
        return choose(((each, 1.0) for each in self._labels(history)), history, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return 1 plus a draw for the replies to this history, and a draw, below 1, for others."""
        labels = {key(each) for each in self._labels(history)}
        return [(key(text) in labels) + _number(text) / 2**64 for text in candidates]

    def _labels(self, history: Sequence[Utterance]) -> list[str]:
        return self._replies.get(_number(*(each.text for each in history)), [])

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Remember every reply of both sides.

        Raises `TooLittleData` if the dialogues hold no reply.
        """
        known = list(dialogues)
        found = list(examples(known))
        if not found:
            raise no_reply(known)
        histories = [_number(*(turn.text for turn in each.history)) for each in found]
        replies = [each.reply for each in found]
        self._remember(np.array(histories, dtype=np.uint64), replies)
        self._about = stored.About(
            bot=NAME,
            options={},
            seed=seed,
            data=stored.data_digest(known),
            versions={},
            replies=tuple(replies),
        )

    def _remember(self, histories: np.ndarray, replies: Sequence[str]) -> None:
        self._histories, self._replies = histories, {}
        for number, reply in zip(histories.tolist(), replies, strict=True):
            self._replies.setdefault(number, []).append(reply)

    def save(self, path: Path) -> None:
        """Write the remembered replies. Raises ValueError if it is untrained."""
        if self._about is None or self._histories is None:
            raise ValueError("nothing to save: train, or load weights, first")
        stored.save(path, {"asked": self._histories}, self._about)

    def load(self, path: Path) -> None:
        """Read the remembered replies."""
        arrays, about = stored.load(path, NAME)
        self._remember(arrays["asked"], about.replies)
        self._about = about


def _number(*texts: str) -> int:
    return int.from_bytes(sha256(repr(texts).encode()).digest()[:8], "big")


BOT = RepeatLabel
