"""Inference: a bot in this process, or in a child process that this one starts and ends.

A child keeps the time a model takes, its memory and its crashes away from the web. It speaks JSON
lines over its standard streams, knows neither Django nor the database, and ends when its parent
does, however that ended: its input is closed then. See docs/decisions/0003. Long because both
ends of the pipe are read together.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from bots import (
    AsyncBot,
    Background,
    BatchBot,
    Bot,
    Reply,
    SeededHistory,
    StreamingBatchBot,
    StreamingBot,
    Turn,
    Utterance,
    Way,
    background_of,
    bot_options,
    get_bot,
    seed_of,
    version,
    way_of,
)
from bots.dialogue import Speaker
from bots.footprint import Footprint, footprint
from bots.guards.growing import Growing, Paced
from webapp.pipes import READY, Nursery, Pipe, Process

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 30.0  # seconds for one batch; a child that takes longer is ended
LOADING = 600.0  # seconds until a bot must be loaded
BEYOND = 5.0  # seconds in which a child says itself that a call took too long
STOPPING = "the server is stopping"
LEFT = 70  # exit status of a process whose device failed
LONGEST = 1_000_000  # characters of a reply, its raw text and its reasoning, that leave a child
LONGEST_DETAILS = 65_536
APART = {"weights", "checkpoint", "function", "device", "bot"}  # of models and foreign code
SECRETS = {
    *("DATABASE_URL", "REDIS_URL", "METRICS_TOKEN"),
    *("CHAT_SERVICE_TOKEN", "CHAT_SERVICE_SECRET"),
}
GREETING: Turn = ((), (Utterance("partner", "Hello! How are you?"),))
NICENESS = 5  # the sockets go first
SLOW_TO_IMPORT = ("torch",)  # 1.6 CPU seconds, before any weights
COMMAND = (sys.executable, "-m", "webapp.inference")


class WorkerLost(RuntimeError):
    """The process or device that ran a bot is gone; its jobs must go to another one.

    `of_device` where memory or a GPU failed, which is not the bot's fault.
    """

    def __init__(self, message: str, *, of_device: bool = False) -> None:
        super().__init__(message)
        self.of_device = of_device


class BotFailed(RuntimeError):
    """A bot in a child raised an error; the text is the error's."""


@dataclass(frozen=True)
class Answers:
    """The replies to a batch, in its order, and which version of the bot gave them."""

    replies: Sequence[Reply]
    version: Mapping[str, str]


Respond = Callable[[str, Mapping[str, Any], Sequence[Turn]], Answers]
RespondGrowing = Callable[[str, Mapping[str, Any], Sequence[Turn], Mapping[int, Growing]], Answers]
Tell = Callable[[int, str], None]  # the place of a turn, and what its reply has grown to


def respond_here(
    name: str, options: Mapping[str, Any], turns: Sequence[Turn], tell: Tell | None = None
) -> Answers:
    """Answer in this process; an error of the device means that the process must end.

    `tell` hears what the replies of a bot grow to that streams batches.
    """
    with _device_watched():
        bot = get_bot(name, **options)
        if tell is not None and isinstance(bot, StreamingBatchBot):
            return Answers(list(bot.respond_many_growing(turns, tell)), version(bot))
        return Answers(_replies(bot, turns), version(bot))


async def respond_beside(
    name: str,
    options: Mapping[str, Any],
    turn: Turn,
    growing: Growing | None = None,
) -> Answers:
    """Answer one conversation in this event loop, by a bot whose way is `async`.

    `growing` is told, ten times a second at most, what the reply has grown to, by a bot that
    streams.
    """
    with _device_watched():
        bot = get_bot(name, **options)
        if growing is not None and isinstance(bot, StreamingBot):
            reply = await _growing(bot, turn, Paced(growing))
        else:
            reply = await cast(AsyncBot, bot).respond_async(*turn)
        return Answers([reply], version(bot))


