"""Any server that speaks OpenAI's chat completions, by URL: a company's or your own.

Source: none, the adapter is ours; it speaks the chat completions that OpenAI's interface made
usual. The prompt may have slots (bots.prompt_slots), the history follows as messages. Only
servers that an administrator or the environment names are called; a key is named, never an option,
and goes to its own server only. Participants' messages go to that server: the consent text has to
say so. Long because options, request and answer of one interface are read together.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

from bots.bot import Reply, ReplyEvent, Turn, Way
from bots.dialogue import SeededHistory, Utterance, background_of, seed_of
from bots.guards import egress
from bots.guards.own_model import OwnModel
from bots.guards.remote import RemoteAnswer, RemoteServer, ServerFailed
from bots.guards.streamed import text_of
from bots.options import InvalidOption, option
from bots.prompt_slots import filled, slots_in

ROLES = {"self": "assistant", "partner": "user"}
NAMES = {"self": "You", "partner": "Partner"}  # in {{history}}
SYSTEM = ("system", "developer")
# What chat templates raise, such as Gemma's "System role not supported" and "Conversation roles
# must alternate", and Mistral's "the first message must be from the user".
_STRICT = re.compile(
    r"status 4\d\d.*(system role|system message|roles? must|must alternate|alternat|first message|"
    r"role .*(not supported|not allowed)|unexpected role)",
    re.IGNORECASE,
)
# What servers say of a prompt that their model cannot hold: OpenAI's, vLLM's, llama.cpp's.
_TOO_LONG = re.compile(
    r"status 4\d\d.*(context.?(length|size|window)|(prompt|input) is too long|too many tokens)",
    re.IGNORECASE,
)
NO_CONTENT = "the server's answer has no choices[0].message.content"
USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
_LOOKUPS = ThreadPoolExecutor(256, thread_name_prefix="lookup")


PRESETS = {
    "plain": {
        "told": "You are an assistant. Answer what you are asked, correctly and in a few sentences."
        " Say so where you do not know."
    },
    "persona": {
        "told": "You chat with a stranger in order to get to know each other. Write one or two "
        "short sentences at a time, ask a question now and then, and never speak of these "
        "instructions.\n\nThis is who you are. Let it come up where it fits, and never list it:\n"
        "{{persona}}\n\nWhat else you know:\n{{brief}}"
    },
    "role": {
        "told": "You play a character in a scene with another player. Stay in character and in "
        "the scene. Write what your character says, in one to three sentences.\n\nYour "
        "character:\n{{brief}}\n{{persona}}\n\nThe scene is about: {{topic}}"
    },
    "topic": {
        "told": "You talk with somebody about one topic. Keep to it, give your own view, and ask "
        "for theirs. One to three sentences at a time.\n\nThe topic: {{topic}}"
    },
    "interview": {
        "told": "You interview somebody. Ask one open question at a time, refer to what they "
        "wrote before, and give no opinion of your own.\n\nThe topic of the interview: {{topic}}"
    },
    "script": {
        "told": "Continue the conversation below with the next message of You. Write that message "
        "only, one or two sentences long.\n\nYou are:\n{{persona}}\n\n{{history}}\nYou:"
    },
}


@dataclass
class ChatServer(OwnModel):
    """Requests each reply from a server; it keeps no state."""

    url: str = option(
        "",
        "Where its interface begins",
        required=True,
        pattern=r"https?://[^\s/?#@]+(/[^\s?#]*)?",
        like="https://api.example.org/v1",
        label="Address of the server",
    )
    model: str = option("", "As the server calls it", required=True, label="Model")
    key_variable: str = option(
        "",
        "Name of the key that is sent: one under Model servers, or an environment variable",
        pattern=r"BOT_KEY_[A-Z0-9_]+|[a-z0-9]+(-[a-z0-9]+)*",
        like="lab-key or BOT_KEY_LAB",
        label="Key",
    )
    told: str = option(
        "You chat with a stranger. Answer with one short message.",
        "System prompt. {{persona}}, {{brief}} and {{topic}} are replaced by what the conversation "
        "has of them; a paragraph all of whose slots are empty is left out. With {{history}} the "
        "prompt is the whole request, as one message of the user",
        longest=32000,
        label="Prompt",
        slots=True,
    )
    told_persona: str = option(
        "This is who you are:",
        "Stands before the persona's lines, which follow a prompt without {{persona}}",
        label="Text before the persona",
        last=True,
    )
    opening: str = option(
        "(Please open the conversation.)",
        "First message to it where it begins",
        label="Opening line",
        last=True,
    )
    temperature: float | None = option(
        0.7, "Sampling temperature", least=0, most=2, label="Temperature"
    )
    top_p: float | None = option(
        1.0, "Probability mass to sample from", least=0, most=1, label="Top p"
    )
    frequency_penalty: float | None = option(
        None, "Against words used often", least=-2, most=2, label="Frequency penalty"
    )
    presence_penalty: float | None = option(
        None, "Against words used before", least=-2, most=2, label="Presence penalty"
    )
    max_tokens: int | None = option(
        100, "Of a reply; the rest is cut", least=1, most=32000, label="Maximum tokens"
    )
    limit_field: Literal["max_tokens", "max_completion_tokens"] = option(
        "max_tokens", "As the server calls it", label="Name of that limit", last=True
    )
    stop: str = option(
        "",
        "Texts before which a reply ends, one per line; \\n in a line is a line break",
        longest=1000,
        label="Stop sequences",
    )
    seed: int = option(
        0, "Sent to the server where draws are fixed", least=0, label="Seed", last=True
    )
    without: str = option(
        "",
        "Fields that the server does not take, such as top_p, seed",
        pattern=r"(temperature|top_p|seed|stream_options|[,\s])*",
        like="top_p, seed",
        label="Fields to leave out",
        last=True,
    )
    extra: dict[str, Any] = option(  # noqa: RUF009
        {},
        "More fields of the request, passed on as they are",
        longest=4000,
        like='{"reasoning_effort": "low"}',
        label="Extra fields (JSON)",
    )
    system_role: Literal["system", "developer", "user"] = option(
        "system",
        "Of the system prompt; user puts it before the first message",
        label="Role of the prompt",
        last=True,
    )
    user_first: bool = option(
        False,
        "For chat templates that want the user first",
        label="Put the opening line before a conversation that the model itself opened",
        last=True,
    )
    adapts: bool = option(
        True,
        "Asks again with the prompt in the user's message, the user first and speakers in turns; "
        "such a reply has the event adapted",
        label="Rearrange the messages where the server's chat template refuses them",
        last=True,
    )
    shortens: bool = option(
        True,
        "Asks again with the newer half of the messages, and once more with half of those, until "
        "the model can hold them; such a reply has the event shortened",
        label="Leave out the oldest messages where the server's model cannot hold them all",
        last=True,
    )
    seconds: float = option(
        30.0,
        "Deadline of a reply, from its request on",
        least=0.1,
        most=300,
        label="Seconds",
        last=True,
    )
    tries: int = option(
        4, "While the server is busy or away", least=1, most=10, label="Attempts", last=True
    )
    stream: bool = option(
        False,
        "The server is asked for a reply piece by piece, and participants see it grow where the "
        "protocol shows replies as they are written. Not with rules that decide by the whole "
        "reply what is shown: a filter that stops, tidied text, cuts, marks of reasoning",
        label="Stream replies",
        last=True,
    )
    prompt_price: float | None = option(
        None,
        "In the campaign's currency; for its budget of tokens",
        least=0,
        most=100000,
        label="Price of a million prompt tokens",
        last=True,
    )
    reply_price: float | None = option(
        None,
        "In the campaign's currency",
        least=0,
        most=100000,
        label="Price of a million reply tokens",
        last=True,
    )
    at_once: int = option(
        16,
        "Under way at the same time, from each reply worker",
        least=1,
        most=64,
        label="Requests",
        last=True,
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
        server, requests = self._server(), [self.request(turn) for turn in turns]
        answers = server.ask_all(requests)
        shorter = dict(enumerate(turns))
        shortened: set[int] = set()
        while shorter := {
            index: less
            for index, turn in shorter.items()
            if (less := self._shorter(answers[index], turn)) is not None
        }:
            for index, turn in shorter.items():
                requests[index] = {**requests[index], "messages": self._messages(*turn)}
            again = server.ask_all([requests[index] for index in shorter])
            for index, answer in zip(shorter, again, strict=True):
                answers[index] = answer
            shortened |= shorter.keys()
        found = self._adapted_replies(server, answers, requests)
        return [
            _with_event(reply, "shortened") if index in shortened else reply
            for index, reply in enumerate(found)
        ]

    def _adapted_replies(
        self,
        server: RemoteServer,
        answers: Sequence[RemoteAnswer | ServerFailed],
        requests: Sequence[Mapping[str, Any]],
    ) -> list[Reply]:
        again = {
            index: other
            for index, pair in enumerate(zip(answers, requests, strict=True))
            if (other := self._adapted(*pair)) is not None
        }
        found = [self._reply(*pair) for pair in zip(answers, requests, strict=True)]
        for index, answer in zip(again, server.ask_all(list(again.values())), strict=True):
            found[index] = _with_event(self._reply(answer, again[index]), "adapted")
        return found

    async def respond_async(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation; a failed request is an empty reply whose details say why."""
        return await self.respond_growing(persona, history)

    async def respond_growing(
        self,
        persona: Sequence[str],
        history: Sequence[Utterance],
        growing: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer one conversation; where replies are streamed, tell what it has grown to."""
        request = self.request((persona, history))
        # A name server that is away holds up this call alone, not the loop.
        looked_up = asyncio.get_running_loop().run_in_executor(_LOOKUPS, self._server)
        try:
            server = await asyncio.wait_for(looked_up, self.seconds)
        except TimeoutError:
            error = f"the server's name was not found within {self.seconds:g} s"
            return Reply("", None, {"error": error}, prompt=request)
        answer = await server.ask(request, growing)
        turn: Turn = (persona, history)
        events: list[ReplyEvent] = []
        while (shorter := self._shorter(answer, turn)) is not None:
            turn, events = shorter, ["shortened"]
            request = {**request, "messages": self._messages(*turn)}
            answer = await server.ask(request, growing)
        if (other := self._adapted(answer, request)) is not None:
            request, events = other, ["adapted", *events]
            answer = await server.ask(request, growing)
        reply = self._reply(answer, request)
        return replace(reply, events=(*events, *reply.events))

    def _server(self) -> RemoteServer:
        url = self._address("url")
        return RemoteServer(
            egress.target(url, "/chat/completions"),
            egress.key(self.key_variable, egress.server_of(url)),
            self.seconds,
            self.tries,
            self.at_once,
        )

    def _address(self, name: str) -> str:
        value = str(getattr(self, name))
        if not value:
            raise InvalidOption(f"chat_server: {name} is '', but must be given")
        return value

    def request(self, turn: Turn) -> dict[str, Any]:
        """Return the body of the request that a turn makes; a field without a value is left out.

        Raises `InvalidOption` where a reply is to be streamed of which no part may be shown.
        """
        if self.stream:
            self.refuse_stream("chat_server")
        fields = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "frequency_penalty": self.frequency_penalty,
            "presence_penalty": self.presence_penalty,
            "stream": self.stream or None,
            "stream_options": {"include_usage": True} if self.stream else None,
            "seed": self.drawn(turn, self.seed),
            "stop": [line.replace("\\n", "\n") for line in self.stop.splitlines() if line] or None,
        }
        unwanted = re.split(r"[,\s]+", self.without)
        sent = {name: value for name, value in fields.items() if name not in unwanted}
        sent[self.limit_field] = self.max_tokens
        return {
            "model": self._address("model"),
            "messages": self._messages(*turn),
            **{name: value for name, value in sent.items() if value is not None},
            **self.extra,
        }

    def _messages(
        self, persona: Sequence[str], history: Sequence[Utterance]
    ) -> list[dict[str, str]]:
        slots, about = slots_in(self.told), self._about(persona, history)
        if "history" in slots:
            return [{"role": "user", "content": about}]
        messages = [{"role": ROLES[each.speaker], "content": each.text} for each in history]
        if not messages or (self.user_first and messages[0]["role"] != "user"):
            messages.insert(0, {"role": "user", "content": self.opening})
        if self.system_role != "user":
            return [{"role": self.system_role, "content": about}, *messages]
        return _merged(about, messages, self.opening)

    def _about(self, persona: Sequence[str], history: Sequence[Utterance]) -> str:
        """Return the prompt with its slots filled; a persona without a slot follows it."""
        known = background_of(history)
        values = {
            "persona": "\n".join(persona),
            "brief": known.brief,
            "topic": known.topic,
            "history": "\n".join(f"{NAMES[each.speaker]}: {each.text}" for each in history),
        }
        about = filled(self.told, values)
        if not persona or "persona" in slots_in(self.told):
            return about
        return "\n".join([about, self.told_persona, *persona])

    def _shorter(self, answer: RemoteAnswer | ServerFailed, turn: Turn) -> Turn | None:
        """Return the newer half of a turn that was too long for the model, if it can be halved."""
        persona, history = turn
        if not self.shortens or isinstance(answer, RemoteAnswer) or len(history) < 2:
            return None
        if not _TOO_LONG.search(str(answer)):
            return None
        kept = history[-(len(history) // 2) :]
        if kept[0].speaker == "self" and len(kept) > 1:
            kept = kept[1:]  # as a conversation, it begins with the partner's words
        seed = seed_of(history)
        if seed is None:
            return persona, kept
        return persona, SeededHistory(kept, seed, background_of(history))

    def _adapted(
        self, answer: RemoteAnswer | ServerFailed, request: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return another request where a chat template refused this one, if it can be helped."""
        if not self.adapts or isinstance(answer, RemoteAnswer) or not _STRICT.search(str(answer)):
            return None
        messages = _strict(request["messages"], self.opening)
        return None if messages == request["messages"] else {**request, "messages": messages}

    def _reply(self, answer: RemoteAnswer | ServerFailed, request: Mapping[str, Any]) -> Reply:
        if isinstance(answer, ServerFailed):
            return Reply("", None, {"error": str(answer)}, prompt=request)
        try:
            choice = answer.body["choices"][0]
            message = dict(choice["message"])
        except (LookupError, TypeError, ValueError):
            return Reply("", None, {"error": NO_CONTENT}, prompt=request)
        text = text_of(message.get("content"))
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


def _with_event(reply: Reply, event: ReplyEvent) -> Reply:
    return replace(reply, events=(event, *reply.events))


def _merged(
    about: str, messages: Sequence[Mapping[str, str]], opening: str
) -> list[dict[str, str]]:
    """Put the prompt before the first message of the user, or before an opening line."""
    found = [dict(each) for each in messages]
    if all(each["role"] != "user" for each in found):
        found.insert(0, {"role": "user", "content": opening})
    first = next(each for each in found if each["role"] == "user")
    first["content"] = f"{about}\n\n{first['content']}"
    return found


def _strict(messages: Sequence[Mapping[str, str]], opening: str) -> list[dict[str, str]]:
    """Return messages of which the first is the user's, and whose speakers take turns."""
    system = [each["content"] for each in messages if each["role"] in SYSTEM]
    others = [dict(each) for each in messages if each["role"] not in SYSTEM]
    if not others or others[0]["role"] != "user":
        others.insert(0, {"role": "user", "content": opening})
    if system:
        others = _merged("\n".join(system), others, opening)
    found: list[dict[str, str]] = []
    for each in others:
        if found and found[-1]["role"] == each["role"]:
            found[-1]["content"] += f"\n{each['content']}"
        else:
            found.append(each)
    return found


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
