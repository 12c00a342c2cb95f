"""Remote calls for JSON, several at once: a deadline, retries, and a limit to the size of answers.

The key never gets into a message. What a server says in a refusal does, shortened and without
what looks like a secret: it names the field that is wrong, and it is for staff only.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bots.guards.egress import Target
from bots.guards.streamed import EventData, StreamedAnswer

if TYPE_CHECKING:
    import httpx

LARGEST = 256 * 1024  # bytes of an answer
WRAPPING = 64  # times as many that may come around the characters of one that is streamed
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})  # worth another try
FIRST_PAUSE = 0.25  # seconds; each further one is twice as long
LONGEST_PAUSE = 8.0
LONGEST_WORDS = 300  # characters of a server's own words
_MESSAGES = ("error", "message", "detail", "msg")
_SECRET = re.compile(
    r"(?i)\bbearer\s+\S+|\b(?:sk|pk|key|hf|ghp)[-_][\w.*-]{6,}|\b(?=\w*\d)[\w-]{24,}\b"
)


Growing = Callable[[str], None]  # is told what an answer has grown to; "": it begins anew


class ServerFailed(RuntimeError):
    """A server without a usable answer; the message says why."""


class _Again(ServerFailed):
    """The same request may work in a moment; `after` is the wait the server wants."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True)
class RemoteAnswer:
    """The answer of a server, and the attempt that got it."""

    body: Mapping[str, Any]
    attempt: int


