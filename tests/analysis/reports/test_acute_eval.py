"""ACUTE-Eval: win fractions per two systems, their test and the agreement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, rating_table
from analysis.reports.acute_eval import acute_eval
from tests.analysis.samples import EMPTY

Judged = tuple[str, str, str, str]  # item, rater, winner, loser


def table(judged: list[Judged], tied: Sequence[Judged] = ()) -> RatingTable:
    rows = [
        {
            "campaign": "c",
            "protocol": "acute_eval",
            "question": "preferred",
            "level": "rank",
            "item": item,
            "rater": rater,
            "system": system,
            "value": value,
            "place": place,
        }
        for each, values in [*((one, (1, 2)) for one in judged), *((one, (1, 1)) for one in tied)]
        for item, rater, *systems in [each]
        for place, (system, value) in enumerate(zip(systems, values, strict=True))
    ]
    return rating_table(pd.DataFrame(rows).assign(answer=range(len(rows))))


def test_two_systems_are_tested_against_one_half() -> None:
    judged = [(f"i{n}", f"r{n}", "a", "b") for n in range(8)]
    judged += [(f"i{n}", f"r{n}", "b", "a") for n in range(8, 10)]
    (row,) = acute_eval(table(judged)).sections[0].frame.to_dict("records")
    assert (row["system"], row["other system"], row["win fraction"]) == ("a", "b", 0.8)
    assert row["p"] == pytest.approx(112 / 1024)  # 2 (1 + 10 + 45) / 2^10
    assert row["stars"] == "n.s."
    assert np.isnan(row["agreement"])


def test_agreement_is_the_majoritys_share_and_nothing_for_a_split() -> None:
    judged = [
        ("i1", "r1", "a", "b"),
        ("i1", "r2", "b", "a"),
        ("i2", "r1", "a", "b"),
        ("i2", "r2", "a", "b"),
        ("i2", "r3", "b", "a"),
        ("i3", "r1", "a", "b"),
    ]
    (row,) = acute_eval(table(judged)).sections[0].frame.to_dict("records")
    assert row["agreement"] == pytest.approx((0 + 2 / 3) / 2)
    assert (row["items judged twice"], row["judgments"]) == (2, 6)


def test_pairs_are_not_pooled_and_ties_are_left_out() -> None:
    judged = [(f"i{n}", "r", "a", "b") for n in range(6)] + [("j", "r", "c", "a")]
    report = acute_eval(table(judged, [("k", "r", "b", "c")]))
    frame = report.sections[0].frame
    told = frame[["system", "other system", "judgments", "ties"]].to_numpy().tolist()
    assert sorted(told) == [["a", "b", 6, 0], ["b", "c", 0, 1], ["c", "a", 1, 0]]
    assert "a is preferred to b in 100% of 6 judgments (p = 0.031)." in report.findings
    assert frame.set_index("system")["stars"]["a"] == "*"


def test_other_tables_have_no_pairs() -> None:
    assert acute_eval(RatingTable(EMPTY["ratings"])).sections == ()
