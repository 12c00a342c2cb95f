"""Usage of a live bot: sessions, return, retention, turns and the gaps between them.

The figures that Ruuh's paper names (NLP4ConvAI 2019) without their formulas; what is ours is said.
A log is a message table with the column `user` and times; a turn is one exchange. Apart because the
definitions of a log are read without the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from analysis.conversations.transcripts import HUMAN, placed
from analysis.tables.schema import MessageTable

# The gap of inactivity that ends a session is not given in the paper.
SESSION_GAP = pd.Timedelta(minutes=30)
WEEK = 7 * 24 * 3600.0
WEEKS = 4
# Six months after first contact, and active at least once a week for this long before: ours.
MONTHS = pd.Timedelta(days=182)
YEAR = pd.Timedelta(days=365)
FOLLOW_UP = 3.0


@dataclass(frozen=True, eq=False)
class Log:
    """A system's messages with users and times, in order of user and time."""

    system: str
    rows: pd.DataFrame

    @property
    def own(self) -> pd.DataFrame:
        """Messages of users."""
        return self.rows[self.rows["is_user"]]


def logs(messages: MessageTable) -> Iterator[Log]:
    """Yield the log of each system; messages without a user or a time are left out."""
    if "user" not in messages.columns:
        return
    table = placed(messages)
    table = table.assign(
        time=pd.to_datetime(table["sent_at"].replace("", None), utc=True, format="ISO8601"),
        is_user=table["system"] == HUMAN,
        user=_users(table),
    )
    table = table[table["time"].notna() & (table["user"] != "")]
    table = table.sort_values(["user", "time", "conversation", "seq"], ignore_index=True)
    for system, rows in table.groupby("about", sort=True):
        yield Log(str(system), _with_sessions(rows.reset_index(drop=True)))


def exchanges(log: Log) -> pd.Series:
    """Return the exchanges of each session: how often a user's turn was answered."""
    answered = (~log.rows["is_user"]) & log.rows["is_user"].shift(fill_value=False)
    same = log.rows["session"] == log.rows["session"].shift()
    return (answered & same).groupby(log.rows["session"]).sum()


def sessions_of_users(log: Log) -> pd.Series:
    """Return how many sessions each user has."""
    return log.rows.groupby("user")["session"].nunique()


def weekly_retained(log: Log) -> pd.Series:
    """Return, per user whose first contact is six months before the log's end, who is retained.

    Retained is who is active in every week of the four up to six months after first contact.
    """
    first = log.rows.groupby("user")["time"].min()
    known = first[first + MONTHS <= log.rows["time"].max()]
    if known.empty:
        return pd.Series(dtype=bool)
    rows = log.rows[log.rows["user"].isin(known.index)]
    back = (rows["user"].map(known) + MONTHS - rows["time"]).dt.total_seconds() / WEEK
    weeks = back[(back >= 0) & (back < WEEKS)] // 1
    active = weeks.groupby(rows["user"]).nunique().reindex(known.index, fill_value=0)
    return pd.Series(active == WEEKS, dtype=bool)


def active_days(log: Log) -> pd.Series:
    """Return on how many days of the year after first contact each user was active."""
    first = log.rows.groupby("user")["time"].transform("min")
    rows = log.rows[log.rows["time"] < first + YEAR]
    return pd.Series(rows["time"].dt.date.groupby(rows["user"]).nunique())


def gaps(log: Log) -> pd.Series:
    """Return the seconds between consecutive turns of a user in a session."""
    own = log.own
    seconds = own.groupby("session")["time"].diff().dt.total_seconds()
    return pd.Series(seconds.dropna())


def is_follow_up(log: Log) -> pd.Series:
    """Return which turns with one before them complete or correct it: within 3 s, or with a `*`."""
    own = log.own
    seconds = own.groupby("session")["time"].diff().dt.total_seconds()
    later = own[seconds.notna()]
    starred = later["text"].str.strip().str.match(r"^\*|.*\w\*$")
    return pd.Series((seconds.dropna() <= FOLLOW_UP) | starred, dtype=bool)


def _users(table: pd.DataFrame) -> pd.Series:
    """Return the user of each row: of a bot's message, its conversation's."""
    known = table["user"].fillna("").astype(str)
    of = known.where(known != "").groupby(table["conversation"]).transform("first")
    return known.where(known != "", of.fillna(""))


def _with_sessions(rows: pd.DataFrame) -> pd.DataFrame:
    new = (rows["user"] != rows["user"].shift()) | (rows["time"].diff() > SESSION_GAP)
    return rows.assign(session=new.cumsum())
