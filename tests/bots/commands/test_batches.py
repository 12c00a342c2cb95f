"""1-of-100 batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import pandas as pd
import pytest

from analysis import prediction_table
from analysis.metrics.one_of_100 import one_of_100
from bots import Dialogue, Utterance, get_dataset
from bots.commands.predictions import TooFewReplies, batched
from bots.text.tokens import normalize_answer


class Lot:
    """Scores by lot, and notes what it is asked."""

    def __init__(self) -> None:
        self.chance = Random(5)
        self.asked: set[tuple[int, int]] = set()

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Sequence[float]:
        self.asked.add((len(persona), len(history)))
        return [self.chance.random() for _ in candidates]


@pytest.fixture(scope="module")
def demo() -> list[Dialogue]:
    return get_dataset("demo").read("train")


def test_a_batch_is_its_own_negatives(demo: list[Dialogue]) -> None:
    bot = Lot()
    rows = list(batched(bot, "lot", demo, "demo", seed=1, batches=3))
    again = list(batched(Lot(), "lot", demo, "demo", seed=1, batches=3))
    assert [row["candidates"] for row in rows] == [row["candidates"] for row in again]
    assert bot.asked == {(0, 1)}, "the immediate context only"
    by_batch: dict[str, list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        by_batch[row["batch"]].append(row)
    for found in by_batch.values():
        golds = {str(row["gold"]) for row in found}
        assert len({normalize_answer(text) for text in golds}) == 100
        for row in found:
            assert isinstance(row["candidates"], list)
            assert set(row["candidates"]) == golds


def test_chance_is_about_one_percent(demo: list[Dialogue]) -> None:
    rows = list(batched(Lot(), "lot", demo, "demo", seed=2, batches=25))
    found = one_of_100(prediction_table(pd.DataFrame(rows))).iloc[0]
    assert (found["n"], found["batches"]) == (2500, 25)
    assert found["estimate"] == pytest.approx(0.01, abs=0.006)
    assert found["low"] < 0.01 < found["high"]


def test_too_few_replies_are_refused(demo: list[Dialogue]) -> None:
    with pytest.raises(TooFewReplies, match="a batch needs 100"):
        list(batched(Lot(), "lot", demo[:2], "demo", seed=1))