async def _growing(bot: StreamingBot, turn: Turn, paced: Paced) -> Reply:
    try:
        return await bot.respond_growing(*turn, paced.grow)
    finally:
        paced.end()


def warm_up_here(name: str, options: Mapping[str, Any]) -> Way:
    """Load a bot in this process, let a model answer once, and tell how it is called."""
    with _device_watched():
        bot = get_bot(name, **options)
        if not hasattr(bot, "function"):  # what a foreign function does is not ours to cause
            _replies(bot, [GREETING])
        return way_of(bot)


@contextlib.contextmanager
def _device_watched() -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        if _of_device(problem):
            error = f"{type(problem).__name__}: {problem}"[:500]
            raise WorkerLost(error, of_device=True) from problem
        raise


def _replies(bot: object, turns: Sequence[Turn]) -> list[Reply]:
    if isinstance(bot, BatchBot):
        return list(bot.respond_many(turns))
    return [cast(Bot, bot).respond(*turn) for turn in turns]


def _of_device(problem: Exception) -> bool:
    """Tell whether memory or a GPU failed: the process is not to be trusted any more (R14)."""
    text = str(problem)
    signs = ("CUDA", "HIP error", "out of memory", "can't allocate memory")
    kinds = {"AcceleratorError", "OutOfMemoryError", "MemoryError"}
    return type(problem).__name__ in kinds or any(sign in text for sign in signs)


def needs_own_process(name: str) -> bool:
    """Tell, without importing it, whether a bot loads a model or foreign code: not in the web.

    A bot that wraps another one may be wrapped around a model.
    """
    return any(option.name in APART for option in bot_options(name))


class Child:
    """One child process, started with the first batch and again after it was lost.

    It answers one batch at a time; of a bot whose way is `async`, any number of calls.
    """

    def __init__(
        self, patience: float = PATIENCE, begin: Callable[[], Process] | None = None
    ) -> None:
        self._patience = patience
        self._begin = begin or begin_process
        self._pipe: Pipe | None = None
        self._turn = threading.Lock()
        self._closed = False
        self._loaded: set[str] = set()
        self.footprint = Footprint(0.0, 0.0)  # as it last told
        self.way: Way | None = None  # of the bot loaded last
        self.imported: Sequence[str] = ()  # what is slow to import, and was needed

    @property
    def pid(self) -> int | None:
        return self._pipe.process.pid if self._pipe else None

    def respond(
        self,
        name: str,
        options: Mapping[str, Any],
        turns: Sequence[Turn],
        growing: Mapping[int, Growing] | None = None,
    ) -> Answers:
        """Answer a batch, or raise `WorkerLost` or `BotFailed`.

        `growing`, by the place of a turn, is told in another thread what the reply of a bot that
        streams has grown to.
        """
        listed, heard = [_listed(turn) for turn in turns], growing or {}
        request = {"bot": name, "options": dict(options), "turns": listed, "grows": [*heard]}
        with self._turn:
            pipe = self._load(name, options)
            is_async = self.way == "async"
            if not is_async:
                result = self._result(pipe, request, self._patience, heard)
        if is_async:  # the child itself ends what is late, and spares the others
            alone = {**request, "patience": self._patience}
            result = self._result(pipe, alone, self._patience + BEYOND, heard)
        return Answers([Reply(**reply) for reply in result["replies"]], result["version"])

    def warm_up(self, name: str, options: Mapping[str, Any]) -> None:
        """Load a bot before anybody waits for it."""
        with self._turn:
            self._load(name, options)

    def close(self) -> None:
        """End the child; its work under way is lost."""
        self._closed = True
        if self._pipe is not None:
            self._end(self._pipe)

    def _load(self, name: str, options: Mapping[str, Any]) -> Pipe:
        """Loading takes its own time: it does not count against the patience for a reply."""
        key = json.dumps([name, options], sort_keys=True, default=str)
        pipe = self._running()  # a process that is begun has loaded nothing
        if key not in self._loaded:
            answer = self._result(pipe, {"bot": name, "options": dict(options)}, LOADING)
            self.way, self.imported = answer["way"], answer["imported"]
            self._loaded.add(key)
        return pipe

    def _result(
        self,
        pipe: Pipe,
        request: Mapping[str, Any],
        patience: float,
        heard: Mapping[int, Growing] | None = None,
    ) -> dict[str, Any]:
        heard = heard or {}
        result = pipe.ask(request, patience, lambda index, text: heard[index](text))
        if result.get("lost"):
            self._end(pipe)
            raise WorkerLost(result["error"], of_device=bool(result.get("of_device")))
        self.footprint = Footprint(**result["footprint"])
        if "error" in result:
            raise BotFailed(result["error"])
        return result

    def _running(self) -> Pipe:
        pipe = self._pipe
        if pipe is None or pipe.process.poll() is not None:
            if pipe is not None:
                self._end(pipe)
            if self._closed:
                raise WorkerLost(STOPPING)
            pipe = self._pipe = Pipe(self._begin())
        if self._closed:  # who closed it may have seen no process to end
            self._end(pipe)
            raise WorkerLost(STOPPING)
        return pipe

    def _end(self, pipe: Pipe) -> None:
        """End a process; another one that has taken its place meanwhile goes on."""
        if pipe is self._pipe:
            self._pipe, self._loaded, self.footprint = None, set(), Footprint(0.0, 0.0)
        pipe.end()


