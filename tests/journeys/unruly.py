"""Functions that misbehave in every way that a bot can, for the bot `callable`.

What they do follows from the last message: a conversation can be well behaved until it is told not
to be.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence

from bots import Reply, Utterance

FUNCTIONS = "tests.journeys.unruly.*"
STALL = 90.0  # seconds
LONG = 100_000  # characters
_held: list[bytes] = []


def polite(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say something harmless."""
    return "I see. Tell me more."


def count(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say how much was said."""
    return f"You said {len(history)} things."


def large(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Hold 120 MB."""
    if not _held:
        _held.append(os.urandom(1024) * 120 * 1024)
    return "I remember a lot."


def crash(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """End the process as a fault in a library would."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def stall(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Think for a very long time."""
    time.sleep(STALL)
    return "Here I am."


def out_of_gpu_memory(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Fail as torch does."""
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def endless(persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
    """Say far too much, with details that are far too long."""
    return Reply("word " * LONG, None, {"why": "because " * LONG})


def visible_gpus(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say which GPUs this process may use."""
    return f"GPU {os.environ['CUDA_VISIBLE_DEVICES']}"


def told(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Do what the last message says: crash, stall, fail, or say 100 kB."""
    last = history[-1].text.casefold() if history else ""
    for word, behave in (("crash", crash), ("stall", stall), ("memory", out_of_gpu_memory)):
        if word in last:
            return behave(persona, history)
    return "word " * (LONG // 5) if "long" in last else polite(persona, history)
