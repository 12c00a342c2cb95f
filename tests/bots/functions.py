"""Functions that answer, for the bot `callable`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

from bots import Reply, Turn, Utterance, seed_of

NOT_A_FUNCTION = 3
_heard: set[str] = set()


def count(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say how much there is."""
    return f"I have {len(persona)} lines and saw {len(history)} messages."


def considered(persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
    """Say how sure it is, too."""
    return Reply("Well, yes.", 0.5, {"why": "asked"})


def wrong(persona: Sequence[str], history: Sequence[Utterance]) -> int:
    """Return what is no reply."""
    return 3


def drawn(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say what is drawn with the seed of the reply."""
    return f"I drew {Random(seed_of(history)).random()}."


def nothing(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Say nothing."""
    return ""


async def waits(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Greet the first once the second is there, and the other way around; nobody else."""
    name = history[-1].text if history else "second"
    _heard.add(name)
    while name == "never" or not {"first", "second"} <= _heard:
        await asyncio.sleep(0.01)
    return f"Hello {name}."


def together(turns: Sequence[Turn]) -> list[str]:
    """Say how many it was asked about at once."""
    return [f"{place} of {len(turns)}" for place, _ in enumerate(turns, start=1)]


def too_few(turns: Sequence[Turn]) -> list[str]:
    """Return one reply, however many were asked for."""
    return ["One."]


async def written(persona: Sequence[str], history: Sequence[Utterance]) -> AsyncIterator[str]:
    """Say the pieces of a file; go on after the n-th once there is a file n beside it."""
    folder = Path(os.environ["PIECES"])
    for number, piece in enumerate(json.loads((folder / "pieces").read_text()), start=1):
        yield piece
        while not (folder / str(number)).exists():
            await asyncio.sleep(0.01)


async def reasoned(
    persona: Sequence[str], history: Sequence[Utterance]
) -> AsyncIterator[str | Reply]:
    """Say three words in pieces, and how it came to them."""
    for piece in ("Toast, ", "as "):
        yield piece
    yield Reply("ever.", 0.5, {"finish_reason": "stop"}, reasoning="It is morning.")
    yield "Nobody asks for this."


async def breaks_off(persona: Sequence[str], history: Sequence[Utterance]) -> AsyncIterator[str]:
    """Fail within the reply."""
    yield "Toast, "
    raise ValueError("no more")


async def numbers(persona: Sequence[str], history: Sequence[Utterance]) -> AsyncIterator[int]:
    """Yield what is no text."""
    yield 3
