"""Constant string of frequent words, which word F1 prefers to many a trained model.

Source: Dinan et al. 2019 (ConvAI2), the constant reply of the discussion of automatic metrics. By
default it says the paper's string. Trained, it makes one of its own: of the most frequent words,
always the one that raises mean F1 on held-out replies most, until none does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from bots import weights as stored
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, TooLittleData, Utterance, examples
from bots.guards.filters import safe_reply
from bots.learning.splits import hold_out_personas
from bots.options import option
from bots.text.tokens import normalize_answer
from bots.weights import About, data_digest


@dataclass
class ToyF1:
    """Sends one text whatever the message."""

    weights: str = option(
        "", "Directory of trained weights; without them it sends `text`", needed=False
    )
    text: str = option("i am you to do and your is like", "Text of its replies", trained=True)
    frequent: int = option(200, "Frequent words to choose among", least=1, trained=True)
    longest: int = option(20, "Maximum words of its text", least=1, trained=True)
    held_out: float = option(
        0.2, "Share of dialogues to measure F1 on", least=0.01, most=0.9, trained=True
    )
    _about: About | None = field(default=None, init=False, repr=False, compare=False)
    _gains: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Say it."""
        return safe_reply(self.text, history)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Say it to all."""
        return [self.respond(*turn) for turn in turns]

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Choose words. Raises `TooLittleData` if the dialogues hold no reply to learn from."""
        known = list(dialogues)
        learned, held = hold_out_personas(known, self.held_out, seed)
        heard, wanted = _replies(learned), _replies(held)
        if not heard or not wanted:
            raise TooLittleData(
                f"{len(known)} dialogues are too few: there must be replies both to find frequent "
                "words in and, of other people, to measure F1 on"
            )
        counted = Counter(word for reply in heard for word in reply)
        ordered = sorted(counted, key=lambda word: (-counted[word], word))[: self.frequent]
        chosen, self._gains = choose_words(ordered, wanted, self.longest)
        self.text = " ".join(chosen)
        self._about = About(
            bot=self.title,
            options={each.name: getattr(self, each.name) for each in fields(self) if each.init},
            seed=seed,
            data=data_digest(known),
            versions={"numpy": np.__version__},
            replies=(self.text,),
        )

    @property
    def title(self) -> str:
        """The bot's name, which its weights carry."""
        return __name__.rpartition(".")[2]

    def save(self, path: Path) -> None:
        """Write the text, and what each word added to F1. Raises ValueError if it is untrained."""
        if self._about is None or self._gains is None:
            raise ValueError("nothing to save: train, or load weights, first")
        stored.save(path, {"gains": self._gains}, self._about)

    def load(self, path: Path) -> None:
        """Read the text."""
        arrays, about = stored.load(path, self.title)
        self._gains, self._about, self.text = arrays["gains"], about, about.replies[0]


def _replies(dialogues: Sequence[Dialogue]) -> list[list[str]]:
    found = (normalize_answer(each.reply).split() for each in examples(dialogues))
    return [words for words in found if words]


def choose_words(
    words: Sequence[str], replies: Sequence[Sequence[str]], most: int
) -> tuple[list[str], np.ndarray]:
    """Return the words chosen one by one, and how much each raised the replies' mean F1.

    F1 of n words that share k with a reply of m is 2k / (n + m), as no word is chosen twice.
    """
    indices = {word: index for index, word in enumerate(words)}
    present = np.zeros((len(replies), len(words)))
    for row, reply in enumerate(replies):
        present[row, [indices[word] for word in reply if word in indices]] = 1
    lengths = np.array([len(reply) for reply in replies])[:, None]
    shared, best = np.zeros((len(replies), 1)), 0.0
    chosen: list[str] = []
    gains: list[float] = []
    while len(chosen) < min(most, len(words)):
        means = (2 * (shared + present) / (len(chosen) + 1 + lengths)).mean(0)
        means[[indices[word] for word in chosen]] = 0
        index = int(means.argmax())
        if means[index] <= best:
            break
        chosen.append(words[index])
        gains.append(means[index] - best)
        shared, best = shared + present[:, index, None], means[index]
    return chosen, np.array(gains)


BOT = ToyF1