@dataclass(frozen=True)
class RemoteServer:
    """A server and its limits; `seconds` is the deadline of each request, from when it is sent.

    Its repeats count within it. `at_once` limits what `ask_all` sends; who calls `ask` has a limit
    of their own.
    """

    target: Target
    key: str = ""
    seconds: float = 30.0
    tries: int = 4
    at_once: int = 16

    def ask_all(self, questions: Sequence[Mapping[str, Any]]) -> list[RemoteAnswer | ServerFailed]:
        """Send all requests; one that fails does not harm the others.

        In a thread of its own: the caller may be inside an event loop.
        """
        if not questions:
            return []
        with ThreadPoolExecutor(1, thread_name_prefix="remote") as thread:
            return thread.submit(lambda: asyncio.run(self._ask_all(questions))).result()

    async def _ask_all(
        self, questions: Sequence[Mapping[str, Any]]
    ) -> list[RemoteAnswer | ServerFailed]:
        turn = asyncio.Semaphore(self.at_once)
        async with _client() as client:

            async def ask(question: Mapping[str, Any]) -> RemoteAnswer | ServerFailed:
                async with turn:
                    return await self._answer(client, question)

            return list(await asyncio.gather(*map(ask, questions)))

    async def ask(
        self, question: Mapping[str, Any], growing: Growing | None = None
    ) -> RemoteAnswer | ServerFailed:
        """Send a request over a connection that this loop keeps for the next one.

        Where the question asks for a stream, `growing` is told what the answer has grown to.
        """
        return await self._answer(_kept_client(self.target.name), question, growing)

    async def _answer(
        self,
        client: httpx.AsyncClient,
        question: Mapping[str, Any],
        growing: Growing | None = None,
    ) -> RemoteAnswer | ServerFailed:
        end = asyncio.get_running_loop().time() + self.seconds
        try:
            async with asyncio.timeout_at(end):
                return await self._insist(client, question, end, growing or _ignore)
        except TimeoutError:
            return ServerFailed(f"{self.target.name} did not answer within {self.seconds:g} s")
        except ServerFailed as failed:
            return failed

    async def _insist(
        self,
        client: httpx.AsyncClient,
        question: Mapping[str, Any],
        end: float,
        growing: Growing,
    ) -> RemoteAnswer:
        for attempt in range(self.tries):
            try:
                body = await self._ask(client, question, attempt, growing)
                return RemoteAnswer(body, attempt + 1)
            except _Again as problem:
                growing("")
                pause = problem.after or min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
                late = asyncio.get_running_loop().time() + pause >= end
                if late or attempt + 1 == self.tries:
                    raise ServerFailed(f"{problem} ({attempt + 1} attempts)") from problem
                await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _ask(
        self,
        client: httpx.AsyncClient,
        question: Mapping[str, Any],
        attempt: int,
        growing: Growing,
    ) -> Mapping[str, Any]:
        import httpx

        headers = {"Host": self.target.name, "Accept-Encoding": "identity"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            async with client.stream(
                "POST",
                self.target.address(attempt),
                json=question,
                headers=headers,
                timeout=self.seconds,
                extensions={"sni_hostname": self.target.host},
            ) as response:
                self._check(response)
                if response.status_code != 200:
                    raise ServerFailed(await self._refusal(response))
                if question.get("stream") and _is_streamed(response):
                    return await self._streamed(response, growing)
                return _object(self.target.name, await self._body(response))
        except httpx.TransportError as error:
            reason = f"{self.target.name} cannot be reached: {type(error).__name__}"
            raise _Again(reason) from error
        except (httpx.HTTPError, ValueError) as error:
            raise ServerFailed(f"{self.target.name}: {type(error).__name__}") from error

    def _check(self, response: httpx.Response) -> None:
        name, status = self.target.name, response.status_code
        if status in BUSY:
            raise _Again(f"{name} answered with status {status}", _seconds(response))
        if response.is_redirect:
            raise ServerFailed(f"{name} answered with a redirect, which is never followed")
        if status == 200 and response.headers.get("Content-Encoding", "identity") != "identity":
            raise ServerFailed(f"{name} sent a compressed answer, which was not asked for")

    async def _refusal(self, response: httpx.Response) -> str:
        """Return the status and the server's own words, where it gives any."""
        status = f"{self.target.name} answered with status {response.status_code}"
        if response.headers.get("Content-Encoding", "identity") != "identity":
            return status
        words = self._shown(_words(await self._body(response)))
        return f"{status}: {words}" if words else status

    def _shown(self, words: str) -> str:
        """Return a server's words, shortened and without what looks like a secret."""
        if self.key:
            words = words.replace(self.key, "***")
        return _SECRET.sub("***", words)[:LONGEST_WORDS]

    async def _body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > LARGEST:
                raise ServerFailed(f"{self.target.name} sent more than {LARGEST // 1024} KiB")
        return bytes(body)

    async def _streamed(self, response: httpx.Response, growing: Growing) -> Mapping[str, Any]:
        """Return an answer that comes piece by piece; one that ends before it is whole has failed.

        It is read to its end, so that the connection serves the next request too.
        """
        events, answer, size, grown = EventData(), StreamedAnswer(), 0, ""
        async for part in response.aiter_raw():
            size += len(part)
            for data in events.feed(part):
                self._take(answer, data)
            if max(answer.size, events.pending, size / WRAPPING) > LARGEST:
                raise ServerFailed(f"{self.target.name} sent more than {LARGEST // 1024} KiB")
            if (text := answer.text) != grown:
                growing(grown := text)
        if not answer.is_whole:
            raise _Again(f"{self.target.name} ended its answer before it was whole")
        return answer.body()

    def _take(self, answer: StreamedAnswer, data: bytes) -> None:
        name = self.target.name
        try:
            answer.take(data)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ServerFailed(f"{name} sent an event that is no chunk of an answer") from error
        if answer.error is not None:
            words = self._shown(_words(json.dumps({"error": answer.error}).encode()))
            raise ServerFailed(f"{name} broke off its answer: {words}")


def _ignore(text: str) -> None:
    """Nobody looks on."""


def _is_streamed(response: httpx.Response) -> bool:
    return bool(response.headers.get("Content-Type", "").startswith("text/event-stream"))


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, httpx.AsyncClient]] = (
    WeakKeyDictionary()
)


def _client() -> httpx.AsyncClient:
    import httpx  # only where a server is asked: whoever lists bots need not wait for it

    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(trust_env=False, follow_redirects=False, limits=limits)


def _kept_client(name: str) -> httpx.AsyncClient:
    """Return this loop's client of a server: two names at one address share no connection."""
    kept = _clients.setdefault(asyncio.get_running_loop(), {})
    if name not in kept:
        kept[name] = _client()
    return kept[name]


def _seconds(response: httpx.Response) -> float | None:
    """Return the seconds of Retry-After, where it is a number."""
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _words(body: bytes) -> str:
    """Return what a server says of an error: its message, in whichever of the usual fields."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    while isinstance(value, dict):
        value = next((value[name] for name in _MESSAGES if value.get(name)), "")
    if isinstance(value, list):
        value = json.dumps(value)
    return " ".join(str(value).split())


def _object(name: str, body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ServerFailed(f"{name} did not answer with JSON") from error
    if not isinstance(value, dict):
        raise ServerFailed(f"{name} answered with JSON that is no object")
    return value
