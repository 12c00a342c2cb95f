"""Functions that answer, for the bot `callable`."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bots import Reply, Utterance, seed_of

NOT_A_FUNCTION = 3


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
