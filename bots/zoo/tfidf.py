"""TF-IDF retrieval baseline, in two modes.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.1: find the training message
most similar to the query (`cosine`: of bags of words weighted by tf-idf) and answer with the reply
that followed it; the persona is part of the query. `released` is the similarity of the authors'
code: the sum over shared words of 1 / (1 + ln(1 + frequency)), divided by
(sqrt(distinct words of the candidate) x sqrt(words of the query)) ^ 0.5 where that is above 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Utterance, examples, no_reply
from bots.guards.filters import choose, nearest_to_try, speakable
from bots.options import option
from bots.text.tokens import words

Floats = np.ndarray


@dataclass
class Tfidf:
    """Answers as people did after the most similar message."""

    weights: str = option("", "Directory of its counts")
    mode: Literal["cosine", "released"] = option("cosine", "Similarity measure")
    history: int = option(1, "Last messages in the query", least=1)
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    candidates: int = option(50000, "Maximum replies to choose from", least=1, trained=True)
    _index: _Index | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation: the best reply that was not given yet."""
        index, replies = self._ready(), self._replies()
        scores = index.search(self._query(persona, history), self.mode)
        order = np.argsort(-scores, kind="stable")[: nearest_to_try(self.nearest, history)]
        ranked = ((replies[position], float(scores[position])) for position in order)
        return choose(ranked, history, self.max_words)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the similarity of the query with each candidate."""
        query = self._query(persona, history)
        return [self._ready().similarity(query, words(each), self.mode) for each in candidates]

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Count words, and index the messages that have a reply fit to be said.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        found = list(examples(known))
        if not found:
            raise no_reply(known)
        texts = [turn.text for each in known for turn in each.turns]
        texts += [text for each in known for text in (*each.persona, *each.partner_persona)]
        pairs = speakable(found, self.candidates, self.max_words, seed)
        self._index = _Index.build([words(text) for text in texts], [words(m) for m, _ in pairs])
        self._about = on_disk.About(
            bot="tfidf",
            options={"candidates": self.candidates},
            seed=seed,
            data=on_disk.data_digest(known),
            versions={name: version(name) for name in ("numpy", "safetensors")},
            vocabulary=tuple(self._index.numbers),
            replies=tuple(reply for _, reply in pairs),
        )

    def save(self, path: Path) -> None:
        """Write the counts."""
        self._replies()
        assert self._about is not None  # noqa: S101
        on_disk.save(path, self._ready().arrays, self._about)

    def load(self, path: Path) -> None:
        """Read the counts."""
        arrays, about = on_disk.load(path, "tfidf")
        self._index, self._about = _Index(about.vocabulary, arrays), about

    def _query(self, persona: Sequence[str], history: Sequence[Utterance]) -> list[str]:
        texts = [turn.text for turn in history[-self.history :]]
        return words(" ".join([*texts, *persona]))

    def _ready(self) -> _Index:
        if self._index is None:
            raise ValueError("tfidf must be trained, or be given weights, first")
        return self._index

    def _replies(self) -> Sequence[str]:
        if self._about is None:
            raise ValueError("tfidf must be trained, or be given weights, first")
        return self._about.replies


class _Index:
    """Postings: for each word the messages that hold it, and how often."""

    def __init__(self, listed: Sequence[str], arrays: Mapping[str, Floats]) -> None:
        self.arrays = arrays
        self.numbers = {word: number for number, word in enumerate(listed)}
        self.total = int(arrays["total"][0])
        self.lengths = arrays["lengths"]
        self.idf = np.log((1 + self.total) / (0.5 + arrays["documents"]))
        self.rarity = 1 / (1 + np.log1p(arrays["frequencies"]))
        self.norms = self._norms()

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]], messages: Sequence[Sequence[str]]) -> _Index:
        """Count words in all texts, and list the messages under their words."""
        documents = Counter(word for text in texts for word in set(text))
        frequencies = Counter(word for text in texts for word in text)
        listed = sorted(documents)
        counted = [Counter(message) for message in messages]
        postings: dict[str, list[tuple[int, int]]] = {word: [] for word in listed}
        for index, bag in enumerate(counted):
            for word, count in bag.items():
                postings[word].append((index, count))
        flat = [entry for word in listed for entry in postings[word]]
        return cls(
            listed,
            {
                "total": np.array([len(texts)]),
                "documents": np.array([documents[word] for word in listed]),
                "frequencies": np.array([frequencies[word] for word in listed]),
                "starts": np.cumsum([0, *(len(postings[word]) for word in listed)]),
                "places": np.array([index for index, _ in flat], dtype=np.int64),
                "counts": np.array([count for _, count in flat], dtype=np.int64),
                "lengths": np.array([len(bag) for bag in counted], dtype=np.int64),
            },
        )

    def _norms(self) -> Floats:
        words_of = np.repeat(np.arange(len(self.idf)), np.diff(self.arrays["starts"]))
        squares = (self.arrays["counts"] * self.idf[words_of]) ** 2
        sums = np.bincount(self.arrays["places"], squares, minlength=len(self.lengths))
        return np.sqrt(np.maximum(sums, 1e-12))

    def search(self, query: Sequence[str], mode: str) -> Floats:
        """Return the similarity of the query with every message."""
        scores = np.zeros(len(self.lengths))
        starts, cosine = self.arrays["starts"], mode == "cosine"
        for word, count in Counter(query).items():
            number = self.numbers.get(word)
            if number is not None:
                held = slice(starts[number], starts[number + 1])
                gain = self.arrays["counts"][held] * self.idf[number] ** 2 * count
                indices = self.arrays["places"][held]
                scores[indices] += gain if cosine else self.rarity[number]
        if cosine:
            found: Floats = scores / self.norms / (self._norm(Counter(query)) or 1.0)
            return found
        return scores / np.maximum(1.0, (self.lengths * len(query)) ** 0.25)

    def similarity(self, query: Sequence[str], text: Sequence[str], mode: str) -> float:
        """Return the similarity of the query with one text."""
        wanted, held = Counter(query), Counter(text)
        shared = wanted.keys() & held.keys()
        if mode == "released":
            gained = math.fsum(self._rarity(word) for word in shared)
            return gained / max(1.0, math.sqrt(math.sqrt(len(held) * len(query))))
        product = math.fsum(wanted[word] * held[word] * self._idf(word) ** 2 for word in shared)
        return product / ((self._norm(wanted) * self._norm(held)) or 1.0)

    def _norm(self, bag: Counter[str]) -> float:
        return math.hypot(*self._weights(bag))

    def _weights(self, bag: Counter[str]) -> Iterator[float]:
        return (count * self._idf(word) for word, count in bag.items())

    def _idf(self, word: str) -> float:
        number = self.numbers.get(word)
        return math.log((1 + self.total) / 0.5) if number is None else float(self.idf[number])

    def _rarity(self, word: str) -> float:
        number = self.numbers.get(word)
        return 1.0 if number is None else float(self.rarity[number])


BOT = Tfidf
