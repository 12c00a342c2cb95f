"""Raters: Dawid & Skene's anesthetists (1979), and the workers of Ji et al. 2022, run 1."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis import rating_table
from analysis.metrics.standardized_score import standardized_score
from analysis.raters.dawid_skene import dawid_skene
from analysis.raters.nominal_labels import Labels
from analysis.raters.raters import profiles
from analysis.tables.tidy import ALL
from tests.analysis.examples import crowd_campaign, shared
from tests.analysis.golden.figures import Compared, printed

FIVE = ("interesting", "fun", "consistent", "fluent", "topic")
CONTROL = "degraded_qc"


def compared() -> Iterator[Compared]:
    """Yield prevalence and likelihood of the anesthetists, then every figure of the campaign."""
    yield from _anesthesia()
    yield from _campaign()


def anesthesia() -> Labels:
    """Return the 315 labels; the first anesthetist rated every patient three times."""
    given = pd.read_csv(shared("calibration_golden", "anesthesia.csv"))
    item, rater, label = (given[name].to_numpy() - 1 for name in ("item", "rater", "rating"))
    return Labels(item, rater, label, int(label.max()) + 1)


def _anesthesia() -> Iterator[Compared]:
    content = shared("calibration_golden", "other_expected.json").read_text(encoding="utf-8")
    expected = json.loads(content)["anesthesia"]
    found = dawid_skene(anesthesia())
    source = "Dawid & Skene 1979"
    for kind in ("published", "computed"):
        for k, share in enumerate(expected[kind]["class_prevalence"]):
            ours = float(found.prevalence[k])
            yield printed(source, f"prevalence of {k + 1}, {kind}", share, ours)
    likelihood = expected["computed"]["log_likelihood"]
    yield printed(source, "log likelihood", likelihood, found.log_likelihood)
    decided = np.bincount(found.truth.argmax(axis=1), minlength=len(found.prevalence))
    for k, count in enumerate(expected["computed"]["hard_class_counts"]):
        yield Compared(source, f"patients of class {k + 1}", count, float(decided[k]), 0)


def _campaign() -> Iterator[Compared]:
    content = shared("crowd_campaign_run1", "expected.json").read_text(encoding="utf-8")
    expected = json.loads(content)
    table = rating_table(crowd_campaign())
    found = profiles(table, control=CONTROL, control_questions=FIVE)
    passing = found.index[~found["flags"].str.contains("control not seen")]
    source = "Ji et al. 2022, run 1"
    yield Compared(source, "raters", expected["workers"], len(found), 0)
    yield Compared(source, "raters who pass", expected["workers_passing"], len(passing), 0)
    named = set(expected["passing_worker_ids"])
    yield Compared(source, "of these the same", len(named), len(named & set(passing)), 0)
    given = pd.read_csv(shared("crowd_campaign_run1", "ratings.csv"))
    work = given[given["worker"].isin(passing)]["assignment"].nunique()
    yield Compared(source, "their assignments", expected["assignments_passing"], work, 0)
    yield from _scores(expected["models_passing_workers"], standardized(table))


def standardized(table: pd.DataFrame) -> dict[tuple[str, str], pd.Series]:
    """Return the standardized scores of the passing raters by system and question."""
    scores = standardized_score(rating_table(table), control=CONTROL, control_questions=FIVE)
    return {(row["system"], row["question"]): row for _, row in scores.iterrows()}


def _scores(
    expected: dict[str, dict[str, float]], ours: dict[tuple[str, str], pd.Series]
) -> Iterator[Compared]:
    source = "Ji et al. 2022, run 1"
    for system, figures in expected.items():
        whole = ours[system, ALL]
        yield Compared(source, f"n, {system}", figures["n"], float(whole["n"]), 0)
        for name, value in figures.items():
            if name == "raw":
                found = float(whole["raw"])
                yield Compared(source, f"raw, {system}", value, found, 5.1e-4)
            elif name != "n":
                row = whole if name == "z" else ours[system, name]
                found = float(row["estimate"])
                yield Compared(source, f"{name}, {system}", value, found, 5.1e-5)
