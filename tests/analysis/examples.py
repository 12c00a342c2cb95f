"""Small tables for the tests of analysis, and real ones turned into rating tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, rating_table

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"


def ratings(rows: Iterable[dict[str, object]], **common: object) -> RatingTable:
    """Return a checked table of `rows`, each filled up with what is common and with defaults."""
    return rating_table(raw(rows, **common))


def raw(rows: Iterable[dict[str, object]], **common: object) -> pd.DataFrame:
    """Return the same table unchecked."""
    usual: dict[str, object] = {
        "campaign": "c",
        "protocol": "p",
        "question": "q",
        "level": "ordinal",
        "item": "i",
        "system": "s",
        "rater": "r",
        "place": 0,
    }
    filled = [
        {"answer": f"a{k}", **usual, "item": f"i{k}", "rater": f"r{k}", **common, **row}
        for k, row in enumerate(rows)
    ]
    return pd.DataFrame(filled)


def triples(given: Iterable[Sequence[float]], **common: object) -> RatingTable:
    """Return ratings from (system, rater, score), each of a dialogue of its own."""
    rows = [{"system": f"m{i:g}", "rater": f"r{j:g}", "value": s} for i, j, s in given]
    return ratings(rows, **common)


def by_raters(data: Sequence[Sequence[object]], level: str) -> RatingTable:
    """Return ratings from a matrix, a row per rater, None where one is missing."""
    return ratings(
        [
            {"rater": f"r{j}", "item": f"i{u}", "value": value}
            for j, row in enumerate(data)
            for u, value in enumerate(row)
            if value is not None
        ],
        level=level,
    )


def from_counts(counts: Sequence[Sequence[int]]) -> RatingTable:
    """Return nominal ratings from a matrix of items by categories."""
    rows = []
    for u, row in enumerate(counts):
        votes = [category for category, times in enumerate(row) for _ in range(times)]
        rows += [{"item": f"i{u}", "rater": f"r{j}", "value": v} for j, v in enumerate(votes)]
    return ratings(rows, level="nominal")


def labels(
    given: Iterable[tuple[str, str, str, int, int]], *, protocol: str = "meena"
) -> RatingTable:
    """Return MEENA labels from (system, item, rater, sensible, specific)."""
    rows = [
        {"system": system, "item": item, "rater": rater, "question": question, "value": value}
        for system, item, rater, sensible, specific in given
        for question, value in (("sensible", sensible), ("specific", specific))
    ]
    return ratings(rows, level="nominal", protocol=protocol)


def simulated(seed: int = 0, *, systems: int = 4, raters: int = 60, each: int = 4) -> RatingTable:
    """Return 1-5 ratings of a known order, s0 < s1 < ..., by raters of different severity."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for j in range(raters):
        severity = rng.normal()
        for system in rng.permutation(systems)[:each]:
            score = 2 + system * 2 / max(systems - 1, 1) + severity + rng.normal()
            value = int(np.clip(np.round(score), 1, 5))
            rows.append({"system": f"s{system}", "rater": f"r{j}", "value": value})
    return ratings(rows, scale_low=1, scale_high=5)


def cell(frame: pd.DataFrame, row: object, column: str) -> float:
    """Return one number of a result by the label of its row."""
    rows: Any = frame.loc
    return float(rows[row, column])


def worked(name: str) -> dict[str, Any]:
    """Return a published worked example of `tests/data/agreement.json`."""
    examples = json.loads((DATA / "agreement.json").read_text(encoding="utf-8"))
    return dict(examples[name])


def shared(*parts: str) -> Path:
    """Return a file of the data that lies beside the repository, or skip the test."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared data file {'/'.join(parts)} is not beside the repository")
    return path


def kulikov() -> pd.DataFrame:
    """Return the scores of Kulikov et al. as a table: every row is a chat of its own, 1 to 4."""
    given = pd.read_csv(shared("calibration_golden", "kulikov_ratings.csv"))
    table = pd.DataFrame({"answer": [f"a{k}" for k in range(len(given))]})
    return table.assign(
        campaign="kulikov",
        protocol="kulikov2018",
        question="overall",
        level="ordinal",
        item=[f"chat{k}" for k in range(len(given))],
        system="model" + given["model"].astype(str),
        rater="annotator" + given["annotator"].astype(str),
        value=given["score"],
        place="",
        scale_low=1,
        scale_high=4,
    )


def crowd_campaign() -> pd.DataFrame:
    """Return run 1 of Ji et al. as a table: seven 0-100 questions about each dialogue."""
    given = pd.read_csv(shared("crowd_campaign_run1", "ratings.csv"))
    about = ["dialogue", "assignment", "worker", "position", "model"]
    long = given.melt(id_vars=about, var_name="question")
    table = pd.DataFrame({"answer": [f"a{k}" for k in range(len(long))]})
    return table.assign(
        campaign="run1",
        protocol="ji2022",
        question=long["question"],
        level="interval",
        item=long["dialogue"],
        system=long["model"],
        rater=long["worker"],
        value=long["value"],
        place=long["position"],
        scale_low=0,
        scale_high=100,
    )


def crowd_campaign_overall() -> pd.DataFrame:
    """Return run 1 of Ji et al. as one question: the mean of the seven, moved to 1 to 5."""
    given = pd.read_csv(shared("crowd_campaign_run1", "ratings.csv"))
    seven = ["interesting", "fun", "consistent", "fluent", "topic", "robotic", "repetitive"]
    table = pd.DataFrame({"answer": given["dialogue"]})
    return table.assign(
        campaign="run1",
        protocol="ji2022",
        question="overall",
        level="interval",
        item=given["dialogue"],
        system=given["model"],
        rater=given["worker"],
        value=1 + 4 * given[seven].mean(axis=1) / 100,
        place=given["position"],
        scale_low=1,
        scale_high=5,
    )
