"""Event causality's tables of people: A, B or neither, by criterion and pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import get_report, rendered
from analysis.stats.clustering import codes, share_intervals
from tests.analysis.examples import ratings

event_preferences = get_report("event_preferences")
RANKS = {"A": (1, 2), "B": (2, 1), "neither": (1, 1)}


def judged(pair: tuple[str, str], criterion: str, votes: list[list[str]]) -> list[dict[str, Any]]:
    """Return the rows of contexts, each with a vote per worker."""
    return [
        {"item": f"{'-'.join(pair)}{k}", "rater": f"r{j}", "question": criterion}
        | {"system": system, "value": rank, "chosen": vote if vote == "neither" else ""}
        for k, each in enumerate(votes)
        for j, vote in enumerate(each)
        for system, rank in zip(pair, RANKS[vote], strict=True)
    ]


WORDS = judged(("best", "rerank"), "word_coherency", [["A", "B", "neither"], ["neither"] * 3])
EASE = judged(("best", "rerank"), "dialogue_continuity", [["A", "A", "B"], ["A", "B", "neither"]])
OTHER = judged(("emb", "rerank"), "word_coherency", [["B", "B"]])


def test_criteria_and_pairs_stand_apart_and_rows_sum_to_100() -> None:
    report = event_preferences(ratings(WORDS + EASE + OTHER, level="rank"))
    frame = report.sections[0].frame
    assert len(frame) == 3
    assert frame["sum"].tolist() == pytest.approx([100.0] * 3)
    rows: Any = frame.set_index(["criterion", "system A", "system B"])
    shares: Any = rows[["A", "B", "neither"]]
    assert shares.loc["word_coherency", "best", "rerank"].tolist() == pytest.approx(
        [100 / 6, 100 / 6, 400 / 6]
    )
    assert shares.loc["dialogue_continuity", "best", "rerank"].tolist() == pytest.approx(
        [50, 200 / 6, 100 / 6]
    )
    assert shares.loc["word_coherency", "emb", "rerank"].tolist() == [0, 100, 0]
    assert rows["judgments"].tolist() == [6, 6, 2]
    assert report.findings == (
        "dialogue continuity: neither in 17 %; word coherency: neither in 0 to 67 % of the "
        "judgments of a pair.",
    )


def test_intervals_are_clustered_by_context_and_worker() -> None:
    shares = event_preferences(ratings(WORDS, level="rank")).sections[1].frame
    votes = pd.DataFrame(WORDS[::2])
    ((low, high),) = share_intervals(
        [
            (
                np.array(votes["chosen"] == "neither", dtype=float),
                [codes(votes["item"]), codes(votes["rater"])],
            )
        ]
    )
    row = shares.set_index("option").loc["neither"]
    assert (row["low"], row["high"]) == pytest.approx((100 * low, 100 * high))


def test_the_print_stands_as_it_is_and_says_what_is_odd() -> None:
    report = event_preferences(ratings([{"value": 3}]))
    assert report.findings == ("No question asks which of two responses is better, or neither.",)
    (section,) = report.sections
    odd = section.frame[section.frame["sum"] == 102.0].iloc[0]
    assert (odd["table"], odd["criterion"], odd["neither"]) == (6, "word coherency", 55.39)
    assert "adds up to 102.00" in " ".join(rendered(report).split())


def test_other_ties_than_neither_are_not_taken_for_it() -> None:
    tied = [{**row, "chosen": "equally good"} for row in WORDS]
    assert len(event_preferences(ratings(tied, level="rank")).sections) == 1
    plain = [{name: cell for name, cell in row.items() if name != "chosen"} for row in WORDS]
    assert len(event_preferences(ratings(plain, level="rank")).sections) == 3
