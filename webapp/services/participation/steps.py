"""Screens and actions per state of a participation: no dead ends (R3).

The addresses behind the actions are those of the participant's pages.

Apart because it is the table of steps, which its test reads whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from webapp.models import Participation

P = Participation.State


@dataclass(frozen=True)
class Step:
    """A screen, and the actions that it offers."""

    screen: str
    actions: tuple[str, ...]


STEPS: dict[Participation.State, Step] = {
    P.ADMISSION: Step("admission", ("answer", "stop")),
    P.READY: Step("ready", ("start", "stop")),
    P.WAITING: Step("waiting", ("bot", "give-up", "stop")),
    P.MATCHED: Step("matched", ("meet", "stop")),
    P.CHATTING: Step("chat", ("frames", "stop")),
    P.RATING: Step("rate", ("draft", "rate", "stop")),
    P.WRITING: Step("write", ("draft", "write", "stop")),
    P.ENDED: Step("ended", ("withdraw", "consent")),
}
