"""Kinds of users' turns, and "I love you" by day and month, as Ruuh counts them (NLP4ConvAI 2019).

Rules in `analysis/conversations/turn_kinds.py`; needs a message table with users and times.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations import turn_kinds as rules
from analysis.conversations import usage
from analysis.metrics.turn_kinds import turn_kinds
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable

COLUMNS = ["system", "metric", "estimate", "low", "high", "n", "reason"]
NOTE = (
    "Shares of the users' turns, 95 % intervals over users; a turn may be of several kinds. The "
    "paper prints examples and no rules; these are ours, for English."
)
QUOTED = ", ".join(f"{name}: “{'”, “'.join(some)}”" for name, some in rules.PHRASES.items())
COUNTED = f"Turns of users with these words, days in UTC. {QUOTED}."


def ruuh_turns(messages: MessageTable) -> Report:
    """Return shares of the kinds, counts by month and by day, and what is printed."""
    found = turn_kinds(messages)
    finding = "No message has a user and a time: the log needs the columns `user` and `sent_at`."
    own: list[Section] = []
    if len(found):
        shares = found[found["metric"].str.startswith("turns_")].reindex(columns=COLUMNS)
        finding = _finding(shares)
        own = [
            Section(finding, shares.reset_index(drop=True), NOTE),
            Section("Phrases by month", _calendars(messages, "M", "month"), COUNTED),
            Section("Phrases by day", _calendars(messages, "D", "day"), COUNTED, appendix=True),
        ]
    return Report(
        name="ruuh_turns",
        title="Kinds of users' turns with a live bot",
        findings=(finding,),
        sections=sections(own, "ruuh_turns"),
    )


def _finding(shares: pd.DataFrame) -> str:
    known = shares.dropna(subset=["estimate"])
    if known.empty:
        return "No turn is a user's."
    most = known.sort_values(["estimate", "system", "metric"], ascending=[False, True, True])
    first = most.iloc[0]
    kind = str(first["metric"]).removeprefix("turns_").replace("_", " ")
    return f"{first['system']}: {100 * first['estimate']:.1f} % of the users' turns are {kind}."


def _calendars(messages: MessageTable, period: str, name: str) -> pd.DataFrame:
    parts = []
    for log in usage.logs(messages):
        counts = rules.calendar(log, rules.mentions(log.own), period)
        table = counts.rename_axis(name).reset_index()
        table[name] = table[name].astype(str)
        table.insert(0, "system", log.system)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)
