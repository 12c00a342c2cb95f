"""Sensibleness, specificity and their mean, SSA (MEENA, Adiwardana et al. 2020, section 2).

A reply's labels are the majority of its votes: five in the static evaluation, where an item with
fewer or with a tie stays open and is counted; one in the interactive evaluation, where all labeled
turns are pooled. SSA is the mean of the unrounded shares. Intervals are a bootstrap over what is
independent: items (static), conversations (interactive; a rater's talk with a system where the
table has no column `conversation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from analysis import cells
from analysis.dependencies import SENSIBLE, SPECIFIC
from analysis.groups import identified
from analysis.intervals import Floats, bootstrap, by_content, percentile_interval
from analysis.tables import RatingTable
from analysis.tidy import tidy

REPLY = ["item", "system"]
NAMES = (("sensibleness", "sensible"), ("specificity", "specific"), ("ssa", "(both)"))


def ssa(ratings: RatingTable, *, seed: int = 0, votes: int | None = None) -> pd.DataFrame:
    """Return three rows per protocol and system: sensibleness, specificity, ssa.

    `votes` is how many raters each reply goes to; without it, what a column `votes` says, and
    without that, the most that any reply has.
    """
    rows = identified(ratings)
    rows = rows[rows["question"].isin(SENSIBLE + SPECIFIC) & rows["value"].isin([0.0, 1.0])]
    found = (
        row
        for protocol, asked in rows.groupby("protocol", sort=True)
        for row in _of_protocol(str(protocol), _labels(asked), votes or _declared(asked), seed)
    )
    return tidy("ssa", found)


def _declared(rows: pd.DataFrame) -> int | None:
    """Return the number of raters per reply that the table itself gives, if it does."""
    if "votes" not in rows.columns:
        return None
    known = [found for found in map(cells.number, rows["votes"]) if found is not None]
    return int(max(known)) if known else None


def _labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rater and reply with both labels; not sensible is not specific."""
    who = "conversation" if "conversation" in rows.columns else "rater"
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
    protocol: str, labels: pd.DataFrame, votes: int | None, seed: int
) -> Iterator[dict[str, object]]:
    if labels.empty:
        return
    asked = votes or int(labels.groupby(REPLY).size().max())
    for system, of_system in labels.groupby("system", sort=True):
        replies = _majorities(of_system, asked)
        decided = replies.dropna()
        base = {"protocol": protocol, "system": str(system), "n": len(decided)}
        base.update(
            evaluation="static" if asked > 1 else "interactive",
            votes=asked,
            open_items=len(replies) - len(decided),
        )
        yield from _rows(base, decided, by_item=asked > 1, seed=seed)


def _majorities(labels: pd.DataFrame, votes: int) -> pd.DataFrame:
    """Return a row per reply: each label by majority, NaN where open."""
    grouped = labels.groupby("item")
    shares = grouped[["sensible", "specific"]].mean()
    complete = grouped.size() >= votes
    majority = (shares > 0.5).astype(float).where(shares != 0.5)
    majority = majority.where(complete, np.nan)
    return majority.assign(cluster=grouped["cluster"].first())


def _rows(
    base: dict[str, object], decided: pd.DataFrame, *, by_item: bool, seed: int
) -> Iterator[dict[str, object]]:
    clusters = _clusters(decided, by_item=by_item)
    for column, (metric, question) in enumerate(NAMES):
        row = {"metric": metric, "question": question, **base, "clusters": len(clusters)}
        row["reason"] = _reason(clusters)
        if len(clusters):
            row["estimate"] = _shares(clusters, column, np.ones((1, len(clusters))))[0]
        if len(clusters) > 1:
            values = bootstrap(partial(_shares, clusters, column), len(clusters), seed=seed)
            row["low"], row["high"] = percentile_interval(values)
        yield row


def _clusters(decided: pd.DataFrame, *, by_item: bool) -> Floats:
    """Return, per cluster, how many replies were sensible, were specific, and were labeled."""
    keys = decided.index if by_item else decided["cluster"]
    counts = decided.assign(replies=1.0).groupby(keys)[["sensible", "specific", "replies"]].sum()
    values = counts.to_numpy(dtype=float)
    return values[by_content(*values.T)] if len(values) else values


def _shares(clusters: Floats, column: int, drawn: Floats) -> Floats:
    sensible, specific, replies = (drawn @ clusters).T
    labels = (sensible, specific, (sensible + specific) / 2)
    return np.asarray(labels[column] / replies)


def _reason(clusters: Floats) -> str | None:
    if len(clusters) == 0:
        return "every item is still open: too few votes, or a tie"
    if len(clusters) == 1:
        return "one item or conversation only: no interval"
    return None
