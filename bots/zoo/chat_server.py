"""Any server that speaks OpenAI's chat completions, by URL: a company's or your own.

Source: none, the adapter is ours; it speaks the chat completions that OpenAI's interface made
usual. The persona is the system prompt, the history the messages. Only servers named in BOT_HOSTS
or BOT_PRIVATE_HOSTS are called; the key is read from an environment variable and is never an
option. Participants' messages go to that server: the consent text has to say so.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from bots.bot import Reply, Turn, Way
from bots.dialogue import Utterance
from bots.guards import egress
from bots.guards.own_model import OwnModel
from bots.guards.remote import RemoteAnswer, RemoteServer, ServerFailed
from bots.options import InvalidOption, option

ROLES = {"self": "assistant", "partner": "user"}
NO_CONTENT = "the server's answer has no choices[0].message.content"
USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
_LOOKUPS = ThreadPoolExecutor(256, thread_name_prefix="lookup")


@dataclass
class ChatServer(OwnModel):
    """Requests each reply from a server; it keeps no state."""

    url: str = option(
        "",
        "Address of the server",
        required=True,
        pattern=r"https?://[^\s/?#@]+(/[^\s?#]*)?",
        like="https://api.example.org/v1",
    )
    model: str = option("", "Model of the server", required=True)
    key_variable: str = option(
        "",
        "Environment variable with the key",
        pattern=r"BOT_KEY_[A-Z0-9_]+",
        like="BOT_KEY_LAB",
    )
    told: str = option(
        "You chat with a stranger. Answer with one short message.",
        "Beginning of the system prompt",
        longest=32000,
    )
    told_persona: str = option("This is who you are:", "Text before the persona's lines")
    opening: str = option("(Please open the conversation.)", "First message to it where it begins")
    temperature: float = option(0.7, "Sampling temperature", least=0, most=2)
    top_p: float = option(1.0, "Probability mass to sample from", least=0, most=1)
    max_tokens: int = option(100, "Maximum tokens of a reply; the rest is cut", least=1, most=4000)
    limit_field: Literal["max_tokens", "max_completion_tokens"] = option(
        "max_tokens", "Name of that limit at the server"
    )
    seed: int = option(0, "Seed sent to the server where draws are fixed", least=0)
    without: str = option(
        "",
        "Fields that the server does not take, such as top_p, seed",
        pattern=r"(temperature|top_p|seed|[,\s])*",
        like="top_p, seed",
    )
    extra: dict[str, Any] = option(  # noqa: RUF009
        {},
        "More fields of the request, such as {'stop': ['\\n'], 'reasoning_effort': 'low'}",
        longest=4000,
    )
    system_role: Literal["system", "developer", "user"] = option(
        "system", "Role of the system prompt; user puts it before the first message"
    )
    user_first: bool = option(
        False, "Put the opening line before a conversation that the model itself opened"
    )
    seconds: float = option(30.0, "Deadline of a reply, from its request on", least=0.1, most=300)
    tries: int = option(4, "Attempts while the server is busy or away", least=1, most=10)
    at_once: int = option(
        16, "Requests under way at the same time, from each reply worker", least=1, most=64
    )

    @property
    def way(self) -> Way:
        """Nobody waits for the slowest of a batch: each request is a call of its own."""
        return "async"

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation, or raise the server's failure."""
        reply = self.respond_many([(persona, history)])[0]
        if reply.raw is None:
            raise ServerFailed(str(reply.details["error"]))
        return reply

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all; a failed request is an empty reply whose details say why."""
        if not turns:
            return []
        requests = [self._request(turn) for turn in turns]
        answers = self._server().ask_all(requests)
        return [self._reply(*pair) for pair in zip(answers, requests, strict=True)]

    async def respond_async(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation; a failed request is an empty reply whose details say why."""
        request = self._request((persona, history))
        # A name server that is away holds up this call alone, not the loop.
        looked_up = asyncio.get_running_loop().run_in_executor(_LOOKUPS, self._server)
        try:
            server = await asyncio.wait_for(looked_up, self.seconds)
        except TimeoutError:
            error = f"the server's name was not found within {self.seconds:g} s"
            return Reply("", None, {"error": error}, prompt=request)
        return self._reply(await server.ask(request), request)

    def _server(self) -> RemoteServer:
        return RemoteServer(
            egress.target(self._address("url"), "/chat/completions"),
            egress.key(self.key_variable),
            self.seconds,
            self.tries,
            self.at_once,
        )

    def _address(self, name: str) -> str:
        value = str(getattr(self, name))
        if not value:
            raise InvalidOption(f"chat_server: {name} is '', but must be given")
        return value

    def _request(self, turn: Turn) -> dict[str, Any]:
        fields = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.drawn(turn, self.seed),
        }
        unwanted = re.split(r"[,\s]+", self.without)
        return {
            "model": self._address("model"),
            "messages": self._messages(*turn),
            **{name: value for name, value in fields.items() if name not in unwanted},
            self.limit_field: self.max_tokens,
            **self.extra,
        }

    def _messages(
        self, persona: Sequence[str], history: Sequence[Utterance]
    ) -> list[dict[str, str]]:
        about = "\n".join([self.told, *([self.told_persona, *persona] if persona else [])])
        messages = [{"role": ROLES[each.speaker], "content": each.text} for each in history]
        if not messages or (self.user_first and messages[0]["role"] != "user"):
            messages.insert(0, {"role": "user", "content": self.opening})
        if self.system_role != "user":
            return [{"role": self.system_role, "content": about}, *messages]
        first = next(index for index, one in enumerate(messages) if one["role"] == "user")
        messages[first]["content"] = f"{about}\n\n{messages[first]['content']}"
        return messages

    def _reply(self, answer: RemoteAnswer | ServerFailed, request: Mapping[str, Any]) -> Reply:
        if isinstance(answer, ServerFailed):
            return Reply("", None, {"error": str(answer)}, prompt=request)
        try:
            choice = answer.body["choices"][0]
            message = dict(choice["message"])
        except (LookupError, TypeError, ValueError):
            return Reply("", None, {"error": NO_CONTENT}, prompt=request)
        text = _joined(message.get("content"))
        if text is None:
            tools = "tool_calls" in message and message["tool_calls"]
            error = "the model asked for a tool, and there is none" if tools else NO_CONTENT
            return Reply("", None, {"error": error}, prompt=request)
        thoughts = message.get("reasoning_content") or message.get("reasoning") or ""
        return self.checked(
            text,
            finish=str(choice.get("finish_reason") or ""),
            reasoning=thoughts if isinstance(thoughts, str) else json.dumps(thoughts),
            details=_details(answer, choice),
            prompt=request,
        )


def _joined(content: object) -> str | None:
    """Return the text of a message, which may come in parts; None where there is none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _details(answer: RemoteAnswer, choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of an answer for the log: plain numbers and short names only."""
    usage = answer.body.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    return {
        "model": str(answer.body.get("model", ""))[:100],
        "finish_reason": str(choice.get("finish_reason", ""))[:40],
        "usage": {name: counted[name] for name in USAGE if isinstance(counted.get(name), int)},
        "attempts": answer.attempt,
    }


BOT = ChatServer
