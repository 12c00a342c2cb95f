"""Inference: a bot in this process, or in a child process that this one starts and ends.

A child keeps the time a model takes, its memory and its crashes away from the web. It speaks JSON
lines over its standard streams, knows neither Django nor the database, and ends when its parent
does, however that ended: its input is closed then. See docs/decisions/0003. Long because both
ends of the pipe are read together.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, cast

from bots import (
    BatchBot,
    Bot,
    Reply,
    SeededHistory,
    Turn,
    Utterance,
    bot_options,
    get_bot,
    seed_of,
    version,
)
from bots.dialogue import Speaker
from bots.footprint import Footprint, footprint

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 30.0  # seconds for one batch; a child that takes longer is ended
LOADING = 600.0  # seconds until a bot must be loaded
LEFT = 70  # exit status of a process whose device failed
LONGEST = 1_000_000  # characters of a reply, its raw text and its reasoning, that leave a child
LONGEST_DETAILS = 65_536
LARGEST = 64 * 1024 * 1024  # bytes of a child's answer
APART = {"weights", "checkpoint", "function", "device", "bot"}  # of models and foreign code
SECRETS = {
    *("DATABASE_URL", "REDIS_URL", "METRICS_TOKEN"),
    *("CHAT_SERVICE_TOKEN", "CHAT_SERVICE_SECRET"),
}
LOST = b'{"lost": true, "error": ""}'
GREETING: Turn = ((), (Utterance("partner", "Hello! How are you?"),))
NICENESS = 5  # the sockets go first


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


def respond_here(name: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
    """Answer in this process; an error of the device means that the process must end."""
    with _device_watched():
        bot = get_bot(name, **options)
        return Answers(_replies(bot, turns), version(bot))


def warm_up_here(name: str, options: Mapping[str, Any]) -> bool:
    """Load a bot in this process, let a model answer once, and tell whether it takes batches."""
    with _device_watched():
        bot = get_bot(name, **options)
        if not hasattr(bot, "function"):  # what a foreign function does is not ours to cause
            _replies(bot, [GREETING])
        return isinstance(bot, BatchBot)


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
    """One child process, started with the first batch and again after it was lost."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()  # one batch at a time
        self._closed = False
        self._loaded: set[str] = set()
        self.footprint = Footprint(0.0, 0.0)  # as it last told
        self.takes_batches = True  # until it says otherwise

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def respond(self, name: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        """Answer a batch, or raise `WorkerLost` or `BotFailed`."""
        listed = [[list(persona), _plain(history), seed_of(history)] for persona, history in turns]
        request = {"bot": name, "options": dict(options), "turns": listed}
        with self._turn:
            self._load(name, options)
            result = self._result(request, self._patience)
        return Answers([Reply(**reply) for reply in result["replies"]], result["version"])

    def warm_up(self, name: str, options: Mapping[str, Any]) -> None:
        """Load a bot before anybody waits for it."""
        with self._turn:
            self._load(name, options)

    def close(self) -> None:
        """End the child; its work under way is lost."""
        self._closed = True
        self._end()

    def _load(self, name: str, options: Mapping[str, Any]) -> None:
        """Loading takes its own time: it does not count against the patience for a reply."""
        key = json.dumps([name, options], sort_keys=True, default=str)
        self._running()  # a process that is begun has loaded nothing
        if key not in self._loaded:
            result = self._result({"bot": name, "options": dict(options)}, LOADING)
            self.takes_batches = bool(result["batches"])
            self._loaded.add(key)

    def _result(self, request: Mapping[str, Any], patience: float) -> dict[str, Any]:
        result = self._exchange(json.dumps(request).encode(), patience)
        if result.get("lost"):
            raise WorkerLost(result["error"], of_device=bool(result.get("of_device")))
        self.footprint = Footprint(**result["footprint"])
        if "error" in result:
            raise BotFailed(result["error"])
        return result

    def _exchange(self, line: bytes, patience: float) -> dict[str, Any]:
        process = self._running()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        overdue = threading.Timer(patience, end)
        overdue.daemon = True
        overdue.start()
        try:
            sent, got = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
            sent.write(line + b"\n")
            sent.flush()
            answer: dict[str, Any] = json.loads(got.readline(LARGEST) or LOST)
        except (OSError, ValueError) as problem:
            # A pipe that broke because we ended the child tells nothing.
            answer = {"lost": True, "error": "" if late.is_set() else str(problem)}
        finally:
            overdue.cancel()
        if answer.get("lost"):
            self._end()
            ended = "the process that ran the bot ended"
            reason = f"the bot took longer than {patience:g} s" if late.is_set() else ended
            answer["error"] = answer["error"] or reason
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise WorkerLost("the server is stopping")
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "webapp.inference"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT,
                env=_environment(),
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        self._loaded, self.footprint = set(), Footprint(0.0, 0.0)
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast(IO[bytes], stream).close()
        process.wait()


def _environment() -> dict[str, str]:
    """A child needs no secrets, leaves a core to the sockets, and sees the parent's GPUs."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if "SECRET" not in name and name not in SECRETS
    }
    kept.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 2) - 1)))
    return kept


def _plain(history: Sequence[Utterance]) -> list[list[str]]:
    return [[turn.speaker, turn.text] for turn in history]


def answer_line(line: bytes) -> dict[str, Any]:
    """Return a child's answer to one request: a batch, or a bot to be loaded."""
    request = json.loads(line)
    try:
        result = _answered(request) if "turns" in request else _loaded(request)
    except WorkerLost as lost:
        return {"error": str(lost), "lost": True, "of_device": lost.of_device}
    except Exception as problem:  # a bot may fail in any way; the parent decides
        result = {"error": f"{type(problem).__name__}: {problem}"[:500]}
    return {**result, "footprint": asdict(footprint())}


def _loaded(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"batches": warm_up_here(request["bot"], request["options"])}


def _answered(request: Mapping[str, Any]) -> dict[str, Any]:
    turns = [
        (tuple(persona), _history(history, seed)) for persona, history, seed in request["turns"]
    ]
    answers = respond_here(request["bot"], request["options"], turns)
    replies = [_sent(reply) for reply in answers.replies]
    return {"replies": replies, "version": dict(answers.version)}


def _history(turns: Sequence[Sequence[str]], seed: int | None) -> Sequence[Utterance]:
    history = tuple(Utterance(cast(Speaker, speaker), text) for speaker, text in turns)
    return history if seed is None else SeededHistory(history, seed)


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


def main() -> None:
    """Answer requests until the input ends; what bots print goes to the log, not to the parent."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    for line in sys.stdin.buffer:
        result = answer_line(line)
        try:
            answers.write(json.dumps(result, default=str).encode() + b"\n")
            answers.flush()
        except BrokenPipeError:  # the parent is gone
            os._exit(0)
        if result.get("lost"):
            sys.exit(LEFT)


if __name__ == "__main__":
    main()
