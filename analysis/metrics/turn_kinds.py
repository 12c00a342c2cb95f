"""Kinds of users' turns with a live bot, and how often they write what Ruuh counts.

Ruuh (NLP4ConvAI 2019, sections 3 and 4.1); the rules of the kinds are in
`analysis/conversations/turn_kinds.py`. `turns_completion` and so on are shares of the users' turns,
with intervals over users; `love_per_day`, `proposal_per_day`, `doubt_per_day` are turns by the days
from the log's first message to its last, days without any among them, and `..._per_month` as many
in 365.25 / 12 days. Those are counts of this log and have no interval.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.conversations import turn_kinds as rules
from analysis.conversations import usage
from analysis.conversations.transcripts import mean_per
from analysis.conversations.turn_kinds import PHRASES, Phrases
from analysis.conversations.usage import Log
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy

SIMULATED_AS = ("engagement",)

MONTH = 365.25 / 12  # days


def turn_kinds(messages: MessageTable, *, phrases: Phrases = PHRASES) -> pd.DataFrame:
    """Return a row per system and kind, and two per phrase; none without users and times."""
    rows: list[dict[str, object]] = []
    for log in usage.logs(messages):
        about = {"protocol": "", "question": "", "system": log.system}
        rows += [{**about, **row} for row in (*_shares(log), *_counts(log, phrases))]
    return tidy("turn_kinds", rows)


def _shares(log: Log) -> Iterator[dict[str, object]]:
    user, found = log.own["user"], rules.kinds(log)
    for kind in rules.KINDS:
        sums = found[kind].astype(float).groupby(user).agg(["sum", "size"]).to_numpy(dtype=float)
        pairs = [(float(a), float(b)) for a, b in sums]
        yield {"metric": f"turns_{_named(kind)}", **mean_per(pairs, most=1.0, unit="user")}


def _named(kind: str) -> str:
    # `engagement` has had turns_follow_up, quick or starred turns, from before.
    return "follow_up_to_question" if kind == "follow_up" else kind


def _counts(log: Log, phrases: Phrases) -> Iterator[dict[str, object]]:
    own = log.own
    days = rules.calendar(log, rules.mentions(own, phrases), "D")
    for name in phrases:
        row = {"n": len(own), "days": len(days), "count": int(days[name].sum())}
        mean = float(days[name].mean())
        yield {"metric": f"{name}_per_day", **row, "estimate": mean}
        yield {"metric": f"{name}_per_month", **row, "estimate": MONTH * mean}
