"""An n-gram model of the text that comes with the package: writes without being trained.

Source: no row of the specification; it lets whatever wraps a writing bot be tried at once. What is
counted, and how: `bots.layers.counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from bots import decoding as search
from bots import forcing
from bots.bot import Reply, Turn
from bots.candidates import Candidate, Decoding
from bots.dialogue import Utterance
from bots.layers.counts import NGramModel, counted
from bots.options import option
from bots.registry import get_dataset
from bots.vocabulary import learn_words


@cache
def _learn(order: int, share: float) -> NGramModel:
    dialogues = get_dataset("demo").read("train")
    codec = learn_words(turn.text for each in dialogues for turn in each.turns)
    return counted(dialogues, codec, order, share)


@dataclass
class Markov:
    """Puts words together that stood together in the package's dialogues."""

    order: int = option(3, "Words that are looked at together", least=2, most=5)
    share: float = option(0.1, "Share of the words of persona and message", least=0, most=0.9)
    number: int = option(8, "Replies that are drawn", least=1)
    temperature: float = option(0.7, "Below 1: likelier words", least=0)
    max_tokens: int = option(20, "Longest a reply may be", least=1)
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    seed: int = option(0, "Of the draws")

    @property
    def model(self) -> NGramModel:
        """The counts, made when first asked for."""
        return _learn(self.order, self.share)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all: the likeliest that is safe, short enough and new."""
        return forcing.spoken(self.propose(turns), turns, self.max_words)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return candidates for each turn, likeliest first."""
        own = Decoding(
            "sample", self.number, self.temperature, max_tokens=self.max_tokens, seed=self.seed
        )
        return search.propose(self.model, turns, decoding or own)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per word of each candidate."""
        return forcing.rank(self.model, persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> dict[str, float]:
        """Return each word's probability of coming next."""
        return forcing.next_word(self.model, persona, history, prefix)


BOT = Markov
