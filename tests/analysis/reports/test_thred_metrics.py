"""THRED's tables of metrics: distances by hand with a toy encoder, parts, tests, ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import PredictionTable, get_report, prediction_table
from analysis.stats.intervals import Floats
from analysis.text.vectors import VectorEncoder
from tests.analysis.examples import ratings

thred_metrics = get_report("thred_metrics")


def _encode(texts: Sequence[str]) -> Floats:
    """Return (1, angle as the text says), so that cosines are known."""
    angles = np.array([float(text.split("=")[1]) if "=" in text else 0.0 for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


TOY = VectorEncoder("toy", _encode)
ANGLES = {"a": [0.1, 0.2, 0.3, 0.2, 0.1, 0.25, 0.15], "b": [1.0, 0.9, 1.1, 1.2, 0.8, 0.9, 1.0]}


def _table() -> PredictionTable:
    rows = [
        {
            "prediction": f"{system}{k}", "system": system, "dataset": "d", "example": f"i{k}",
            "context": ["Hi!", "angle=0"] if k else ["angle=0"], "gold": "", "candidates": None,
            "response": f"quokka={angle}", "scores": None, "log_probs": None,
        }
        for system, angles in ANGLES.items()
        for k, angle in enumerate(angles)
    ]  # fmt: skip
    return prediction_table(pd.DataFrame(rows))


def test_distances_are_those_of_the_encoder() -> None:
    report = thred_metrics(_table(), encoder=TOY)
    frame = report.sections[0].frame.set_index("system")
    for system, angles in ANGLES.items():
        values = 1 - np.cos(angles)
        assert frame.loc[system, "SS Utt.2"] == pytest.approx(values.mean())
        assert frame.loc[system, "SD SS Utt.2"] == pytest.approx(values.std(ddof=1))
        # The first example has no message before the last.
        assert frame.loc[system, "SS Utt.1"] == pytest.approx(values[1:].mean())
    assert report.findings[0].startswith("a is closest to the last message: SS 0.0")
    assert "Encoder: toy." in report.sections[0].note
    assert "REI needs" in report.sections[0].note


def test_the_two_lowest_are_tested_and_boxes_drawn() -> None:
    report = thred_metrics(_table(), encoder=TOY)
    boxes, tests = report.sections[1].frame, report.sections[2].frame
    row = tests.set_index("measure").loc["SS Utt.2"]
    known = stats.ttest_ind(1 - np.cos(ANGLES["a"]), 1 - np.cos(ANGLES["b"]), equal_var=False)
    assert (row["lowest"], row["t"], row["p"]) == ("a", pytest.approx(known.statistic),
                                                   pytest.approx(known.pvalue))  # fmt: skip
    (box,) = boxes[(boxes["system"] == "a") & (boxes["measure"] == "SS Utt.2")].to_dict("records")
    assert box["median"] == pytest.approx(1 - np.cos(0.2))


def test_echoes_and_ratings() -> None:
    given = ratings(
        [{"item": f"i{k}", "system": s, "value": round(5 - 4 * a)} for s, angles in ANGLES.items()
         for k, a in enumerate(angles)]
    )  # fmt: skip
    report = thred_metrics(_table(), given, encoder=TOY, training=[["quokka"] * 10])
    echoes = report.sections[0].frame["REI"].tolist()
    assert all(0 < echo <= 1 for echo in echoes)
    found = dict(zip(*(report.sections[3].frame[c] for c in ("measure", "Pearson")), strict=True))
    assert found["SS Utt.2"] < -0.9
    printed = next(one for one in report.sections if one.title.endswith("tables 2 and 3")).frame
    assert set(printed["method"]) == {"THRED", "Seq2Seq", "HRED", "TA-Seq2Seq"}
