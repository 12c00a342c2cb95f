"""Replies that people judged in a campaign, as predictions: what its systems said to contexts.

An export holds the messages of each context and the reply to it; its ratings say which replies were
judged. A reply is the prediction of its system on its context, so that a report of predictions
reads a campaign as it reads a file of `python -m bots answer`. Apart because it makes one table of
two, and all else here reads predictions only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.tables.schema import (
    PREDICTION_COLUMNS,
    MessageTable,
    PredictionTable,
    RatingTable,
    Tables,
)
from analysis.tables.validation import prediction_table

NEEDED = {"context", "conversation", "message_seq"}  # columns of ratings that an export has


def with_replies(tables: Tables) -> Tables:
    """Return tables whose predictions are the rated replies, where there are any.

    The ratings of these have their context as `item`, as the predictions have it as `example`.
    """
    ratings, messages = tables.ratings, tables.messages
    if ratings is None or messages is None or not set(ratings.columns) >= NEEDED:
        return tables
    about = ratings[(ratings["context"] != "") & (ratings["message_seq"] != "")]
    about = about.assign(item=about["campaign"] + " " + about["context"])
    found = list(_predictions(RatingTable(about), messages))
    if not found:
        return tables
    predictions = prediction_table(pd.DataFrame(found, columns=list(PREDICTION_COLUMNS)))
    rated = RatingTable(about.reset_index(drop=True))
    return replace(tables, ratings=rated, predictions=PredictionTable(predictions))


def _predictions(ratings: RatingTable, messages: MessageTable) -> Iterator[dict[str, Any]]:
    """Yield a row for each reply that was judged and not withdrawn."""
    ordered = messages.sort_values(["conversation", "seq"])
    conversations = dict(iter(ordered.groupby("conversation", sort=False)))
    replies = ratings.drop_duplicates(["conversation", "message_seq"])
    for row in replies.to_dict("records"):
        part = conversations.get(row["conversation"])
        if part is None:
            continue
        seq = float(row["message_seq"])
        before, reply = part[part["seq"] < seq]["text"], part[part["seq"] == seq]["text"]
        if len(reply):
            yield {
                **dict.fromkeys(PREDICTION_COLUMNS),
                "prediction": f"{row['conversation']}:{row['message_seq']}",
                "system": row["system"],
                "dataset": row.get("dataset") or row["campaign"],
                "example": row["item"],
                "context": list(before),
                "gold": "",
                "response": reply.iloc[0],
            }
