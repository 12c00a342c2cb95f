"""Logs of a live bot with users and times: how often users return, what is said, how fast.

Apart because each kind of campaign is drawn in a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.simulation.campaigns import Design
from analysis.tables.schema import MessageTable

START = pd.Timestamp("2026-01-01T00:00:00Z")
DAYS = 365
LOYAL = 0.3
# Of those who are loyal, how often they come in a week; others come back this often, soon.
WEEKLY = 0.98
BACK = 1.5
SOON = 60
TEXTS = (
    "tell me about the old garden",
    "i am so happy today",
    "that makes me sad",
    "i hate this weather",
    "yes ok",
    "crap that went wrong",
)
# How often each is said, on average; users differ.
OFTEN = (6.0, 1.5, 0.7, 0.5, 1.0, 0.3)


def log(design: Design, chance: Generator) -> MessageTable:
    """Draw a year of each system: `conversations` is how many users it has."""
    rows = [
        (system, f"{system} {user}", *turn)
        for system in design.names
        for user in range(design.conversations)
        for turn in _turns(chance)
    ]
    frame = pd.DataFrame(rows, columns=["partner_of", "user", "session", "second", "bot", "text"])
    conversation = frame["user"] + " " + frame["session"].astype(str)
    return MessageTable(
        frame.assign(
            conversation=conversation,
            seq=np.arange(len(frame)),
            message=np.arange(len(frame)).astype(str),
            side=np.where(frame["bot"], "b", "a"),
            system=frame["partner_of"].where(frame["bot"], "human"),
            persona="",
            sent_at=(START + pd.to_timedelta(frame["second"].round(3), unit="s")).map(
                pd.Timestamp.isoformat
            ),
        )
    )


def _turns(chance: Generator) -> Iterator[tuple[int, float, bool, str]]:
    """Yield one user's turns and the bot's: session, second, whose, text."""
    habits = chance.dirichlet(OFTEN)
    long, slow = chance.gamma(4.0, 0.75), chance.lognormal(2.5, 0.5)
    for session, day in enumerate(_days(chance)):
        at = 86_400 * (day + chance.random() / 2)
        for _ in range(1 + chance.poisson(long)):
            yield session, at, False, TEXTS[int(chance.choice(len(TEXTS), p=habits))]
            yield session, at + 0.5, True, "oh"
            # Some complete what they said at once.
            at += 2.0 if chance.random() < 0.1 else 3.5 + chance.exponential(slow)


def _days(chance: Generator) -> list[int]:
    first = int(chance.integers(DAYS))
    if chance.random() < LOYAL:
        weeks = np.arange(first + 7, DAYS, 7)
        kept = weeks[chance.random(len(weeks)) < WEEKLY]
        return [first, *(kept + chance.integers(-1, 1, len(kept))).tolist()]
    later = first + chance.integers(1, SOON, chance.poisson(BACK))
    return [first, *sorted(set(later[later < DAYS].tolist()))]
