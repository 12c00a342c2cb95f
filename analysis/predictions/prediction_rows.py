"""Prediction rows as values, one system's rows on one dataset at a time.

`gold` may be a list of texts where several are right. Where an example offers the answer that none
of its candidates is right (DSTC7, Gunasekara et al. 2019), that answer is the candidate `NONE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.stats.intervals import Floats, share_interval, skewed_interval, wilson_interval
from analysis.tables import cell_values
from analysis.tables.schema import PredictionTable
from analysis.tables.tidy import tidy
from analysis.text.tokens import Tokenizer, split_lower

SIMULATED_AS = ("recall", "word_f1", "nasl")

NONE = "(none)"
REPLY = "reply"
ALIKE = "all examples are equal: no variance, so no interval"


@dataclass(frozen=True)
class Predicted:
    """One prediction; what its row leaves out is empty, or None where empty means something."""

    example: str
    context: tuple[str, ...]
    golds: tuple[str, ...]
    response: str | None
    candidates: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    log_probs: tuple[float | None, ...] | None = None
    token_hits: tuple[float, ...] | None = None
    discriminator: float | None = None
    gold_score: float | None = None
    batch: str = ""

    @property
    def message(self) -> str:
        """The message that is answered: the last one of the context."""
        return self.context[-1] if self.context else ""

    @property
    def right(self) -> tuple[bool, ...]:
        """Flags of the candidates that are a right answer."""
        return tuple(candidate in self.golds for candidate in self.candidates)


@dataclass(frozen=True)
class Group:
    """A system's predictions on one dataset, in the order of the examples' names."""

    dataset: str
    system: str
    rows: tuple[Predicted, ...]

    def row(self, **cells_of_row: object) -> dict[str, object]:
        """Return a row of a result about this group."""
        about = {"protocol": self.dataset, "question": REPLY, "system": self.system}
        return {**about, "reason": None, **cells_of_row}

    def pairs(self, tokens: Tokenizer = split_lower) -> list[tuple[list[str], list[list[str]]]]:
        """Return the tokens of each response and of its references, where both are known."""
        return [
            (tokens(row.response), [tokens(gold) for gold in row.golds])
            for row in self.rows
            if row.response is not None and row.golds
        ]

    def responses(self, tokens: Tokenizer = split_lower) -> list[list[str]]:
        """Return the tokens of each response."""
        return [tokens(row.response) for row in self.rows if row.response is not None]


def groups(predictions: PredictionTable) -> Iterator[Group]:
    """Yield the predictions of each system on each dataset, in order of name."""
    for (dataset, system), part in predictions.groupby(["dataset", "system"], sort=True):
        ordered = part.sort_values(["example", "prediction"], kind="stable")
        rows = tuple(_predicted(row) for row in ordered.to_dict("records"))
        yield Group(str(dataset), str(system), rows)


def mean_row(values: Sequence[float] | Floats, *, share: bool = False) -> dict[str, object]:
    """Return estimate, interval over examples, and n, of one number per example.

    The interval is Student's, bent for skewness, or Wilson's for a `share`: numbers from 0 to 1, of
    which all or none may be seen; without a spread Student's is not there.
    """
    numbers = np.asarray(values, dtype=float)
    n, mean = len(numbers), float(numbers.mean())
    row: dict[str, object] = {"estimate": mean, "n": n}
    if n < 2:
        return row
    spread = float(numbers.std(ddof=1)) / math.sqrt(n)
    if share and np.isin(numbers, (0.0, 1.0)).all():
        low, high = wilson_interval(float(numbers.sum()), n)
    elif share:
        low, high = share_interval(mean, spread, n - 1, n)
    elif np.ptp(numbers) == 0:
        return {**row, "reason": ALIKE}
    else:
        low, high = skewed_interval(mean, spread, n - 1, numbers)
    return {**row, "low": low, "high": high}


def ratio_row(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, object]:
    """Return the ratio of two sums over examples, with a delta-method interval, and n."""
    n, total = len(numerators), float(sum(denominators))
    ratio = float(sum(numerators)) / total
    gaps = np.asarray(numerators, float) - ratio * np.asarray(denominators, float)
    se = math.sqrt(n / (n - 1) * float((gaps**2).sum())) / total if n > 1 else math.nan
    if n > 1 and se < 1e-12 * abs(ratio):
        return {"estimate": ratio, "low": math.nan, "high": math.nan, "n": n, "reason": ALIKE}
    low, high = skewed_interval(ratio, se, n - 1, gaps)
    return {"estimate": ratio, "low": low, "high": high, "n": n}


def averaged(
    metric: str,
    predictions: PredictionTable,
    value: Callable[[Predicted], float | None],
    *,
    share: bool = False,
) -> pd.DataFrame:
    """Return a row per group that has a value: its mean over the examples that have one."""
    rows: list[dict[str, object]] = []
    for group in groups(predictions):
        known = [found for row in group.rows if (found := value(row)) is not None]
        if known:
            rows.append(group.row(**mean_row(known, share=share)))
    return tidy(metric, rows)


def each_group(
    metric: str,
    predictions: PredictionTable,
    rows_of: Callable[[Group], Iterable[dict[str, object]]],
) -> pd.DataFrame:
    """Return all rows that `rows_of` yields for each group."""
    return tidy(metric, (row for group in groups(predictions) for row in rows_of(group)))


def _predicted(row: dict[object, object]) -> Predicted:
    hits, log_probs = cell_values.items(row.get("token_hits")), cell_values.items(row["log_probs"])
    return Predicted(
        example=str(row["example"]),
        context=_texts(row["context"]),
        golds=_texts(row["gold"]),
        response=None if cell_values.is_blank(row["response"]) else str(row["response"]),
        candidates=tuple(str(each) for each in cell_values.items(row["candidates"]) or ()),
        scores=tuple(_float(each) for each in cell_values.items(row["scores"]) or ()),
        log_probs=None if log_probs is None else tuple(_maybe(each) for each in log_probs),
        token_hits=None if hits is None else tuple(_float(each) for each in hits),
        discriminator=cell_values.number(row.get("discriminator")),
        gold_score=cell_values.number(row.get("gold_score")),
        batch=cell_values.text(row.get("batch")),
    )


def _texts(cell: object) -> tuple[str, ...]:
    """Return a cell that is a text, or a list of texts, written as JSON where it had to be."""
    found = cell_values.items(cell)
    if found is not None and all(isinstance(each, str) for each in found):
        return tuple(str(each) for each in found)
    return () if cell_values.is_blank(cell) else (cell_values.text(cell),)


def _float(number: object) -> float:
    return float(str(number))


def _maybe(number: object) -> float | None:
    return None if number is None or number != number else _float(number)
