"""Replies before and after re-ranking in the layout of the paper."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import PredictionTable, get_report, prediction_table
from tests.analysis.prediction_tables import predictions

event_reranking = get_report("event_reranking")
GOLD = "we like old owls a lot"


def table() -> PredictionTable:
    """Return a plain system, and one whose second reply is another."""
    frames = [
        predictions([{"response": GOLD}, {"response": "no no"}], gold=GOLD, system="1-best"),
        predictions([{"response": GOLD}, {"response": "we like tea"}], gold=GOLD, system="pairs"),
    ]
    both = pd.concat(frames, ignore_index=True)
    first = pd.Series([pd.NA, pd.NA, GOLD, "no no"], dtype=object)
    return prediction_table(both.assign(prediction=[f"p{k}" for k in range(4)], first=first))


def test_own_rows_have_the_papers_columns_and_the_share_changed() -> None:
    report = event_reranking(table(), training=[["old owls", GOLD]])
    own, printed = (section.frame for section in report.sections)
    assert set(printed.columns) >= {"bleu", "nist", "extrema", "dist1", "dist2", "pmi", "length"}
    assert set(own.columns) >= {"bleu", "nist", "extrema", "dist1", "dist2", "pmi", "length"}
    shares = dict(zip(own["model"], own["reranked_percent"], strict=True))
    assert shares["pairs"] == 50
    assert own["reranked_percent"].isna().sum() == 1
    assert report.findings == ("Re-ranking changes up to 50.0 % of the replies (pairs).",)
    lengths = dict(zip(own["model"], own["length"], strict=True))
    assert lengths == pytest.approx({"1-best": 4, "pairs": 4.5})


def test_other_predictions_say_so() -> None:
    plain = event_reranking(predictions([{"response": "Hi.", "gold": "Hi."}]))
    assert plain.findings[0].startswith("No prediction has the response without")
    assert event_reranking(predictions([{"gold": "a"}])).findings == (
        "This table has no responses.",
    )
