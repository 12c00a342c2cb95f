"""The seeded-bug drill: each deliberate fault, the people it is tried on, and what must catch it.

`faults` are in both runs: they make the moment come in which the bug matters, such as a stalled
worker, and a right program stands them. `bug` and the missing constraint are in one run only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.crowd.people import Mix

CALM = Mix(pause=0.1, slow=0.0, spam=0.0, dropout=0.0, careless=0.0, plain=0.0, twice=0.0)
SLOW = Mix(**{**vars(CALM), "pause": 0.4})


def is_acknowledged(record: Mapping[str, Any]) -> bool:
    """Tell whether a message was acknowledged, by what a client wrote down."""
    return record["what"] == "ok" and "chat" in record


def has_code(record: Mapping[str, Any]) -> bool:
    """Tell whether somebody got a completion code."""
    return record["what"] == "end" and bool(record.get("code"))


@dataclass(frozen=True, kw_only=True)
class Drill:
    """One fault; `caught_by` are the checks of which one has to find it."""

    name: str
    about: str
    caught_by: tuple[str, ...]
    faults: tuple[str, ...] = ()
    constraint: str = ""  # dropped with the bug: model and name
    kind: str = "bots"
    people: int = 8
    # A server is killed as soon as one of the clients has written down something of this kind.
    kill_upon: Callable[[Mapping[str, Any]], bool] | None = None
    kills: int = 2
    servers: int = 1
    seconds: float = 25.0  # that people stay whom the bug keeps
    mix: Mix = field(default=CALM)

    def patience(self, *, with_bug: bool) -> float:
        """Return how many seconds people stay; without the bug all of them end by themselves."""
        return self.seconds if with_bug else 4 * self.seconds

    def injected(self, *, with_bug: bool) -> str:
        return ",".join((*self.faults, *((self.name,) if with_bug else ())))


DRILLS = {
    drill.name: drill
    for drill in (
        Drill(
            name="ack_before_commit",
            about="a message is acknowledged, and committed a moment later",
            caught_by=("missing",),
            kill_upon=is_acknowledged,
            mix=SLOW,
        ),
        Drill(
            name="no_fence",
            about="a late reply of a stalled worker is written though another one has answered",
            caught_by=("doubled",),
            faults=("stalled_worker",),
            constraint="Event.one_reply_a_message",
            people=3,
            servers=2,
            seconds=32.0,
        ),
        Drill(
            name="read_then_write_quota",
            about="a cell is read, then written, without a condition",
            caught_by=("overshoot",),
            constraint="QuotaCell.quotacell_never_over_target",
            people=12,
        ),
        Drill(
            name="subscribe_after_replay",
            about="a socket joins its group only after the replay",
            caught_by=("participations without exactly one end",),
            faults=("no_poll", "thinking_bot"),
            mix=Mix(**{**vars(CALM), "flaky": 0.7}),
            people=6,
        ),
        Drill(
            name="code_before_commit",
            about="the completion code is out before the ratings are stored",
            caught_by=("codes without data",),
            kill_upon=has_code,
            mix=SLOW,
        ),
        Drill(
            name="no_unique_client_id",
            about="a repeat of a write is taken for a new one",
            caught_by=("doubled",),
            constraint="Event.one_event_a_client_id",
            kind="labeled",
            mix=Mix(**{**vars(CALM), "twice": 0.5}),
        ),
        Drill(
            name="rating_off_by_one",
            about="a rating is stored one point beside the one that was given",
            caught_by=("changed values",),
            seconds=100.0,  # it keeps nobody
            people=4,
        ),
        Drill(
            name="label_flipped",
            about="a yes is stored as a no, and the other way round",
            caught_by=("changed values",),
            seconds=40.0,  # it keeps everybody: a label that came out wrong is given again
            kind="labeled",
            people=4,
        ),
    )
}
