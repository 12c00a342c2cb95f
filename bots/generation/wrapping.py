"""Wrappers around another bot: they pass on what they do not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bots import registry
from bots.bot import Generator, LanguageModel, Ranker, Reply, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.generation.teacher_forcing import spoken
from bots.options import InvalidOption, check_options, option


@dataclass
class Wrapper(ABC):
    """A bot with another inside, which is built on first use.

    Wrappers can wrap each other: `options` of the outer one hold the inner one's.
    """

    bot: str = option("markov", "Bot that writes")
    options: dict[str, Any] = option({}, "That bot's options")  # noqa: RUF009
    max_words: int = option(20, "Maximum words of a reply, where possible", least=1)

    def __post_init__(self) -> None:
        check_options(self.bot, registry.bot_options(self.bot), self.options)

    @property
    def inner(self) -> Generator:
        """The bot inside."""
        return generator(self.bot, self.options)

    @abstractmethod
    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return candidates for each turn, best first."""

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch."""
        return spoken(self.propose(turns), turns, self.max_words)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Sequence[float]:
        """Score candidates as the bot inside does.

        Raises InvalidOption if the bot inside does not rank.
        """
        inner = self.inner
        if not isinstance(inner, Ranker):
            raise InvalidOption(f"bot is {self.bot!r}, but must be one that ranks candidates")
        return inner.rank(persona, history, candidates)

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> Mapping[str, float]:
        """Give the next word's probabilities as the bot inside does.

        Raises InvalidOption if the bot inside has no likelihood.
        """
        inner = self.inner
        if not isinstance(inner, LanguageModel):
            raise InvalidOption(f"bot is {self.bot!r}, but must be one with a likelihood")
        return inner.next_word(persona, history, prefix)


def generator(bot: str, options: Mapping[str, Any]) -> Generator:
    """Return the bot of this name and options, which must be one that writes.

    Raises InvalidOption if the bot does not write.
    """
    made = registry.get_bot(bot, **options)
    if not isinstance(made, Generator):
        raise InvalidOption(f"bot is {bot!r}, but must be one that writes its replies")
    return made


def own_turns(turn: Turn) -> list[str]:
    """Return the bot's messages so far."""
    return [each.text for each in turn[1] if each.speaker == "self"]
