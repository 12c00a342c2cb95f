"""B-PARROT, the parrot: says what its partner said last.

Source: ConvAI2 (Dinan et al. 2019), section 3: rankers that look at words alone take a repetition
of the last message for a good reply, so it makes a telling distractor and a sanity check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.filters import say
from bots.options import option


@dataclass(frozen=True)
class Parrot:
    """Echoes, except what must not be said."""

    opening: str = option("Hi!", "What it says before its partner has said anything")

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Repeat the partner's last message."""
        said = [turn.text for turn in history if turn.speaker == "partner"]
        return say(said[-1] if said else self.opening, history)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]


BOT = Parrot
