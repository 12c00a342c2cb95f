"""Any Python function of yours that gets the persona and the history and returns the reply.

Source: none, the adapter is ours; bots that their makers do not give away are compared by such a
function, or by imported transcripts. The function takes the persona (sentences) and the history
(`bots.Utterance`s, speaker "self" or "partner"; `bots.seed_of(history)` is a seed of this reply's
own) and returns a text or a `bots.Reply`, which may carry `raw`, `reasoning`, `prompt` and details.
An `async def` is awaited, several conversations at once in each process; one that yields gives the
text in pieces, of which the last may be a `bots.Reply` that ends the text and carries the rest.
With `batch` the function takes a list of pairs (persona, history) and returns as many replies. Only
functions named in BOT_CALLABLES are called, "package.module.function" or "package.module.*"; on a
server they run in processes of their own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from bots.bot import Reply, Turn, Way
from bots.dialogue import Utterance
from bots.guards.callables import find
from bots.guards.own_model import OwnModel
from bots.options import InvalidOption, option


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

    stream: bool = option(
        False,
        "The function is an async def that yields its reply piece by piece, and participants see "
        "it grow where the protocol shows replies as they are written. Not with rules that decide "
        "by the whole reply what is shown",
        label="Stream replies",
        last=True,
    )

    @property
    def way(self) -> Way:
        """Follow the function's form."""
        if self.batch:
            return "batch"
        function = self._function()
        is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        return "async" if is_async else "one"

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
        self._check_stream()
        function, arguments = self._function(), [self._arguments(turn) for turn in turns]
        results = function(arguments) if self.batch else [function(*each) for each in arguments]
        if not isinstance(results, list | tuple) or len(results) != len(turns):
            raise TypeError(f"{self.function} must return a list of {len(turns)} replies")
        return [self._reply(result) for result in results]

    async def respond_async(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation by an `async def`.

        Raises TypeError if the function returns neither a text nor a reply.
        """
        return await self.respond_growing(persona, history)

    async def respond_growing(
        self,
        persona: Sequence[str],
        history: Sequence[Utterance],
        growing: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer one conversation by an `async def`; tell what a reply in pieces has grown to.

        Raises TypeError if the function returns, or yields, neither texts nor a reply, and
        `InvalidOption` if it is to stream and cannot.
        """
        self._check_stream()
        answer = self._function()(*self._arguments((persona, history)))
        if not inspect.isasyncgen(answer):
            return self._reply(await answer)
        async with aclosing(answer) as pieces:
            return self._reply(await self._joined(pieces, growing if self.stream else None))

    def _check_stream(self) -> None:
        if not self.stream:
            return
        self.refuse_stream("callable")
        if self.batch or not inspect.isasyncgenfunction(self._function()):
            raise InvalidOption(
                f"callable: stream is on, but {self.function} is no async def that yields pieces, "
                "one conversation at a time"
            )

    async def _joined(
        self, pieces: AsyncIterator[object], growing: Callable[[str], None] | None
    ) -> Reply:
        """Return the reply that the pieces are; a `Reply` among them ends it."""
        text = ""
        async for piece in pieces:
            if isinstance(piece, Reply):
                return replace(piece, text=text + piece.text)
            if not isinstance(piece, str):
                raise TypeError(
                    f"{self.function} yielded {type(piece).__name__}, but must yield text, or a "
                    "Reply at its end"
                )
            text += piece
            if growing is not None:
                growing(text)
        return Reply(text)

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
