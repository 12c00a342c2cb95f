"""N-best lists re-ranked by whether the reply's events follow from the history's.

Source: the event-causality paper of NLP4CONVAI 2019, equation 1 (whose bracket is a denominator):
score = log2 p / (log2 lift(e_h, e_r))^lambda, the best pair of events counting; a pair that is not
in the pool has lift 2, which leaves the score as it was. "embedding" also takes pairs that are
nearly in the pool: lift_emb = lift(e_c, e_e) times the mean of sim(e_h, e_c) and sim(e_r, e_e),
where both are at least sqrt(3)/2, and the inverse direction too. The paper's event vectors are
role-factored tensors of 100 numbers; ours are sentence vectors of predicate and argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.generation.wrapping import Wrapper
from bots.options import option
from bots.text import events

LEAST = math.sqrt(3) / 2


@dataclass
class EventCausality(Wrapper):
    """Prefers replies whose events the history could have caused."""

    pairs: str = option("", "File of cause, effect, lift; empty: a few of our own", after="options")
    matching: Literal["pairs", "embedding"] = option("pairs", "Search for a pair of events")
    vectors: Literal["hashed", "glove"] = option("hashed", "Vectors of events, for `embedding`")
    power: float = option(1.0, "lambda: weight of the lift", least=0)
    window: int = option(5, "Last messages in the history", least=1)
    rank_by: Literal["mean_logp", "sum_logp"] = option(
        "mean_logp", "Score of a candidate: mean per token, or sum"
    )
    number: int = option(20, "Candidates found by the beam", least=1)
    max_tokens: int = option(24, "Maximum tokens of a candidate", least=1)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates of the bot inside, in the new order."""
        own = Decoding("beam", self.number, max_tokens=self.max_tokens, rank_by=self.rank_by)
        found = self.inner.propose(turns, decoding or own)
        return [self._ordered(turn, listed) for turn, listed in zip(turns, found, strict=True)]

    def score(self, turn: Turn, candidate: ReplyCandidate) -> float:
        """Return log2 of the candidate's probability over the power of log2 of the best lift."""
        bits = candidate.score(self.rank_by) / math.log(2)
        return float(bits / math.log2(self.lift(turn, candidate.text)) ** self.power)

    def lift(self, turn: Turn, reply: str) -> float:
        """Return the highest lift of an event of the history with one of the reply; 2 without."""
        before = [event for each in turn[1][-self.window :] for event in events.events(each.text)]
        after = list(events.events(reply))
        lifts = [found for one in before for other in after for found in self._lifts(one, other)]
        return max(lifts, default=events.UNKNOWN_LIFT)

    def _ordered(self, turn: Turn, found: Sequence[ReplyCandidate]) -> list[ReplyCandidate]:
        return sorted(found, key=lambda each: self.score(turn, each), reverse=True)

    def _lifts(
        self, before: events.PredicateEvent, after: events.PredicateEvent
    ) -> Iterator[float]:
        pool = events.pairs(self.pairs)
        for one, other in ((before, after), (after, before)):
            exact = pool.get((str(one), str(other)))
            if exact is not None:
                yield exact
            if self.matching == "pairs":
                return  # the inverse direction is the embedding variant's
            yield from self._alike(str(one), str(other))

    def _alike(self, one: str, other: str) -> Iterator[float]:
        """Yield what nearly equal pairs lift, above 1."""
        causes, effects, lifts = self._pool
        of_cause, of_effect = causes @ self._vector(one), effects @ self._vector(other)
        for index in ((of_cause >= LEAST) & (of_effect >= LEAST)).nonzero()[:, 0].tolist():
            likeness = float(of_cause[index] + of_effect[index]) / 2
            yield max(lifts[index] * likeness, 1 + 1e-9)

    @cached_property
    def _pool(self) -> tuple[Any, Any, list[float]]:
        from bots.encoders.sentences import encoder

        pool = events.pairs(self.pairs)
        encode = encoder(self.vectors)
        causes, effects = zip(*pool, strict=True)
        return encode(list(causes)), encode(list(effects)), list(pool.values())

    def _vector(self, text: str) -> Any:
        from bots.encoders.sentences import encoder

        return encoder(self.vectors)([text])[0]


BOT = EventCausality
