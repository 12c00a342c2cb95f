"""Index of pairs searched by TF-IDF, and the features of a reply for a learned ranker.

Source: the Ruuh paper of NLP4CONVAI 2019, section 4, which names the parts but not their form:
weights, features and how groups are drawn are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from scipy import sparse

from bots.dialogue import Example, Utterance
from bots.encoders.lexical import Statistics, count
from bots.encoders.sentences import Encode
from bots.text.tokens import key, word_count

BUCKETS = 1 << 16
CONTEXT = 0.3  # of a context's similarity beside a message's
FEATURES = (
    "words shared with the message",
    "words shared with the context",
    "words shared with the nearest persona sentence",
    "vector like the message",
    "vector like the nearest persona sentence",
    "like what people replied to such messages",
    "length",
    "how often it is said",
    "is a question",
)
Floats = np.ndarray


@dataclass(frozen=True)
class Query:
    """The query: the last message, the two before it, and the persona."""

    message: str
    context: str
    persona: tuple[str, ...]

    @classmethod
    def of(cls, persona: Sequence[str], history: Sequence[Utterance]) -> Query:
        """Take the end of a history."""
        message = history[-1].text if history else ""
        return cls(message, " ".join(turn.text for turn in history[-3:-1]), tuple(persona))


@dataclass(frozen=True)
class IndexedPair:
    """A message with the ones before it, its reply, and the reply's count."""

    context: str
    message: str
    reply: str
    heard: int = 1
    dialogue: str = ""


class Index:
    """Pairs as sparse rows of tf-idf, with the vectors of their replies."""

    def __init__(
        self, pairs: Sequence[IndexedPair], statistics: Statistics, encode: Encode
    ) -> None:
        self.pairs = tuple(pairs)
        self.statistics = statistics
        self.encode = encode
        self.heard = {key(pair.reply): pair.heard for pair in pairs}

    @classmethod
    def build(cls, pairs: Sequence[IndexedPair], encode: Encode) -> Index:
        """Count the words of messages and replies."""
        texts = [text for pair in pairs for text in (pair.message, pair.reply)]
        return cls(pairs, Statistics.of(count(texts, BUCKETS)), encode)

    @cached_property
    def messages(self) -> sparse.csr_array:
        """The messages."""
        return self._lexical_rows([pair.message for pair in self.pairs])

    @cached_property
    def contexts(self) -> sparse.csr_array:
        """The contexts before the messages."""
        return self._lexical_rows([pair.context for pair in self.pairs])

    def _lexical_rows(self, texts: Sequence[str]) -> sparse.csr_array:
        return self.statistics.tfidf(count(texts, BUCKETS))

    def _like(self, rows: sparse.csr_array, texts: Sequence[str]) -> Floats:
        """Return the cosine of each row with each text."""
        found: Floats = (rows @ self._lexical_rows(texts).T).toarray()
        return found

    def similarity(self, query: Query) -> Floats:
        """Return the similarity of each pair's message and context with the query's."""
        message, context = ([query.message], [query.context])
        found: Floats = self._like(self.messages, message)[:, 0]
        return found + CONTEXT * self._like(self.contexts, context)[:, 0]

    def fetch(self, query: Query, most: int, without: str = "") -> dict[int, float]:
        """Return the most similar pairs, index to similarity, those of one dialogue left out."""
        scores = self.similarity(query)
        order = np.argsort(-scores, kind="stable")[: most + 50].tolist()
        indices = [p for p in order if not without or self.pairs[p].dialogue != without]
        return {index: float(scores[index]) for index in indices[:most]}

    def features(
        self, query: Query, replies: Sequence[str], most: int, without: str = ""
    ) -> Floats:
        """Return a row for each reply, of `FEATURES`."""
        rows = self._lexical_rows(replies)
        near = self.fetch(query, most, without)
        followed = self._like(rows, [self.pairs[index].reply for index in near])
        weighted = np.hstack((followed * list(near.values()), np.zeros((len(replies), 1))))
        persona = query.persona or ("",)
        vectors = self.encode(replies).numpy()
        query_vectors = self.encode([query.message, *persona]).numpy()
        likeness = vectors @ query_vectors.T
        return np.column_stack(
            [
                self._like(rows, [query.message])[:, 0],
                self._like(rows, [query.context])[:, 0],
                self._like(rows, persona).max(axis=1),
                likeness[:, 0],
                likeness[:, 1:].max(axis=1),
                weighted.max(axis=1),
                np.log1p([word_count(reply) for reply in replies]),
                np.log1p([self.heard.get(key(reply), 0) for reply in replies]),
                [float("?" in reply) for reply in replies],
            ]
        ).astype(np.float32)

    def groups(self, found: Sequence[Example], wrong: int, most: int, seed: int) -> Floats:
        """Return features (example, candidate, feature), the right reply first.

        Of the wrong ones half are fetched and half drawn at random; no pair of the example's own
        dialogue helps it.
        """
        chance = Random(seed)  # noqa: S311
        rows = []
        for example in found:
            query = Query.of(example.persona, example.history)
            fetched = self.fetch(query, wrong // 2, example.dialogue)
            drawn = chance.choices(range(len(self.pairs)), k=wrong - len(fetched))
            others = [self.pairs[index].reply for index in (*fetched, *drawn)]
            rows.append(self.features(query, [example.reply, *others], most, example.dialogue))
        return np.stack(rows)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the counts, and the frequencies of replies, to be saved."""
        contexts = "\0".join(pair.context for pair in self.pairs)
        return {
            "documents": self.statistics.documents,
            "counted": np.array([self.statistics.texts, self.statistics.average]),
            "heard": np.array([pair.heard for pair in self.pairs]),
            "contexts": np.frombuffer(contexts.encode(), dtype=np.uint8),
        }

    @classmethod
    def open(
        cls,
        arrays: Mapping[str, Any],
        messages: Sequence[str],
        replies: Sequence[str],
        encode: Encode,
    ) -> Index:
        """Return the index of these messages and replies."""
        texts, average = arrays["counted"].tolist()
        contexts = arrays["contexts"].tobytes().decode().split("\0")
        heard = arrays["heard"].tolist()
        pairs = [
            IndexedPair(*each) for each in zip(contexts, messages, replies, heard, strict=True)
        ]
        return cls(pairs, Statistics(int(texts), arrays["documents"], average), encode)