def begin_process() -> Process:
    """Start a process of a bot, which has imported nothing."""
    return subprocess.Popen(  # noqa: S603 (a command of ours)
        COMMAND, cwd=ROOT, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def begin_nursery(modules: Sequence[str]) -> Nursery:
    """Start a process that forks into processes of bots which have imported these modules."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    return Nursery(COMMAND, modules, cwd=ROOT, env=_environment(), **quiet)


def _environment() -> dict[str, str]:
    """A child needs no secrets, leaves a core to the sockets, and sees the parent's GPUs."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if "SECRET" not in name and name not in SECRETS
    }
    kept.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 2) - 1)))
    return kept


def _listed(turn: Turn) -> list[Any]:
    """Return a turn as it enters a child."""
    persona, history = turn
    plain = [[each.speaker, each.text] for each in history]
    return [list(persona), plain, seed_of(history), asdict(background_of(history))]


def answer_line(line: bytes, outlet: Outlet | None = None) -> dict[str, Any]:
    """Return a child's answer to one request: a batch, or a bot to be loaded."""
    request = json.loads(line)
    with _reported(request) as result:
        result |= _answered(request, outlet) if "turns" in request else _loaded(request)
    return result


async def answer_beside(request: Mapping[str, Any], outlet: Outlet | None = None) -> dict[str, Any]:
    """Return a child's answer to one conversation; others are answered meanwhile."""
    with _reported(request) as result:
        (turn,), patience = _turns(request), request["patience"]
        tell = _tell(request, outlet)
        growing = None if tell is None else partial(tell, 0)
        try:
            async with asyncio.timeout(patience):
                answers = await respond_beside(request["bot"], request["options"], turn, growing)
        except TimeoutError as late:
            raise BotFailed(f"the bot took longer than {patience:g} s") from late
        result |= _sent_all(answers)
    return result


