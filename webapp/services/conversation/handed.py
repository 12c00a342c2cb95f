"""Committed messages as frames for one page, without a look at the database (R8).

Apart because it must ask nothing: what it cannot tell for sure it leaves to a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.realtime import Grown
from webapp.services.conversation.updates import Frame, Standing, event_frame, progress
from webapp.services.rules.events import Committed


@dataclass(frozen=True)
class View:
    """What stays the same of a page while it is open: its side, and what its protocol asks."""

    side: int
    is_endless: bool
    is_labeled: bool  # each message changes what is still to be labeled, which has to be looked up


def frames(
    grown: Sequence[Grown], view: View, shown: Frame, last_seq: int, language: str
) -> list[Frame] | None:
    """Return the frames of what comes right after `last_seq`, and the status after it.

    `shown` is the status sent last. None where only a look can tell: no status was sent yet, an
    entry is missing, or something else than a message was committed.
    """
    later = [one for one in grown if one.seq == 0 or one.seq > last_seq]
    if not later:
        return []
    entries = [one.entry for one in later if isinstance(one.entry, Committed)]
    seqs = [entry.event.seq for entry in entries]
    in_order = seqs == list(range(last_seq + 1, last_seq + 1 + len(later)))
    if not in_order or view.is_labeled or not shown or shown["ended"]:
        return None
    events_shown = [event_frame(entry.event, view.side, language) for entry in entries]
    return [*events_shown, _status(entries, view, shown)]


def _status(entries: Sequence[Committed], view: View, shown: Frame) -> Frame:
    last = entries[-1]
    standing = Standing(last.messages, last.minimum, last.maximum, last.event.side)
    known = progress(standing, view.side, ended=False, may_end=not view.is_endless)
    partner_wrote = any(entry.event.side != view.side for entry in entries)
    return {
        **shown,
        **known,
        "slow": False,  # the last message has just been written, and nobody failed to answer it
        "failed": False,
        "may_retry": False,
        "present": shown["present"] or partner_wrote,
    }
