"""Any Python function of yours that gets the persona and the history and returns the reply.

Source: none, the adapter is ours; bots that their makers do not give away are compared by such a
function, or by imported transcripts. The function takes the persona (sentences) and the history
(`bots.Utterance`s, speaker "self" or "partner"; `bots.seed_of(history)` is a seed of this reply's
own) and returns a text or a `bots.Reply`, which may carry `raw`, `reasoning`, `prompt` and details.
Only functions named in BOT_CALLABLES are called, "package.module.function" or "package.module.*";
on a server they run in a process of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bots.bot import Reply
from bots.dialogue import Utterance
from bots.guards.callables import find
from bots.guards.own_model import OwnModel
from bots.options import option


@dataclass
class Function(OwnModel):
    """Replies with the function's text, as it is."""

    function: str = option(
        "",
        "Path of the function",
        required=True,
        pattern=r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+",
        like="package.module.function",
    )

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation.

        Raises TypeError if the function returns neither a text nor a reply.
        """
        turns = history if isinstance(history, tuple) else tuple(history)
        turns = tuple(self.drawing([(persona, turns)])[0][1]) if self.draws == "fixed" else turns
        result = find(self.function, "callable: function")(tuple(persona), turns)
        if isinstance(result, str):
            result = Reply(result)
        if not isinstance(result, Reply):
            raise TypeError(
                f"{self.function} returned {type(result).__name__}, but must return text or a Reply"
            )
        reply = self.checked(
            result.text,
            finish=str(result.details.get("finish_reason", "")),
            reasoning=result.reasoning,
            score=result.score,
            details=result.details,
            prompt=result.prompt,
        )
        return reply if result.raw is None else replace(reply, raw=result.raw)


BOT = Function
