"""Ablation of the dual encoder: layers, cell, loss, data and negatives.

Source: the ASAPP paper (NLP4CONVAI 2019), table 9: AUC at a false positive rate of .05.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bots.commands.benchmark_data import BenchmarkData, Split, Table
from bots.commands.test_set_replies import area
from bots.reference import printed

RATE = 0.05
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("base: one-layer SRU", {}),
    ("two-layer SRU", {"layers": 2}),
    ("one-layer LSTM", {"cell": "lstm"}),
    ("hinge loss", {"loss": "hinge"}),
    ("a fifth of the negatives", {"negatives": 10}),
)


def run(study: BenchmarkData) -> list[Table]:
    """Return AUC@.05 of each variant, and of the base model on half of the data."""
    rows = [{"model": label, **_measured(study, options)} for label, options in VARIANTS]
    split = study.original
    half = Split(split.train[: len(split.train) // 2], split.test)
    fewer = replace(study, forms={"original": half})
    rows.append({"model": "half of the examples", **_measured(fewer, {})})
    paper = printed("asapp_table9")
    title = "Ablation of the dual encoder, AUC@.05"
    notes = [
        "toy sizes: the paper's base is a four-layer SRU on 6.6 million examples",
        "the paper's hierarchical variant is not built: its flat one, which was better, is",
    ]
    return [Table("dual_encoder_ablation", title, paper["source"], rows, paper["rows"], notes)]


def _measured(study: BenchmarkData, options: dict[str, Any]) -> dict[str, object]:
    bot = study.bot("dual_encoder", **options)
    positive: list[float] = []
    negative: list[float] = []
    for row in study.rows(bot):
        for text, score in zip(row["candidates"], row["scores"], strict=True):
            (positive if text == row["gold"] else negative).append(score)
    return {"AUC@.05": area(positive, negative, RATE)}
