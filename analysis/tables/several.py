"""Several exports as one table: their campaigns, one below the other.

Of a campaign that two of them have, the later one counts. Servers number alike: campaigns of one
name whose plans have other addresses are of two servers, and the second is called so, "(2)"; where
two exports share numbers of answers, what is numbered is named with its campaign. Apart because it
knows no format of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pandas as pd

from analysis.tables.schema import MessageTable, RatingTable, Tables
from analysis.tables.validation import message_table, rating_table

CAMPAIGN = "campaign"


def joined(exports: Sequence[Tables]) -> Tables:
    """Return the ratings and messages of all; each export has ratings.

    The record of a campaign is kept where one campaign is left.
    """
    parts: list[Tables] = []
    known: set[str] = set()
    for export in reversed(_distinctly_named(exports)):
        part = _without(_named(export), known)
        ratings = _ratings(part)
        if len(ratings) or not parts:
            parts.insert(0, part)
            known |= set(ratings[CAMPAIGN])
    if len(parts) == 1:
        return exports[-1]
    if _are_of_several_servers(parts):
        parts = [_renamed(part) for part in parts]
    messages = [part.messages for part in parts if part.messages is not None]
    return Tables(
        ratings=rating_table(pd.concat(map(_ratings, parts), ignore_index=True), "ratings"),
        messages=_one_below_the_other(messages) if messages else None,
    )


def _ratings(tables: Tables) -> RatingTable:
    return cast(RatingTable, tables.ratings)  # which every one of these exports has


def _distinctly_named(exports: Sequence[Tables]) -> list[Tables]:
    """Return the exports with a name of its own for each campaign."""
    of_name: dict[str, list[str]] = {}
    found = []
    for export in exports:
        campaigns = _ratings(export)[CAMPAIGN].unique()
        address = _address(export)
        if len(campaigns) != 1 or not address:
            found.append(export)
            continue
        name = str(campaigns[0])
        addresses = of_name.setdefault(name, [])
        if address not in addresses:
            addresses.append(address)
        index = addresses.index(address)
        found.append(_called(export, f"{name} ({index + 1})") if index else export)
    return found


def _address(export: Tables) -> str:
    """Return the address of an export's campaign, which is drawn; blank where there is no plan."""
    plan = {} if export.study is None else export.study.plan
    return str(dict(plan.get("campaign") or {}).get("slug", ""))


def _called(export: Tables, name: str) -> Tables:
    messages = export.messages
    if messages is not None:
        messages = MessageTable(messages.assign(campaign=name))
    ratings = RatingTable(_ratings(export).assign(campaign=name))
    return replace(export, ratings=ratings, messages=messages)


def _named(export: Tables) -> Tables:
    """Return the export with a column `campaign` in its messages too, where it has one campaign."""
    campaigns = _ratings(export)[CAMPAIGN].unique()
    messages = export.messages
    if messages is None or CAMPAIGN in messages.columns or len(campaigns) != 1:
        return export
    return replace(export, messages=MessageTable(messages.assign(campaign=str(campaigns[0]))))


def _without(export: Tables, campaigns: set[str]) -> Tables:
    """Return the export without the rows of these campaigns."""
    ratings, messages = _ratings(export), export.messages
    kept = ratings[~ratings[CAMPAIGN].isin(campaigns)]
    if messages is not None and CAMPAIGN in messages.columns:
        messages = MessageTable(messages[~messages[CAMPAIGN].isin(campaigns)])
    return replace(export, ratings=RatingTable(kept), messages=messages)


def _are_of_several_servers(parts: Sequence[Tables]) -> bool:
    """Tell whether one number names two answers, or two messages.

    A message that a third party judged is in two campaigns of one server, as the same.
    """
    answers = pd.concat([_ratings(part)["answer"] for part in parts])
    about = ["message", "conversation", "seq", "side", "sent_at"]
    there = [part.messages[about].astype(str) for part in parts if part.messages is not None]
    messages = pd.concat([pd.DataFrame(columns=about), *there]).drop_duplicates()["message"]
    return bool(answers.duplicated().any() or messages.duplicated().any())


def _renamed(part: Tables) -> Tables:
    """Return the tables with each answer, conversation and message named with its campaign."""
    ratings, messages = _ratings(part), part.messages
    numbered = [name for name in ("answer", "conversation") if name in ratings.columns]
    found = ratings.assign(**{name: _prefixed(ratings, name) for name in numbered})
    if messages is not None and CAMPAIGN in messages.columns:
        names = {name: _prefixed(messages, name) for name in ("message", "conversation")}
        messages = MessageTable(messages.assign(**names))
    return replace(part, ratings=RatingTable(found), messages=messages)


def _prefixed(table: pd.DataFrame, column: str) -> pd.Series:
    cells = table[column].astype(str)
    return cells.where(cells == "", table[CAMPAIGN].astype(str) + "/" + cells)


def _one_below_the_other(tables: Sequence[MessageTable]) -> MessageTable:
    """Return all messages, each once: those that a third party judged are in two campaigns."""
    table = pd.concat(tables, ignore_index=True)
    return message_table(table.drop_duplicates("message", ignore_index=True), "messages")
