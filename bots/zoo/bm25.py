"""TF-IDF and BM25 response rankers.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.1; the
constants are those of their released code (see `bots.encoders.lexical`): a reply scores by the
words it shares with the immediate context, which is the last message alone. A persona is not looked
at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from bots import weights as on_disk
from bots.bot import Reply, Turn
from bots.dialogue import Dialogue, Utterance, examples, no_reply
from bots.encoders.lexical import Postings, Statistics, count
from bots.guards.filters import choose, nearest_to_try, speakable
from bots.options import option


@dataclass
class Bm25:
    """Replies with the text that shares the most informative words with the last message."""

    weights: str = option("", "Directory of its counts")
    method: Literal["bm25", "tfidf"] = option("bm25", "Weighting of shared words")
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    nearest: int = option(50, "Nearest replies to try before giving up", least=1)
    buckets: int = option(65536, "Hash buckets of words", least=2, trained=True)
    candidates: int = option(50000, "Maximum replies to choose from", least=1, trained=True)
    _served: _Served | None = field(default=None, init=False, repr=False, compare=False)
    _about: on_disk.About | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self.load(Path(self.weights))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation: the best reply that was not given yet."""
        served, about = self._ready()
        query = served.query(_immediate(history), self.method)
        most = nearest_to_try(self.nearest, history)
        scores, indices = served.postings(self.method).best(query.indices, query.data, most)
        ranked = ((about.replies[p], float(s)) for p, s in zip(indices, scores, strict=True))
        return choose(ranked, history, self.max_words)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the score of each candidate for the last message."""
        served, _ = self._ready()
        query = served.query(_immediate(history), self.method)
        rows = served.weigh(count(candidates, served.buckets), self.method)
        scores: list[float] = (rows @ query.T).toarray()[:, 0].tolist()
        return scores

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None:
        """Count words, and keep replies fit to be said.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        known = list(dialogues)
        found = list(examples(known))
        if not found:
            raise no_reply(known)
        replies = tuple(
            reply for _, reply in speakable(found, self.candidates, self.max_words, seed)
        )
        texts = [turn.text for each in known for turn in each.turns]
        statistics = Statistics.of(count(texts, self.buckets))
        self._served = _Served(statistics, count(replies, self.buckets))
        self._about = on_disk.About(
            bot="bm25",
            options={"buckets": self.buckets, "candidates": self.candidates},
            seed=seed,
            data=on_disk.data_digest(known),
            versions={name: version(name) for name in ("numpy", "scipy", "safetensors")},
            replies=replies,
        )

    def save(self, path: Path) -> None:
        """Write the counts."""
        served, about = self._ready()
        on_disk.save(path, served.arrays(), about)

    def load(self, path: Path) -> None:
        """Read the counts."""
        arrays, about = on_disk.load(path, "bm25")
        self._served, self._about = _Served.of_arrays(arrays), about

    def _ready(self) -> tuple[_Served, on_disk.About]:
        if self._served is None or self._about is None:
            raise ValueError("bm25 must be trained, or be given weights, first")
        return self._served, self._about


def _immediate(history: Sequence[Utterance]) -> str:
    return history[-1].text if history else ""


@dataclass
class _Served:
    """Word statistics of the training set, and the kept replies, as counts."""

    statistics: Statistics
    replies: sparse.csr_array
    _postings: dict[str, Postings] = field(default_factory=dict)

    @property
    def buckets(self) -> int:
        return int(self.replies.shape[1])

    def weigh(self, counts: sparse.csr_array, method: str) -> sparse.csr_array:
        """Weight the counts of replies."""
        return self.statistics.bm25(counts) if method == "bm25" else self.statistics.tfidf(counts)

    def query(self, text: str, method: str) -> sparse.csr_array:
        """Return the query that the replies' weights are multiplied with."""
        counts = count([text], self.buckets)
        return counts if method == "bm25" else self.statistics.tfidf(counts)

    def postings(self, method: str) -> Postings:
        """Return the kept replies by word."""
        if method not in self._postings:
            self._postings[method] = Postings(self.weigh(self.replies, method))
        return self._postings[method]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all as arrays, to be saved."""
        return {
            "texts": np.array([self.statistics.texts]),
            "average": np.array([self.statistics.average]),
            "documents": self.statistics.documents,
            "starts": self.replies.indptr,
            "words": self.replies.indices,
            "counts": self.replies.data,
        }

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray]) -> _Served:
        """Return the inverse of `arrays`."""
        documents = arrays["documents"]
        statistics = Statistics(int(arrays["texts"][0]), documents, float(arrays["average"][0]))
        parts = (arrays["counts"], arrays["words"], arrays["starts"])
        shape = (len(arrays["starts"]) - 1, len(documents))
        return cls(statistics, sparse.csr_array(parts, shape=shape))


BOT = Bm25
