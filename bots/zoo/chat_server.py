"""Any server that speaks OpenAI's chat completions, by URL: a company's or your own.

Source: none, the adapter is ours; it speaks the chat completions that OpenAI's interface made
usual. The persona is the system prompt, the history the messages. Only servers named in BOT_HOSTS
or BOT_PRIVATE_HOSTS are called; the key is read from an environment variable and is never an
option. Participants' messages go to that server: the consent text has to say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.guards import egress
from bots.guards.filters import safe_reply
from bots.guards.remote import RemoteAnswer, RemoteServer, ServerFailed
from bots.options import InvalidOption, option

ROLES = {"self": "assistant", "partner": "user"}
USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")


@dataclass
class ChatServer:
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
        "You chat with a stranger. Answer with one short message.", "Beginning of the system prompt"
    )
    told_persona: str = option("This is who you are:", "Text before the persona's lines")
    opening: str = option("(Please open the conversation.)", "First message to it where it begins")
    temperature: float = option(0.7, "Sampling temperature", least=0, most=2)
    top_p: float = option(1.0, "Probability mass to sample from", least=0, most=1)
    max_tokens: int = option(100, "Maximum tokens of a reply; the rest is cut", least=1, most=4000)
    limit_field: Literal["max_tokens", "max_completion_tokens"] = option(
        "max_tokens", "Name of that limit at the server"
    )
    seed: int = option(0, "Seed sent to the server; not all honor it", least=0)
    seconds: float = option(30.0, "Deadline for all replies of a batch", least=0.1, most=300)
    tries: int = option(4, "Attempts while the server is busy or away", least=1, most=10)
    at_once: int = option(16, "Requests under way at the same time", least=1, most=64)

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation, or raise the failure."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all; a failed request is an empty reply whose details say why.

        If none got an answer, the first failure is raised.
        """
        if not turns:
            return []
        server = RemoteServer(
            egress.target(self._address("url"), "/chat/completions"),
            egress.key(self.key_variable),
            self.seconds,
            self.tries,
            self.at_once,
        )
        answers = server.ask_all([self._question(*turn) for turn in turns])
        replies = [_reply(one, history) for one, (_, history) in zip(answers, turns, strict=True)]
        if not any(reply.text for reply in replies):
            raise ServerFailed(str(replies[0].details["error"]))
        return replies

    def _address(self, name: str) -> str:
        value = str(getattr(self, name))
        if not value:
            raise InvalidOption(f"chat_server: {name} is '', but must be given")
        return value

    def _question(self, persona: Sequence[str], history: Sequence[Utterance]) -> dict[str, Any]:
        about = [self.told, *([self.told_persona, *persona] if persona else [])]
        messages = [{"role": ROLES[each.speaker], "content": each.text} for each in history]
        return {
            "model": self._address("model"),
            "messages": [
                {"role": "system", "content": "\n".join(about)},
                *(messages or [{"role": "user", "content": self.opening}]),
            ],
            "temperature": self.temperature,
            "top_p": self.top_p,
            self.limit_field: self.max_tokens,
            "seed": self.seed,
        }


def _reply(answer: RemoteAnswer | ServerFailed, history: Sequence[Utterance]) -> Reply:
    if isinstance(answer, ServerFailed):
        return Reply("", None, {"error": str(answer)})
    try:
        choice = answer.body["choices"][0]
        text = choice["message"]["content"]
    except (LookupError, TypeError):
        text, choice = None, {}
    if not isinstance(text, str):
        return Reply("", None, {"error": "the server's answer has no choices[0].message.content"})
    return safe_reply(text, history, None, _details(answer, choice))


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
