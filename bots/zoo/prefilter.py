"""TF-IDF filter around a ranker: it leaves few of very many candidates to choose from.

Source: the DSTC7 overview of NLP4CONVAI 2019: on the set with 120,000 candidates the best entry
first took the 100 most similar by TF-IDF. How words are weighted it does not say; here as in
`bots.encoders.lexical`, counted over the candidates. What is filtered out ranks below all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bots import registry
from bots.bot import Ranker, Reply, Turn
from bots.dialogue import Utterance
from bots.encoders.lexical import Postings, Statistics, count
from bots.guards import whitelists
from bots.guards.filters import choose, safe
from bots.options import InvalidOption, check_options, option

BUCKETS = 1 << 17


@dataclass
class Prefilter:
    """Replies with another ranker's choice among the most similar replies."""

    bot: str = option("sim", "Ranker that chooses")
    options: dict[str, Any] = option({}, "That bot's options")  # noqa: RUF009
    keep: int = option(100, "Candidates to keep", least=1)
    pool: str = option(
        "", "File of replies, as written by `bots whitelist`; empty: those of the demo"
    )
    history: int = option(2, "Last messages to compare", least=1)
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)

    def __post_init__(self) -> None:
        check_options(self.bot, registry.bot_options(self.bot), self.options)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        pool = _pool(self.pool, whitelists.stamp(Path(self.pool)) if self.pool else None)
        _, indices = self._kept(persona, history, pool)
        kept = [pool[index] for index in indices]
        scores = self._inner().rank(persona, history, kept)
        order = sorted(range(len(kept)), key=lambda index: -scores[index])
        return choose(((kept[p], float(scores[p])) for p in order), history, self.max_words)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Score the kept candidates as the bot inside does, and the rest below, by similarity."""
        cosines, indices = self._kept(persona, history, tuple(candidates))
        inner = self._inner().rank(persona, history, [candidates[index] for index in indices])
        found = cosines - 2.0 + min(inner, default=0.0)
        found[indices] = inner
        return [float(score) for score in found]

    def _inner(self) -> Ranker:
        made = registry.get_bot(self.bot, **self.options)
        if not isinstance(made, Ranker):
            raise InvalidOption(f"bot is {self.bot!r}, but must be one that ranks candidates")
        return made

    def _kept(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the cosine of every candidate, and the indices of the highest."""
        texts = [turn.text for turn in history[-self.history :]]
        return _index(candidates).nearest(" ".join((*texts, *persona)), self.keep)


class _Index:
    """Candidates by word, weighted by tf-idf."""

    def __init__(self, candidates: Sequence[str]) -> None:
        counts = count(candidates, BUCKETS)
        self.statistics = Statistics.of(counts)
        self.postings = Postings(self.statistics.tfidf(counts))

    def nearest(self, text: str, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return all cosines with a text, and the indices of the highest, best first."""
        query = self.statistics.tfidf(count([text], BUCKETS))
        scores = self.postings.scores(query.indices, query.data)
        return scores, np.argsort(-scores, kind="stable")[:most]


@lru_cache(maxsize=2)
def _index(candidates: tuple[str, ...]) -> _Index:
    return _Index(candidates)


@lru_cache(maxsize=2)
def _pool(path: str, _stamp: tuple[int, int] | None) -> tuple[str, ...]:
    if path:
        return whitelists.replies(whitelists.read_whitelist(Path(path)))
    texts = (
        turn.text for each in registry.get_dataset("demo").read("train") for turn in each.turns
    )
    return tuple(text for text in dict.fromkeys(texts) if safe(text))


BOT = Prefilter
