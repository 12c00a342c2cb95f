"""Key-Value Profile Memory: a second look-up on the trained weights of profile_memory.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3: q+ attends over keys (the
messages of the training set) and takes up their values (the replies that followed). `exact` does
this; `released` is the approximation of the authors' code, whose numbers the options are: the 100
keys nearest to the last message alone; the replies of the first 10, as one new query, attend over
the persona; candidates get cos(q+, c) + 0.1 cos(q++, c). In a chat it chooses among those 100
replies and never repeats one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.guards.filters import choose
from bots.options import option
from bots.rankers.profile import OPENING, ProfileQuery
from bots.rankers.profile_serving import Served, open_weights


@dataclass
class KeyValueProfileMemory:
    """Answers as people did after similar messages, as far as it suits the persona."""

    weights: str = option("", "Directory of the weights of a trained profile_memory")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    mode: Literal["released", "exact"] = option("released", "Second look-up")
    keys: int = option(100, "Nearest training messages, for `released`", least=1)
    joined: int = option(10, "Replies of those messages that make the new query", least=1)
    second: float = option(0.1, "Weight of the second look-up, for `released`", least=0)
    max_words: int = option(15, "Maximum words of a reply, where possible", least=1)
    _served: Served | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weights:
            self._served = open_weights(Path(self.weights), self.device)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one pass."""
        if not turns:
            return []
        served = self._ready()
        with torch.inference_mode():
            near = self._near(turns)
            vectors = served.index.vectors[near]
            scores = self._scores(turns, near, vectors)
        order = scores.argsort(dim=1, descending=True, stable=True)
        replies = []
        for row, (_, history) in enumerate(turns):
            indices = near[row][order[row]].tolist()
            ranked = zip(indices, scores[row][order[row]].tolist(), strict=True)
            found = ((served.index.replies[index], score) for index, score in ranked)
            replies.append(choose(found, history, self.max_words))
        return replies

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Score the candidates by both look-ups."""
        turns = [(persona, history)]
        vectors = self._ready().embed(candidates).unsqueeze(0)
        with torch.inference_mode():
            near = self._near(turns)
            scores: list[float] = self._scores(turns, near, vectors)[0].tolist()
        return scores

    def _ready(self) -> Served:
        if self._served is None:
            raise ValueError("kv_profile_memory needs weights of profile_memory: option weights")
        return self._served

    def _near(self, turns: Sequence[Turn]) -> Tensor:
        """Return the indices of the training messages nearest to each last message."""
        served = self._ready()
        last = [history[-1].text if history else OPENING for _, history in turns]
        cosines = served.embed(last) @ served.index.keys.T
        return cosines.topk(min(self.keys, cosines.shape[1]), dim=1).indices

    def _scores(self, turns: Sequence[Turn], near: Tensor, candidates: Tensor) -> Tensor:
        """Score the candidates of each turn, given as vectors: turn, candidate, dimension."""
        first = self._ready().queries(turns)
        if self.mode == "released":
            hop = self._again(turns, near)
            return _cosines(first, candidates) + self.second * _cosines(hop, candidates)
        index = self._ready().index
        weights = torch.softmax(first @ index.keys.T, dim=1)
        return _cosines(functional.normalize(first + weights @ index.vectors, dim=1), candidates)

    def _again(self, turns: Sequence[Turn], near: Tensor) -> Tensor:
        """Return q++: the nearest keys' replies, as one text, attend over the persona."""
        served = self._ready()
        bag = served.network.vocabulary.bag
        query = []
        for (persona, _), indices in zip(turns, near[:, : self.joined].tolist(), strict=True):
            text = " ".join(served.index.replies[index] for index in indices)
            query.append(ProfileQuery(bag(text), tuple(map(bag, persona))))
        return served.network.queries(query)


def _cosines(queries: Tensor, candidates: Tensor) -> Tensor:
    return torch.einsum("td,tcd->tc", queries, candidates)


BOT = KeyValueProfileMemory
