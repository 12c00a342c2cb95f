"""Any Python function of yours that gets the persona and the history and returns the reply.

Source: none, the adapter is ours; bots that their makers do not give away are compared by such a
function, or by imported transcripts. The function takes the persona (sentences) and the history
(`bots.Utterance`s, speaker "self" or "partner"; `bots.seed_of(history)` is a seed of this reply's
own) and returns a text or a `bots.Reply`, which may carry `raw`, `reasoning`, `prompt` and details.
An `async def` is awaited, several conversations at once in each process; with `batch` the function
takes a list of pairs (persona, history) and returns as many replies. Only functions named in
BOT_CALLABLES are called, "package.module.function" or "package.module.*"; on a server they run in
processes of their own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bots.bot import Reply, Turn, Way
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
    batch: bool = option(
        False, "The function takes a list of (persona, history) and returns as many replies"
    )
    processes: int = option(1, "Processes of each reply worker that call it", least=1, most=64)
    at_once: int = option(
        16, "Conversations under way in each process, where it is an async def", least=1, most=256
    )

    @property
    def way(self) -> Way:
        """Follow the function's form."""
        if self.batch:
            return "batch"
        return "async" if inspect.iscoroutinefunction(self._function()) else "one"

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation.

        Raises TypeError if the function returns neither a text nor a reply.
        """
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all: by one call, at the same time, or one after another, as the form is.

        Raises TypeError if the function returns no text or reply for each of them.
        """
        if self.way == "async":
            return asyncio.run(self._all(turns))
        function, arguments = self._function(), [self._arguments(turn) for turn in turns]
        results = function(arguments) if self.batch else [function(*each) for each in arguments]
        if not isinstance(results, list | tuple) or len(results) != len(turns):
            raise TypeError(f"{self.function} must return a list of {len(turns)} replies")
        return [self._reply(result) for result in results]

    async def respond_async(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation by an `async def`.

        Raises TypeError if the function returns neither a text nor a reply.
        """
        return self._reply(await self._function()(*self._arguments((persona, history))))

    async def _all(self, turns: Sequence[Turn]) -> list[Reply]:
        return list(await asyncio.gather(*(self.respond_async(*turn) for turn in turns)))

    def _function(self) -> Callable[..., Any]:
        return find(self.function, "callable: function")

    def _arguments(self, turn: Turn) -> Turn:
        persona, history = turn
        turns = history if isinstance(history, tuple) else tuple(history)
        if self.draws == "fixed":
            turns = tuple(self.drawing([(persona, turns)])[0][1])
        return tuple(persona), turns

    def _reply(self, result: object) -> Reply:
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
