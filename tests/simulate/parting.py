"""A bot of `--systems` files that takes its leave: it repeats, now and then with a goodbye."""

from __future__ import annotations

from collections.abc import Sequence

from bots import Utterance

GREETING, GOODBYE = "Hi!", "Goodbye!"


def parting(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Greet first; then repeat the last message, with a goodbye where its words are even."""
    heard = [turn.text for turn in history if turn.speaker == "partner"]
    if not heard:
        return GREETING
    return heard[-1] if len(heard[-1].split()) % 2 else f"{heard[-1]} {GOODBYE}"
