"""Where a bot runs: in this process, or in a child process that this one starts and ends.

A child keeps the time a model takes, its memory and its crashes away from the web. It speaks JSON
lines over its standard streams, knows neither Django nor the database, and ends when its parent
does, however that ended: its input is closed then. See docs/decisions/0003.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from bots import BatchBot, Bot, Reply, Turn, Utterance, bot_options, get_bot, version

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0  # seconds for one batch; a child that takes longer is ended
NICENESS = 5  # the sockets go first


class WorkerLost(RuntimeError):
    """The process or device that ran a bot is gone; its jobs must go to another one."""


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
    try:
        bot = get_bot(name, **options)
        return Answers(_replies(bot, turns), version(bot))
    except Exception as problem:
        if _of_device(problem):
            raise WorkerLost(f"{type(problem).__name__}: {problem}"[:500]) from problem
        raise


def _replies(bot: object, turns: Sequence[Turn]) -> list[Reply]:
    if isinstance(bot, BatchBot):
        return list(bot.respond_many(turns))
    return [cast(Bot, bot).respond(*turn) for turn in turns]


def _of_device(problem: Exception) -> bool:
    """Tell whether a GPU failed: its process is not to be trusted any more (R14)."""
    return "CUDA" in str(problem) or type(problem).__name__ in {
        "AcceleratorError",
        "OutOfMemoryError",
    }


def is_trained(name: str) -> bool:
    """Tell, without importing it, whether a bot runs on weights and so belongs in a child."""
    return any(option.name == "weights" for option in bot_options(name))


class Child:
    """One child process, started with the first batch and again after it was lost."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()  # one batch at a time
        self._closed = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def respond(self, name: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        """Answer a batch, or raise `WorkerLost` or `BotFailed`."""
        asked = [[list(persona), _plain(history)] for persona, history in turns]
        request = {"bot": name, "options": dict(options), "turns": asked}
        with self._turn:
            told = self._exchange(json.dumps(request).encode())
        if told.get("lost"):
            raise WorkerLost(told["error"])
        if "error" in told:
            raise BotFailed(told["error"])
        return Answers([Reply(**reply) for reply in told["replies"]], told["version"])

    def close(self) -> None:
        """End the child; what it was working on is lost."""
        self._closed = True
        self._end()

    def _exchange(self, line: bytes) -> dict[str, Any]:
        process = self._running()
        overdue = threading.Timer(self._patience, process.kill)
        overdue.daemon = True
        overdue.start()
        try:
            sent, got = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
            sent.write(line + b"\n")
            sent.flush()
            answer: dict[str, Any] = json.loads(got.readline() or b'{"lost": true, "error": ""}')
        except (OSError, ValueError) as problem:
            answer = {"lost": True, "error": str(problem)}
        finally:
            overdue.cancel()
        if answer.get("lost"):
            self._end()
            answer["error"] = answer["error"] or "the process that ran the bot ended"
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
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast(IO[bytes], stream).close()
        process.wait()


def _environment() -> dict[str, str]:
    """A child needs no secrets, and leaves a core to the sockets."""
    kept = {name: value for name, value in os.environ.items() if "SECRET" not in name}
    kept.pop("DATABASE_URL", None)
    kept.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 2) - 1)))
    return kept


def _plain(history: Sequence[Utterance]) -> list[list[str]]:
    return [[turn.speaker, turn.text] for turn in history]


def answer_line(line: bytes) -> dict[str, Any]:
    """Return a child's answer to one request."""
    asked = json.loads(line)
    turns = [
        (tuple(persona), tuple(Utterance(speaker, text) for speaker, text in history))
        for persona, history in asked["turns"]
    ]
    try:
        answers = respond_here(asked["bot"], asked["options"], turns)
    except WorkerLost as lost:
        return {"error": str(lost), "lost": True}
    except Exception as problem:  # a bot may fail in any way; the parent decides
        return {"error": f"{type(problem).__name__}: {problem}"[:500]}
    said = [
        {"text": reply.text, "score": reply.score, "details": dict(reply.details)}
        for reply in answers.replies
    ]
    return {"replies": said, "version": dict(answers.version)}


def main() -> None:
    """Answer requests until the input ends; what bots print goes to the log, not to the parent."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    for line in sys.stdin.buffer:
        told = answer_line(line)
        answers.write(json.dumps(told, default=str).encode() + b"\n")
        answers.flush()
        if told.get("lost"):
            sys.exit(70)


if __name__ == "__main__":
    main()
