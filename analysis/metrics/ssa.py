"""Sensibleness, specificity and their mean, SSA (MEENA, Adiwardana et al. 2020, section 2).

A reply's labels are the majority of its votes: five in the static evaluation, where an item with
fewer or with a tie stays open and is counted; one in the interactive evaluation, where all labeled
turns are pooled. SSA is the mean of the unrounded shares. Intervals are Wilson's, with as many
replies as clustered ones are worth (`analysis.clustering`). Of several votes clusters are items, or
conversations where a column `conversation` names them (third parties judge many messages of each),
and what raters who vote on many of them vary by is added; of one vote they are conversations and
their raters (without such a column, the rater's talk).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis import cells
from analysis.clustering import Added, Codes, codes, error_of_mean, share_intervals
from analysis.dependencies import SENSIBLE, SPECIFIC
from analysis.groups import identified
from analysis.tables import RatingTable
from analysis.tidy import tidy

Row = dict[str, object]
Judged = tuple[Row, pd.DataFrame, pd.DataFrame]  # what is told of all, replies, single votes
REPLY = ["item", "system"]
NAMES = (("sensibleness", "sensible"), ("specificity", "specific"), ("ssa", "(both)"))


def ssa(ratings: RatingTable, *, votes: int | None = None) -> pd.DataFrame:
    """Return three rows per protocol and system: sensibleness, specificity, ssa.

    `votes` is how many raters each reply goes to; without it, what a column `votes` says, and
    without that, the most that any reply has.
    """
    rows = identified(ratings)
    rows = rows[rows["question"].isin(SENSIBLE + SPECIFIC) & rows["value"].isin([0.0, 1.0])]
    found = (
        row
        for protocol, asked in rows.groupby("protocol", sort=True)
        for row in _of_protocol(
            str(protocol),
            _labels(asked),
            votes or _declared(asked),
            named=_names_talks(asked),
        )
    )
    return tidy("ssa", found)


def _names_talks(rows: pd.DataFrame) -> bool:
    """Tell whether the table says of each of these answers which conversation it is about."""
    return "conversation" in rows and not any(map(cells.is_blank, rows["conversation"].unique()))


def _declared(rows: pd.DataFrame) -> int | None:
    """Return the number of raters per reply that the table itself gives, if it does."""
    if "votes" not in rows.columns:
        return None
    known = [found for found in map(cells.number, rows["votes"]) if found is not None]
    return int(max(known)) if known else None


def _labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rater and reply with both labels; not sensible is not specific."""
    who = "conversation" if _names_talks(rows) else "rater"
    marked = rows.assign(
        label=np.where(rows["question"].isin(SENSIBLE), "sensible", "specific"),
        value=rows["value"].astype(float),
        cluster=rows[who].astype(str),
    )
    keys = [*REPLY, "rater", "cluster"]
    labels = marked.pivot_table(index=keys, columns="label", values="value", aggfunc="first")
    labels = labels.reindex(columns=["sensible", "specific"]).reset_index()
    labels["specific"] = labels["specific"].mask(labels["sensible"] == 0, 0.0)
    return labels.dropna()


def _of_protocol(
    protocol: str, labels: pd.DataFrame, votes: int | None, *, named: bool
) -> Iterator[Row]:
    if labels.empty:
        return
    asked = votes or int(labels.groupby(REPLY).size().max())
    systems = []
    for system, of_system in labels.groupby("system", sort=True):
        replies = _majorities(of_system, asked)
        decided = replies.dropna()
        voters = of_system[of_system["item"].isin(decided.index)]
        base: Row = {"protocol": protocol, "system": str(system), "n": len(decided)}
        base.update(
            evaluation="static" if asked > 1 else "interactive",
            votes=asked,
            open_items=len(replies) - len(decided),
        )
        systems.append((base, decided, voters))
    for metric, question in NAMES:
        for row in _rows(systems, question, voted=asked > 1, named=named):
            yield {"metric": metric, "question": question, **row}


def _majorities(labels: pd.DataFrame, votes: int) -> pd.DataFrame:
    """Return a row per reply: each label by majority, NaN where open."""
    grouped = labels.groupby("item")
    shares = grouped[["sensible", "specific"]].mean()
    complete = grouped.size() >= votes
    majority = (shares > 0.5).astype(float).where(shares != 0.5)
    majority = majority.where(complete, np.nan)
    return majority.assign(cluster=grouped["cluster"].first(), rater=grouped["rater"].first())


def _rows(systems: Sequence[Judged], question: str, *, voted: bool, named: bool) -> Iterator[Row]:
    labels = ["sensible", "specific"] if question == "(both)" else [question]
    values = [decided[labels].to_numpy(dtype=float).mean(axis=1) for _, decided, _ in systems]
    by = [_clusters(decided, voted=voted, named=named) for _, decided, _ in systems]
    given = [(one, of) for one, of in zip(values, by, strict=True) if len(one)]
    added = [
        _of_voters(voters, labels, named=named) if voted else Added()
        for _, decided, voters in systems
        if len(decided)
    ]
    ends = iter(share_intervals(given, added))
    for (base, _, _), value, of in zip(systems, values, by, strict=True):
        clusters = int(of[0].max(initial=-1)) + 1
        row = {**base, "clusters": clusters, "reason": _reason(clusters)}
        if clusters:
            low, high = next(ends)
            row |= {"estimate": float(value.mean()), "low": low, "high": high}
        yield row


def _of_voters(voters: pd.DataFrame, labels: list[str], *, named: bool) -> Added:
    """Return the variance that comes of raters who vote on many replies.

    A majority hides whose votes it is of, so that this is read off the single votes: the variance
    of their mean clustered by item and by rater, less that clustered by item only.
    """
    votes = voters[labels].to_numpy(dtype=float).mean(axis=1)
    items, raters = codes(voters["cluster"] if named else voters["item"]), codes(voters["rater"])
    one, both = error_of_mean(votes, items), error_of_mean(votes, items, raters)
    if not both.se > one.se:
        return Added()
    return Added(both.se**2 - one.se**2, max(float(raters.max()), 1.0))


def _clusters(decided: pd.DataFrame, *, voted: bool, named: bool) -> list[Codes]:
    """Return what is independent; one rater of all conversations is not looked beyond."""
    if voted:
        return [codes(decided["cluster"]) if named else np.arange(len(decided))]
    talks, raters = codes(decided["cluster"]), codes(decided["rater"])
    return [talks, raters] if raters.max(initial=0) > 0 else [talks]


def _reason(clusters: int) -> str | None:
    if clusters == 0:
        return "every item is still open: too few votes, or a tie"
    if clusters == 1:
        return "one item or conversation only: no interval"
    return None
