"""Engagement with a live bot: figures of Ruuh (NLP4ConvAI 2019) from a log with users and times.

Exchanges per session (CPS; a session ends after 30 minutes of silence), users with two sessions or
more, weekly activity six months after first contact, active days, turns with an emotion, users and
turns that offend, words of assent, gaps between turns. Emotion and offense are told by word lists
unless a classifier is given. Intervals are over users; the paper has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.conversations import usage
from analysis.conversations.transcripts import mean_per
from analysis.conversations.usage import Log
from analysis.stats.detection import share
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text import lexicons
from analysis.text.lexicons import Judge, Namer

Row = dict[str, object]


def engagement(
    messages: MessageTable,
    *,
    emotion: Namer = lexicons.emotion,
    offends: Judge = lexicons.is_offensive,
) -> pd.DataFrame:
    """Return the figures of each system; none where the table has no column `user`, or no times."""
    rows: list[Row] = []
    for log in usage.logs(messages):
        about = {"protocol": "", "question": "", "system": log.system}
        found = (*_sessions(log), *_users(log), *_turns(log, emotion, offends), *_timing(log))
        rows += [{**about, **row} for row in found]
    return tidy("engagement", rows)


def _sessions(log: Log) -> Iterator[Row]:
    exchanges = usage.exchanges(log)
    user = log.rows.groupby("session")["user"].first()
    sums = exchanges.groupby(user).agg(["sum", "size"]).to_numpy(dtype=float)
    yield {"metric": "exchanges_per_session", **_mean(sums)}


def _users(log: Log) -> Iterator[Row]:
    yield {"metric": "return_rate", **_share(usage.sessions_of_users(log) > 1)}
    retained = usage.weekly_retained(log)
    row = {"metric": "weekly_retention", **_share(retained)}
    why = "no user's first contact is six months before the log ends"
    yield {**row, "reason": None if len(retained) else why}
    days = usage.active_days(log)
    yield {
        "metric": "active_days",
        **_mean(np.column_stack([days, np.ones(len(days))])),
        "most": int(days.max()),
    }


def _turns(log: Log, emotion: Namer, offends: Judge) -> Iterator[Row]:
    own = log.own
    named = own["text"].map(emotion)
    for name in ("non_neutral", *lexicons.EMOTIONS):
        marked = named.notna() if name == "non_neutral" else named == name
        yield {"metric": f"turns_{name}", **_of_turns(own, marked)}
    rude = own["text"].map(offends).astype(bool)
    yield {"metric": "users_offensive", **_share(rude.groupby(own["user"]).any())}
    yield {"metric": "turns_offensive", **_of_turns(own, rude)}
    assent = own["text"].map(lexicons.is_assent).astype(bool)
    yield {"metric": "turns_assent", **_of_turns(own, assent)}


def _timing(log: Log) -> Iterator[Row]:
    gaps, follow = usage.gaps(log), usage.is_follow_up(log)
    user = log.own["user"].reindex(gaps.index)
    later = gaps[~follow]
    why = None if len(gaps) else "no session has two turns of its user"
    for name, values in (("gap_seconds", gaps), ("gap_seconds_without_follow_ups", later)):
        sums = values.groupby(user.reindex(values.index)).agg(["sum", "size"]).to_numpy(dtype=float)
        yield {"metric": name, **_mean(sums), **({"reason": why} if why else {})}
    sums = follow.groupby(user).agg(["sum", "size"]).to_numpy(dtype=float)
    yield {"metric": "turns_follow_up", **_mean(sums, most=1.0), **({"reason": why} if why else {})}


def _of_turns(own: pd.DataFrame, marked: pd.Series) -> Row:
    sums = marked.astype(float).groupby(own["user"]).agg(["sum", "size"]).to_numpy(dtype=float)
    return _mean(sums, most=1.0)


def _mean(sums: np.ndarray, *, most: float = np.inf) -> Row:
    return mean_per([(float(a), float(b)) for a, b in sums], most=most, unit="user")


def _share(flags: pd.Series) -> Row:
    found = share(flags.to_numpy(dtype=bool))
    low, high = found.interval
    return {"estimate": found.estimate, "low": low, "high": high, "n": found.n}
