"""Abilities of bots. A bot has one or more of them; ask with `isinstance`.

A bot has no memory of its own: it is given its persona and the whole history each time, so any
worker can give any reply, and a reply can be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Dialogue, Utterance

Turn = tuple[Sequence[str], Sequence[Utterance]]


ReplyEvent = Literal[
    "empty",
    "filtered",
    "flagged",
    "cut",
    "trimmed",
    "canned",
    "altered",
    "reasoned",
    "shortened",
    "adapted",
]
EVENTS: Mapping[ReplyEvent, str] = {
    "empty": "the model wrote nothing",
    "filtered": "the safety filter stopped it",
    "flagged": "the safety filter would have stopped it, and only notes it",
    "cut": "the model reached its limit of tokens",
    "trimmed": "what was cut is shown up to its last whole sentence",
    "canned": "a fixed line of ours is shown in its stead",
    "altered": "display rules joined its tokens and capitalized it",
    "reasoned": "reasoning was set apart and not shown",
    "shortened": "the prompt was too long: the oldest messages were left out",
    "adapted": "the messages were rearranged for a model whose chat template refuses their order",
}


@dataclass(frozen=True)
class Reply:
    """A bot's message; one without text is a failed reply.

    details: for the log: refused candidates, reasons (`error` of a failed reply), its origin.
    raw: as the model wrote it, where that is not `text`. reasoning: what it wrote or sent as
    reasoning. prompt: as JSON, where the bot makes one of persona and history. events: what became
    of the raw text on its way to `text`.
    """

    text: str
    score: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    raw: str | None = None
    reasoning: str = ""
    prompt: object = None
    events: tuple[ReplyEvent, ...] = ()


@runtime_checkable
class Bot(Protocol):
    """Answers one conversation."""

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply: ...


@runtime_checkable
class BatchBot(Protocol):
    """Answers many conversations in one pass, in their order."""

    def respond_many(self, turns: Sequence[Turn]) -> Sequence[Reply]: ...


@runtime_checkable
class AsyncBot(Protocol):
    """Answers one conversation in an event loop, beside others that are under way."""

    async def respond_async(
        self, persona: Sequence[str], history: Sequence[Utterance]
    ) -> Reply: ...


@runtime_checkable
class StreamingBot(Protocol):
    """Answers one conversation in an event loop, and tells its reply's text as it grows.

    It tells only what its reply will begin with, and "" where it begins anew.
    """

    async def respond_growing(
        self,
        persona: Sequence[str],
        history: Sequence[Utterance],
        growing: Callable[[str], None],
    ) -> Reply: ...


@runtime_checkable
class StreamingBatchBot(Protocol):
    """Answers many conversations in one pass, and tells by the place of a turn what grows.

    It tells only what the reply will begin with, and may pass over steps: telling each costs time.
    """

    def respond_many_growing(
        self, turns: Sequence[Turn], growing: Callable[[int, str], None]
    ) -> Sequence[Reply]: ...


@runtime_checkable
class Prompted(Protocol):
    """Tells the request, or prompt, that it would make of a turn, without calling anything."""

    def request(self, turn: Turn) -> Mapping[str, Any]: ...


Way = Literal["one", "batch", "async"]


def way_of(bot: object) -> Way:
    """Return how a bot is called where people wait: by its own word (`way`), or by its abilities.

    `async`: several conversations side by side, by `respond_async`; `one`: a call for each.
    """
    own: Way | None = getattr(bot, "way", None)
    return own or ("batch" if isinstance(bot, BatchBot) else "one")


@runtime_checkable
class Ranker(Protocol):
    """Scores candidate replies; the highest is the best."""

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Sequence[float]: ...


@runtime_checkable
class Generator(Protocol):
    """Writes replies of its own: candidates for each turn, best first; it can be wrapped.

    Without a decoding it searches as its own options say.
    """

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]: ...


@runtime_checkable
class LanguageModel(Protocol):
    """Gives every word a probability of coming next after `prefix`, the reply's words so far."""

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> Mapping[str, float]: ...


@runtime_checkable
class Trainable(Protocol):
    """Learns from dialogues; what it learned is a directory (see `bots.weights`)."""

    def train(self, dialogues: Iterable[Dialogue], *, seed: int) -> None: ...

    def save(self, path: Path) -> None: ...

    def load(self, path: Path) -> None: ...
