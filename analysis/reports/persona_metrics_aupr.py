"""Filtering by persona metrics, PERSONA-METRICS table 7 and curves (Miyazaki et al. 2021).

Utterances with NoL 0 or 1 are to be picked out by a low score (a high one for uPPL): area under the
precision-recall curve, by steps, per character; chance is the share of such utterances.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.conversations.nearest_line import ORDER
from analysis.conversations.persona_likeness import (
    HIGH_IS_BAD,
    INAPPROPRIATE,
    LEARNED,
    Counting,
    LikenessStudy,
    study,
)
from analysis.output.paper_layouts import sections
from analysis.report import Chart, Report, Section
from analysis.stats.filtering import area_interval, curve
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.tokenizers import NamedTokenizer

SIMULATED_AS = ("areas",)

NOTE = "Average precision; chance is the share of NoL 0 or 1. "
RECALLS = tuple(k / 10 for k in range(1, 11))


def persona_metrics_aupr(
    ratings: RatingTable,
    messages: MessageTable,
    *,
    seed: int = 0,
    tokenizer: NamedTokenizer | None = None,
    bleu_n: int = ORDER,
) -> Report:
    """Return the areas, with 95 % bootstrap intervals, and the curves of all utterances."""
    counting = Counting(tokenizer, bleu_n)
    found = study(ratings, messages, seed=seed, counting=counting)
    own: list[Section] = []
    finding = found.reason or ""
    if found.reason is None:
        table = pd.DataFrame(_areas(found, seed))
        finding = _finding(table)
        curves = pd.DataFrame(_curves(found))
        own = [
            Section(finding, table, NOTE + counting.note),
            Section(
                "Precision at each recall, all characters together", curves, chart=_drawn(curves)
            ),
        ]
    return Report(
        name="persona_metrics_aupr",
        title="Filtering out utterances that do not fit a character",
        findings=(finding,),
        sections=sections(own, "persona_metrics_aupr"),
    )


def _areas(found: LikenessStudy, seed: int) -> Iterator[dict[str, object]]:
    for character, rows in found.frame.groupby("character", sort=True):
        bad = rows["nol"] <= INAPPROPRIATE
        row: dict[str, object] = {"character": character, "utterances": len(rows)}
        row["chance"] = float(bad.mean())
        for metric in LEARNED:
            low = metric != HIGH_IS_BAD
            here = curve(rows[metric], bad, low_is_bad=low)
            row[metric] = float("nan") if here is None else here.area()
            if here is not None:
                ends = area_interval(rows[metric], bad, low_is_bad=low, seed=seed)
                row[f"{metric} interval"] = f"[{ends.low:.2f}, {ends.high:.2f}]"
        yield row


def _curves(found: LikenessStudy) -> Iterator[dict[str, object]]:
    bad = found.frame["nol"] <= INAPPROPRIATE
    lines = {
        metric: curve(found.frame[metric], bad, low_is_bad=metric != HIGH_IS_BAD)
        for metric in LEARNED
    }
    for recall in RECALLS:
        row: dict[str, object] = {"recall": recall}
        for metric, line in lines.items():
            if line is not None:
                index = int(np.searchsorted(line.recall, recall - 1e-12))
                row[metric] = float(line.precision[min(index, len(line.precision) - 1)])
        yield row


def _drawn(curves: pd.DataFrame) -> Chart:
    rows = [
        {"series": metric, "name": "", "x": row["recall"], "y": row[metric], "joined": True}
        for metric in curves.columns[1:]
        for row in curves.to_dict("records")
    ]
    return Chart(kind="plane", rows=rows, axis="recall", upright="precision")


def _finding(table: pd.DataFrame) -> str:
    means = {metric: float(table[metric].mean()) for metric in LEARNED}
    known = {metric: value for metric, value in means.items() if value == value}
    if not known:
        return "No utterance is inappropriate (NoL 0 or 1): there is nothing to filter out."
    best = max(known, key=known.__getitem__)
    chance = table["chance"].mean()
    return f"{best} filters best: mean area {known[best]:.2f}, where chance is {chance:.2f}."
