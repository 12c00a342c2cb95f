"""N-gram model of the text that comes with the package; it writes without being trained.

Source: none; it lets whatever wraps a writing bot be tried at once. What is
counted, and how: `bots.generation.ngram_counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from bots.bot import Reply, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.generation import decoding as search
from bots.generation import teacher_forcing
from bots.generation.ngram_counts import NGramModel, counted
from bots.options import option
from bots.registry import get_dataset
from bots.text.vocabulary import learn_words


@cache
def _learn(order: int, share: float) -> NGramModel:
    dialogues = get_dataset("demo").read("train")
    codec = learn_words(turn.text for each in dialogues for turn in each.turns)
    return counted(dialogues, codec, order, share)


@dataclass
class Markov:
    """Joins words that stand together in the package's dialogues."""

    order: int = option(3, "Length of an n-gram, in words", least=2, most=5)
    share: float = option(0.1, "Share of the words of persona and message", least=0, most=0.9)
    number: int = option(8, "Replies drawn", least=1)
    temperature: float = option(0.7, "Sampling temperature; below 1: likelier words", least=0)
    max_tokens: int = option(20, "Maximum tokens of a reply", least=1)
    max_words: int = option(20, "Maximum words of a reply, where possible", least=1)
    seed: int = option(0, "Seed of the draws")

    @property
    def model(self) -> NGramModel:
        """The counts, made when first asked for."""
        return _learn(self.order, self.share)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all: the likeliest that is safe, short enough and new."""
        return teacher_forcing.spoken(self.propose(turns), turns, self.max_words)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return candidates for each turn, likeliest first."""
        own = Decoding(
            "sample", self.number, self.temperature, max_tokens=self.max_tokens, seed=self.seed
        )
        return search.propose(self.model, turns, decoding or own)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per word of each candidate."""
        return teacher_forcing.rank(self.model, persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> dict[str, float]:
        """Return each word's probability of coming next."""
        return teacher_forcing.next_word(self.model, persona, history, prefix)


BOT = Markov
