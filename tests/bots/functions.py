"""Functions that answer, for the bot `callable`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
