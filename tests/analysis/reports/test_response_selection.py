"""1-of-100 accuracy in the layout of the paper."""

from __future__ import annotations

import pandas as pd

from analysis import prediction_table
from analysis.reports.response_selection import response_selection
from tests.analysis.examples import cell
from tests.analysis.prediction_tables import predictions, ranked


def test_a_row_per_system_and_a_column_per_dataset() -> None:
    frames = [
        ranked(*places, n=100, system=system, dataset=dataset)
        for system, dataset, places in [
            ("map", "chat", (1, 1, 2, 9)),
            ("map", "mail", (1, 1, 1, 9)),
            ("sim", "chat", (1, 4, 2, 9)),
        ]
    ]
    table = pd.concat(frames, ignore_index=True)
    table["prediction"] = [f"p{k}" for k in range(len(table))]
    report = response_selection(prediction_table(table))
    wide = report.sections[0].frame
    assert list(wide["method"]) == ["sim", "map"], "the best last, as the paper has it"
    assert wide["chat"].tolist() == [25, 50]
    assert wide["mail"].iloc[1] == 75
    assert report.findings[0].startswith("chat: map is best of 2, 50.0 % (")
    printed = report.sections[-1].frame.set_index("method")
    assert cell(printed, "POLYAI-ENCODER", "Reddit") == 61.3
    assert cell(printed, "USE-SIM", "Reddit") < cell(printed, "USE-MAP", "Reddit")


def test_without_lists_of_100_it_says_so() -> None:
    report = response_selection(predictions([{"response": "Hi."}]))
    assert report.findings == ("This table has no system that ranked 100 candidates.",)
    assert len(report.sections) == 1
