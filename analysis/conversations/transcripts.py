"""Transcripts of conversations: the messages of each system, and those of its partners.

The statistics of logs (ConvAI2, Dinan et al. 2019, section 3.2.3) compare both sides. A message
whose row is set aside (column `excluded`) is left out, and so is one that nobody is named as the
author of: the given beginning of a conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.scores.cautions import NOT_SET
from analysis.stats.clustering import error_of_ratio
from analysis.stats.intervals import rate_interval, share_interval
from analysis.tables.schema import MessageTable

SIMULATED_AS = ("message_length", "repeats", "engagement")

HUMAN = "human"
OWN, PARTNER = "own messages", "partner's messages"
Texts = tuple[str, ...]


@dataclass(frozen=True)
class ConversationSide:
    """All conversations of a system, of which one side is looked at: texts in order."""

    system: str
    question: str
    conversations: tuple[Texts, ...]

    @property
    def name(self) -> dict[str, object]:
        return {"protocol": "", "question": self.question, "system": self.system}

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for one in self.conversations for text in one)


def sides(messages: MessageTable) -> Iterator[ConversationSide]:
    """Yield each system's own messages, then what its partners said to it, if anything.

    Conversations come in the order of what they hold, so that names and rows do not matter; one in
    which a side said nothing is empty.
    """
    table = placed(messages)
    by_system: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
    keys = ("about", "question", "conversation", "side", "text")
    for system, question, key, side, text in zip(*(table[key] for key in keys), strict=True):
        by_system.setdefault((system, question), {}).setdefault((key, side), []).append(text)
    for (system, question), found in sorted(by_system.items()):
        other = by_system.get((system, PARTNER if question == OWN else OWN), {})
        silent = {key for key, _ in other} - {key for key, _ in found}
        in_order = sorted([*map(tuple, found.values()), *(() for _ in silent)])
        yield ConversationSide(str(system), str(question), tuple(in_order))


def placed(messages: MessageTable) -> pd.DataFrame:
    """Return the messages that count, in order, with the system that each is about.

    `about` is the system of the conversation (column `partner_of`, else the author that is not
    people) and `question` whether it wrote the message. Where two systems talk, each has its own.
    """
    kept = messages[(messages["system"] != "") & ~set_aside(messages)]
    table = kept.sort_values(["conversation", "seq"], kind="stable", ignore_index=True)
    about = _partner_of(table)
    own = (table["system"] == about) | (table["system"] != HUMAN)
    table["about"] = about.where(~own | (table["system"] == HUMAN), table["system"])
    table["question"] = np.where(own, OWN, PARTNER)
    return table


def joined_lines(messages: MessageTable) -> MessageTable:
    """Return the messages with consecutive ones of one side of a conversation as one.

    PERSONA-METRICS (Miyazaki et al. 2021) and the PPMI keyword model (2019) join lines so. Texts
    are joined by a space; the rest is the first one's. What is set aside is not joined.
    """
    table = messages.sort_values(["conversation", "seq"], kind="stable")
    aside = set_aside(table)
    keys = pd.DataFrame({name: table[name] for name in ("conversation", "side", "system")})
    new = (keys != keys.shift()).any(axis=1) | aside | aside.shift(fill_value=False)
    number = new.cumsum()
    first = table.groupby(number, sort=False).head(1).copy()
    texts = table["text"].groupby(number, sort=False).agg(" ".join)
    first["text"] = pd.Series(texts.to_numpy(), first.index, dtype=table["text"].dtype)
    return MessageTable(first.reset_index(drop=True))


def set_aside(table: pd.DataFrame) -> pd.Series:
    """Return which rows the column `excluded` gives a reason to leave out."""
    if "excluded" not in table.columns:
        return pd.Series(False, index=table.index)
    marked = [str(cell).strip().lower() not in NOT_SET for cell in table["excluded"]]
    return pd.Series(marked, index=table.index, dtype=bool) & table["excluded"].notna()


def mean_per(
    sums: Sequence[tuple[float, float]],
    *,
    times: float = 1.0,
    most: float = np.inf,
    unit: str = "conversation",
) -> dict[str, object]:
    """Return Σa/Σb times a factor, with a 95 % interval over what is independent.

    `sums` has a pair (a, b) for each unit, by default a conversation, which is a cluster of what is
    counted (`analysis.stats.clustering`). The interval is a score interval for values that are not
    negative, or, of a share (`most` is 1), Wilson's, with as many as these are worth. A unit with
    nothing to count says nothing.
    """
    known = sorted(pair for pair in sums if pair[1] > 0)
    a, b = np.array(known, dtype=float).reshape(-1, 2).T
    units, total = len(a), float(b.sum())
    row: dict[str, object] = {"n": int(total), f"{unit}s": units}
    if total == 0:
        return {**row, "reason": "nothing to count in these messages"}
    ratio = float(a.sum() / total)
    row["estimate"] = times * ratio
    if units < 2:
        return {**row, "reason": f"one {unit} only: no interval"}
    error = error_of_ratio(a, b, np.arange(units))
    if error.se == 0:
        return {**row, "reason": f"all {unit}s are equal: no variance, so no interval"}
    if most == 1:
        low, high = share_interval(ratio, error.se, error.df, total)
    else:
        low, high = rate_interval(ratio, error.se, error.df)
    return {**row, "low": times * max(low, 0.0), "high": times * high, "reason": None}


def per_message(side: ConversationSide, measure: Callable[[str], float]) -> dict[str, object]:
    """Return the mean of a measure over a side's messages."""
    return mean_per([(sum(map(measure, one)), len(one)) for one in side.conversations])


def _partner_of(table: pd.DataFrame) -> pd.Series:
    """Return what each row's conversation is about; people, where only people talk."""
    if "partner_of" in table.columns:
        return table["partner_of"].astype(str)
    systems = table["system"].where(table["system"] != HUMAN)
    return systems.groupby(table["conversation"]).transform("first").fillna(HUMAN).astype(str)
