"""Sensibleness, specificity and their mean, SSA (MEENA, Adiwardana et al. 2020, section 2).

A reply's labels are the majority of its votes: five in the static evaluation, where an item with
fewer or with a tie stays open and is counted (`analysis.scores.majorities`); one in the interactive
evaluation, where all labeled turns are pooled. Messages of conversations are interactive also where
several people vote on them (people's own, section 2.4). SSA is the mean of the unrounded shares.
Intervals are Wilson's, with as many replies as clustered ones are worth
(`analysis.stats.clustering`). Of several votes clusters are items, or conversations where a column
`conversation` names them (third parties judge many messages of each), and what raters who vote on
many of them vary by is added; of one vote they are conversations and their raters
(without such a column, the rater's conversation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.scores.incidence import Ints, distinct
from analysis.scores.majorities import majority, votes_wanted
from analysis.scores.question_ratings import identified
from analysis.stats.clustering import Added, Codes, codes, error_of_mean, share_intervals
from analysis.tables import cell_values
from analysis.tables.columns import LABELS_COLUMN, UNCHANGED
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

Row = dict[str, object]
Judged = tuple[Row, pd.DataFrame, pd.DataFrame]  # what is told of all, replies, single votes
REPLY = ["item", "system"]
NAMES = (("sensibleness", "sensible"), ("specificity", "specific"), ("ssa", "(both)"))


def ssa(ratings: RatingTable, *, votes: int | None = None) -> pd.DataFrame:
    """Return three rows per protocol and system: sensibleness, specificity, ssa.

    A reply goes to as many raters as the column `votes` says; where a table does not say, to
    `votes`, and without that to the most that any reply of the protocol has.
    """
    rows = identified(ratings)
    is_label = rows["question"].isin(SENSIBLE + SPECIFIC) & rows["value"].isin([0.0, 1.0])
    found = (
        row
        for protocol in sorted(rows.loc[is_label, "protocol"].unique())
        for row in _of_protocol(
            str(protocol), rows[is_label & (rows["protocol"] == protocol)], votes
        )
    )
    return tidy("ssa", found)


def _names_conversations(rows: pd.DataFrame) -> bool:
    """Tell whether the table says of each of these answers which conversation it is about."""
    return "conversation" in rows and not any(
        map(cell_values.is_blank, rows["conversation"].unique())
    )


def _is_of_conversations(rows: pd.DataFrame) -> bool:
    """Tell whether messages of conversations were labeled, by whomever: replies have a context."""
    if not {"context", "message_seq"} <= set(rows.columns):
        return False
    contexts, messages = (rows[name].unique() for name in ("context", "message_seq"))
    no_context = all(map(cell_values.is_blank, contexts))
    return no_context and not any(map(cell_values.is_blank, messages))


def _labels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rater and reply with both labels; not sensible is not specific."""
    who = "conversation" if _names_conversations(rows) else "rater"
    keys = rows[[*REPLY, "rater"]].assign(
        cluster=rows[who] if rows[who].dtype == "category" else rows[who].astype(str)
    )
    of_both = _numbered(keys)
    first = np.zeros(int(of_both.max(initial=-1)) + 1, dtype=np.intp)
    first[of_both[::-1]] = np.arange(len(keys))[::-1]
    labels = keys.iloc[first].reset_index(drop=True)
    is_sensible = rows["question"].isin(SENSIBLE).to_numpy()
    value = rows["value"].to_numpy(dtype=float)
    for name, is_about in (("sensible", is_sensible), ("specific", ~is_sensible)):
        known = np.full(len(labels), np.nan)
        # The first in the table, where a reply has several of a rater.
        known[of_both[is_about][::-1]] = value[is_about][::-1]
        labels[name] = known
    if LABELS_COLUMN not in rows or not (rows[LABELS_COLUMN] == UNCHANGED).any():
        labels["specific"] = labels["specific"].mask(labels["sensible"] == 0, 0.0)
    return labels.dropna()


def _numbered(keys: pd.DataFrame) -> Ints:
    """Return the number of each row's keys among those that there are, in their order."""
    found = np.zeros(len(keys), dtype=np.int64)
    for name in keys:
        code, names = pd.factorize(keys[name], sort=True)
        found = distinct(found * len(names) + code)[1]
    return found


def _of_protocol(protocol: str, rows: pd.DataFrame, votes: int | None) -> Iterator[Row]:
    labels = _labels(rows)
    if labels.empty:
        return
    needed = votes_wanted(rows, REPLY, votes or int(labels.groupby(REPLY).size().max()))
    voted, named = bool(needed.max() > 1), _names_conversations(rows)
    evaluation = "static" if voted and not _is_of_conversations(rows) else "interactive"
    systems = []
    for system, of_system in labels.groupby("system", sort=True):
        if isinstance(of_system["item"].dtype, pd.CategoricalDtype):
            # Whatever groups by items looks at every one that could be there.
            items = of_system["item"].cat.remove_unused_categories()
            of_system = of_system.assign(item=items)
        wanted = needed.xs(system, level="system")
        replies = _majorities(of_system, wanted)
        decided = replies.dropna()
        voters = of_system[of_system["item"].isin(decided.index)]
        base: Row = {"protocol": protocol, "system": str(system), "n": len(decided)}
        base.update(
            evaluation=evaluation,
            votes=int(wanted.max()),
            open_items=len(replies) - len(decided),
        )
        systems.append((base, decided, voters))
    for metric, question in NAMES:
        for row in _system_rows(systems, question, voted=voted, named=named):
            yield {"metric": metric, "question": question, **row}


def _majorities(labels: pd.DataFrame, needed: pd.Series) -> pd.DataFrame:
    """Return a row per reply: each label by majority, NaN where open."""
    grouped = labels.groupby("item")
    shares, counts = grouped[["sensible", "specific"]].mean(), grouped.size()
    wanted = needed.reindex(counts.index)
    decided = {str(label): majority(shares[label], counts, wanted) for label in shares}
    first = grouped[["cluster", "rater"]].first()
    return first.assign(**decided)


def _system_rows(
    systems: Sequence[Judged], question: str, *, voted: bool, named: bool
) -> Iterator[Row]:
    labels = ["sensible", "specific"] if question == "(both)" else [question]
    values = [decided[labels].to_numpy(dtype=float).mean(axis=1) for _, decided, _ in systems]
    by = [_clusters(decided, voted=voted, named=named) for _, decided, _ in systems]
    known = [(one, of) for one, of in zip(values, by, strict=True) if len(one)]
    added = [
        _of_voters(voters, labels, named=named) if voted else Added()
        for _, decided, voters in systems
        if len(decided)
    ]
    ends = iter(share_intervals(known, added))
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
    conversations, raters = codes(decided["cluster"]), codes(decided["rater"])
    return [conversations, raters] if raters.max(initial=0) > 0 else [conversations]


def _reason(clusters: int) -> str | None:
    if clusters == 0:
        return "every item is still open: too few votes, or a tie"
    if clusters == 1:
        return "one item or conversation only: no interval"
    return None
