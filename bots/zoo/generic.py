"""Generic bot: "I don't know" to a question, "ok" to everything else.

Source: MEENA (Adiwardana et al. 2020), section 2.3: it shows that a bot which is never specific can
still be sensible seven times in ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bots.bot import Reply, Turn
from bots.dialogue import Utterance


@dataclass(frozen=True)
class Generic:
    """No options. A question is a message that ends with a question mark."""

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer the partner's last message."""
        heard = [turn.text for turn in history if turn.speaker == "partner"]
        is_question = bool(heard) and heard[-1].rstrip().endswith("?")
        return Reply("I don't know" if is_question else "ok")

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self.respond(*turn) for turn in turns]


BOT = Generic
