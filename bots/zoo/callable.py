"""B-EXT: any Python function of yours that answers: it gets persona and history, returns the reply.

Source: none, the adapter is ours; bots that their makers do not give away are compared by such a
function, or by imported transcripts. The function takes the persona (sentences) and the history
(`bots.Utterance`s, speaker "self" or "partner") and returns a text or a `bots.Reply`. Only
functions named in BOT_CALLABLES are called, "package.module.function" or "package.module.*"; on a
server they run in a process of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bots.bot import Reply
from bots.callables import find
from bots.dialogue import Utterance
from bots.filters import say
from bots.options import option


@dataclass
class Function:
    """Says what the function returns, if it may be said."""

    function: str = option("", "Where it is: package.module.function")

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        told = find(self.function, "callable: function")(tuple(persona), tuple(history))
        if isinstance(told, str):
            told = Reply(told)
        if not isinstance(told, Reply):
            raise TypeError(
                f"{self.function} returned {type(told).__name__}, but must return text or a Reply"
            )
        return say(told.text, history, told.score, told.details)


BOT = Function
