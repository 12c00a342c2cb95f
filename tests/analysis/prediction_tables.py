"""Small tables of predictions for the tests of metrics and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis import PredictionTable, prediction_table


def predictions(rows: Iterable[Mapping[str, object]], **common: object) -> PredictionTable:
    """Return a checked table of `rows`, each filled up with what is common and with defaults."""
    usual: dict[str, object] = {
        "system": "s",
        "dataset": "d",
        "context": "Hi!",
        "gold": None,
        "response": None,
        "candidates": None,
        "scores": None,
        "log_probs": None,
    }
    filled = [
        {"prediction": f"p{k}", "example": f"e{k}", **usual, **common, **row}
        for k, row in enumerate(rows)
    ]
    return prediction_table(pd.DataFrame(filled))


def said(*pairs: tuple[str, object], **common: object) -> PredictionTable:
    """Return predictions from pairs of response and gold reply."""
    return predictions([{"response": said, "gold": gold} for said, gold in pairs], **common)


def ranked(*places: int, n: int = 20, **common: object) -> PredictionTable:
    """Return predictions whose gold reply stands at these places of n candidates."""
    offered = [f"reply {k}" for k in range(n)]
    rows = [
        {
            "gold": offered[k % n],
            "candidates": offered,
            "scores": scores(k % n, place, n),
            "response": "",
        }
        for k, place in enumerate(places)
    ]
    return predictions(rows, **common)


def scores(gold: int, place: int, n: int) -> list[float]:
    """Return n different scores of which the gold's is the one at `place`."""
    others = [float(n - k) for k in range(n) if k != place - 1]
    return [*others[:gold], float(n - place + 1), *others[gold:]]


def estimate(found: pd.DataFrame, metric: str, **where: str) -> float:
    """Return the one estimate of a metric."""
    return float(only(found, metric, **where)["estimate"])


def only(found: pd.DataFrame, metric: str, **where: str) -> Any:
    """Return the one row of a metric."""
    rows = found[found["metric"] == metric]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, f"{len(rows)} rows of {metric} in {sorted(set(found['metric']))}"
    return rows.iloc[0]


def random_texts(chance: Any, words: Sequence[str], least: int, most: int) -> list[str]:
    """Return a text as tokens drawn at random."""
    return [chance.choice(words) for _ in range(chance.randint(least, most))]
