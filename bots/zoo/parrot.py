"""Parrot: it repeats the partner's last message.

Source: ConvAI2 (Dinan et al. 2019), section 3: rankers that look at words alone take a repetition
of the last message for a good reply, so it makes a telling distractor and a sanity check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.guards.filters import safe_reply
from bots.options import option


@dataclass(frozen=True)
class Parrot:
    """Echoes the partner's last message, if it is safe."""

    opening: str = option("Hi!", "First message, before its partner has sent any")

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Repeat the partner's last message."""
        heard = [turn.text for turn in history if turn.speaker == "partner"]
        return safe_reply(heard[-1] if heard else self.opening, history)

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]


BOT = Parrot
