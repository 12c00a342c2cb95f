"""Predictions of one system: replies beside the gold ones, whitelists, and batches of 100.

Apart because each kind of campaign is drawn in a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.simulation.campaigns import Design
from analysis.simulation.cases.dialogues import WORDS
from analysis.tables.schema import PredictionTable

Row = Mapping[str, object]
LISTED = tuple(f"{first} {second}" for first in ("so the", "and my", "oh very") for second in WORDS)
COVERED = 0.7
BATCH, OF_BATCH = 100, 10
OTHERS = tuple(f"other {k}" for k in range(1, BATCH))
BETTER = 3.0


def graded(design: Design, chance: Generator) -> PredictionTable:
    """Draw replies that share words with the gold ones, with what a decoder says of its tokens."""
    return _table(_graded(chance) for _ in range(design.conversations))


def _graded(chance: Generator) -> Row:
    gold = _words(chance)
    like = chance.beta(1, 3)
    response = [word if chance.random() < like else str(chance.choice(WORDS)) for word in gold]
    response += _words(chance)[: int(chance.poisson(2))]
    hits = (chance.random(len(gold)) < chance.beta(3, 3)).astype(int).tolist()
    score = float(chance.beta(4, 2))
    lists = [" ".join(_words(chance)) for _ in range(5)]
    row = {"gold": " ".join(gold), "response": " ".join(response), "token_hits": hits}
    return {**row, "discriminator": score, "candidates": lists, "scores": [0.0] * len(lists)}


def whitelisted(design: Design, chance: Generator) -> PredictionTable:
    """Draw scores of a whitelist and of the true reply, which is on the list or not."""
    rows = []
    for number in range(design.conversations):
        scores = chance.normal(0, 1, len(LISTED))
        true = int(chance.integers(len(LISTED)))
        scores[true] += BETTER * chance.random()
        gold = LISTED[true] if chance.random() < COVERED else f"something else {number}"
        row = {"gold": gold, "candidates": list(LISTED), "scores": scores.tolist()}
        rows.append({**row, "gold_score": float(scores[true])})
    return _table(rows)


def batches(design: Design, chance: Generator) -> PredictionTable:
    """Draw scores of 100 candidates in batches, `conversations` of them, some easier than others.

    A batch of the paper has an example for each candidate; here it has `OF_BATCH`.
    """
    rows = []
    for batch in range(design.conversations):
        easy = chance.normal(0, 0.7)
        for _ in range(OF_BATCH):
            rows.append({**_of_100(BETTER + easy, chance), "batch": f"b{batch}"})
    return _table(rows)


def alone(design: Design, chance: Generator) -> PredictionTable:
    """Draw scores of 100 candidates of single examples."""
    return _table(_of_100(BETTER, chance) for _ in range(design.conversations))


def _of_100(better: float, chance: Generator) -> Row:
    scores = chance.normal(0, 1, BATCH)
    scores[0] += better
    return {"gold": "gold", "candidates": ["gold", *OTHERS], "scores": scores.tolist()}


def _words(chance: Generator) -> Sequence[str]:
    return [str(word) for word in chance.choice(WORDS, 3 + chance.poisson(6))]


def _table(rows: Iterable[Row]) -> PredictionTable:
    frame = pd.DataFrame(list(rows))
    number = np.arange(len(frame)).astype(str)
    columns = {"response": "", "token_hits": None, "log_probs": None}
    missing = {name: cell for name, cell in columns.items() if name not in frame}
    about = {"system": "a system", "dataset": "drawn", "context": ""}
    return PredictionTable(frame.assign(prediction=number, example=number, **about, **missing))