@contextlib.contextmanager
def _reported(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a request's answer, which says what went wrong, if anything did."""
    result: dict[str, Any] = {"number": request.get("number", 0)}
    try:
        yield result
    except WorkerLost as lost:
        result |= {"error": str(lost), "lost": True, "of_device": lost.of_device}
    except Exception as problem:  # a bot may fail in any way; the parent decides
        is_ours = isinstance(problem, BotFailed)
        result["error"] = (str(problem) if is_ours else f"{type(problem).__name__}: {problem}")[
            :500
        ]
    result["footprint"] = asdict(footprint())


def _loaded(request: Mapping[str, Any]) -> dict[str, Any]:
    way = warm_up_here(request["bot"], request["options"])
    return {"way": way, "imported": [name for name in SLOW_TO_IMPORT if name in sys.modules]}


def _answered(request: Mapping[str, Any], outlet: Outlet | None) -> dict[str, Any]:
    name, options, tell = request["bot"], request["options"], _tell(request, outlet)
    return _sent_all(respond_here(name, options, _turns(request), tell))


def _tell(request: Mapping[str, Any], outlet: Outlet | None) -> Tell | None:
    """Return what tells the parent of the replies that it wants to see grow."""
    if outlet is None or not request["grows"]:
        return None
    wanted, number = set(request["grows"]), request["number"]

    def tell(index: int, text: str) -> None:
        if index in wanted:
            outlet.write({"number": number, "grown": [index, text[:LONGEST]]})

    return tell


def _turns(request: Mapping[str, Any]) -> list[Turn]:
    turns = request["turns"]
    return [
        (tuple(persona), _history(history, seed, Background(**known)))
        for persona, history, seed, known in turns
    ]


def _sent_all(answers: Answers) -> dict[str, Any]:
    replies = [_sent(reply) for reply in answers.replies]
    return {"replies": replies, "version": dict(answers.version)}


def _history(
    turns: Sequence[Sequence[str]], seed: int | None, background: Background
) -> Sequence[Utterance]:
    history = tuple(Utterance(cast(Speaker, speaker), text) for speaker, text in turns)
    return history if seed is None else SeededHistory(history, seed, background)


def _sent(reply: Reply) -> dict[str, Any]:
    """Return a reply as it leaves the child: whole, or failed where it is too long for that."""
    raw = reply.text if reply.raw is None else reply.raw
    length = len(raw) + len(reply.text) + len(reply.reasoning)
    if length > LONGEST:
        error = f"the reply has {length:,} characters, but may have {LONGEST:,}"
        return {"text": "", "score": None, "details": {"error": error}, "raw": raw[:LONGEST]}
    whole = {field.name: getattr(reply, field.name) for field in fields(reply)}
    return {**whole, "details": _details(reply)}


def _details(reply: Reply) -> dict[str, Any]:
    details = dict(reply.details)
    if len(json.dumps(details, default=str)) > LONGEST_DETAILS:
        return {"left out": "the details were too long"}
    return details


class Outlet:
    """The way of answers out of a child, from any of its threads."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, result: Mapping[str, Any]) -> None:
        """Send an answer; a process whose device failed, or whose parent is gone, ends."""
        line = json.dumps(result, default=str).encode() + b"\n"
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except BrokenPipeError:
                os._exit(0)
            if result.get("lost"):
                os._exit(LEFT)


def main() -> None:
    """Answer requests; with a socket's number, fork first into processes that do."""
    os.nice(NICENESS)
    if len(sys.argv) == 1 or _forked(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]):
        _answer_requests()


def _forked(line: socket.socket, modules: Sequence[str]) -> bool:
    """Import, then fork whenever asked; True in each fork, False in the nursery at its end.

    A fork draws numbers of its own: Python's `random` sees to that by itself, NumPy does not.
    """
    for name in modules:
        import_module(name)
    line.send(READY)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks but by descriptors
    while True:
        _, ends, *_ = socket.recv_fds(line, 1, 2)
        if len(ends) < 2:
            return False
        if not (pid := os.fork()):
            break
        for each in ends:
            os.close(each)
        line.send(str(pid).encode())
    line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, each in enumerate(ends):
        os.dup2(each, number)
        os.close(each)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    return True


def _answer_requests() -> None:
    """Answer requests until the input ends; what bots print goes to the log, not to the parent."""
    outlet = Outlet(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "patience" in request:
            answer = asyncio.run_coroutine_threadsafe(answer_beside(request, outlet), loop)
            answer.add_done_callback(lambda done: outlet.write(done.result()))
        else:
            outlet.write(answer_line(line, outlet))


if __name__ == "__main__":
    main()
