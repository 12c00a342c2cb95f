"""Kinds of a user's turns, and phrases that users of a live bot are counted by.

Ruuh (NLP4ConvAI 2019, sections 3 and 4.1) prints the phrases, and one or two examples of most kinds
without a rule. The rules are ours, for English; a turn may be of several kinds, and of none. The
turn before is the user's own last one in the same session, the question the bot's last message:

- completion: at most 3 s after the turn before, without a star ("Pubg?" after "Wanna play");
- correction: a star at its beginning or end, not both, after a turn ("*dude", "love you dudbe");
- echo: the words of the bot's last message, or three or more of them in a row;
- repeated_question: a question that the user has put before, in the session, in the same words;
- carried_topic: up to five words that begin with and, or, but, what about or how about, and a
  question mark, after a question of either side ("and horror?", "are you into comedy movies?");
- follow_up: only words of assent or denial after a question ("yes" to "Are you going to watch
  it?").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from analysis.conversations.usage import FOLLOW_UP, Log
from analysis.text.lexicons import ASSENT, NO
from analysis.text.questions import has_mark, is_question, questions
from analysis.text.tokens import words

KINDS = (
    "completion",
    "correction",
    "echo",
    "repeated_question",
    "carried_topic",
    "follow_up",
)
Phrases = Mapping[str, Sequence[str]]
PHRASES: Phrases = {
    "love": ("i love you",),
    "proposal": ("will you marry me",),
    "doubt": ("are you really a bot", "are you a human"),
}
LINKS = (("and",), ("or",), ("but",), ("what", "about"), ("how", "about"))
LONGEST_LINK = 5
FEWEST_ECHOED = 3
STAR = "*"


@dataclass
class _Session:
    """What was said in a session before the turn that is looked at."""

    own: str | None = None
    at: pd.Timestamp | None = None
    bot: str = ""
    put: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def kinds(self, text: str, at: pd.Timestamp) -> set[str]:
        """Return the kinds of a turn of the user."""
        found = tuple(words(text))
        starred = is_correction(text)
        checks = {
            "completion": self.at is not None
            and not starred
            and (at - self.at).total_seconds() <= FOLLOW_UP,
            "correction": starred and self.own is not None,
            "echo": is_echo(found, tuple(words(self.bot))),
            "repeated_question": any(tuple(words(each)) in self.put for each in questions(text)),
            "carried_topic": carries(text) and (is_question(self.own or "") or self.has_question),
            "follow_up": self.has_question and bool(found) and set(found) <= ASSENT | NO,
        }
        return {kind for kind, holds in checks.items() if holds}

    @property
    def has_question(self) -> bool:
        return is_question(self.bot)

    def heard(self, text: str, at: pd.Timestamp) -> None:
        """Remember a turn of the user."""
        self.own, self.at = text, at
        self.put.update(tuple(words(each)) for each in questions(text))


def kinds(log: Log) -> pd.DataFrame:
    """Return a row per turn of a user, labeled as in the log, and a column of bool per kind."""
    found = dict(_kinds(log))
    table = pd.DataFrame.from_dict(found, orient="index", columns=list(KINDS), dtype=bool)
    return table.reindex(log.own.index)


def mentions(own: pd.DataFrame, phrases: Phrases = PHRASES) -> pd.DataFrame:
    """Return which turns have a phrase, as a run of whole words whatever their case and marks."""
    texts = [f" {' '.join(words(text))} " for text in own["text"]]
    known = {name: [f" {' '.join(words(one))} " for one in some] for name, some in phrases.items()}
    return pd.DataFrame(
        {
            name: [any(one in text for one in some) for text in texts]
            for name, some in known.items()
        },
        index=own.index,
        dtype=bool,
    )


def calendar(log: Log, marked: pd.DataFrame, period: str) -> pd.DataFrame:
    """Return how many turns of each column fell on each day ("D") or month ("M") of the log, UTC.

    Days and months without any are there with 0, from the first message of the log to its last.
    """
    naive = log.rows["time"].dt.tz_convert(None)
    every = pd.period_range(naive.min(), naive.max(), freq=period)
    when = naive[marked.index].dt.to_period(period)
    return marked.astype(int).groupby(when).sum().reindex(every, fill_value=0)


def is_correction(text: str) -> bool:
    """Return whether a text has a star at one of its ends: one at both is an action, *laughs*."""
    bare = text.strip()
    inner = bare.strip(STAR).strip()
    return bool(inner) and bare.startswith(STAR) != bare.endswith(STAR)


def is_echo(turn: Sequence[str], message: Sequence[str]) -> bool:
    """Return whether a turn's words are a message's, all of them or three or more in a row."""
    if not turn or (turn != message and len(turn) < FEWEST_ECHOED):
        return False
    return f" {' '.join(turn)} " in f" {' '.join(message)} "


def carries(text: str) -> bool:
    """Return whether a text asks about more of the same without naming what."""
    found = tuple(words(text))
    return (
        has_mark(text)
        and 1 < len(found) <= LONGEST_LINK
        and any(found[: len(link)] == link for link in LINKS)
    )


def _kinds(log: Log) -> Iterator[tuple[object, list[bool]]]:
    columns = (log.rows[name] for name in ("session", "is_user", "text", "time"))
    state, last = _Session(), None
    for label, session, is_user, text, at in zip(log.rows.index, *columns, strict=True):
        if session != last:
            state, last = _Session(), session
        if not is_user:
            state.bot = text
            continue
        found = state.kinds(text, at)
        state.heard(text, at)
        yield label, [kind in found for kind in KINDS]
