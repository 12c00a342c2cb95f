"""Semantic distance and echo in the layout of THRED tables 2, 3 and 6 (Dziri et al. 2019).

Per system: SS of the last message and of the one before as mean, SD and SD of the mean over five
disjoint parts of the examples; the numbers of a box plot for SS and REI; Welch's t of the two
lowest systems; where ratings of the same examples are given, Pearson's correlation with these; and
data sets beside each other, with the SD of responses, whose size the printed ones have. Of an
export, what people judged are the responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.output.paper_layouts import sections
from analysis.predictions.prediction_rows import Predicted, groups
from analysis.report import Report, Section
from analysis.stats.between_runs import PARTS, over_parts
from analysis.stats.correlation import pearson
from analysis.stats.significance import t_test
from analysis.tables.options import TRAINING_NEEDED
from analysis.tables.schema import PredictionTable, RatingTable
from analysis.text.response_echo import EchoIndex, sample
from analysis.text.semantic import distance, penalty_of
from analysis.text.vectors import MISSING, VectorEncoder, default_encoder

SIMULATED_AS = ("thred_metrics p", "learned_metric p")

OF_REPLIES = True
POSITIONS = {"SS Utt.1": -2, "SS Utt.2": -1}
MEASURES = (*POSITIONS, "REI")
KEYS = ["dataset", "system"]


def thred_metrics(
    predictions: PredictionTable,
    ratings: RatingTable | None = None,
    *,
    encoder: VectorEncoder | None = None,
    training: Sequence[Sequence[str]] = (),
    seed: int = 0,
) -> Report:
    """Return the tables of distances and echoes, above those printed."""
    encoder = encoder or default_encoder()
    scores = _scores(predictions, encoder, training, seed)
    rated = list(_rated(scores, ratings))
    table = pd.DataFrame(_spreads(scores, seed))
    finding = _finding(table)
    lacking = [MISSING] if encoder is None else [f"Encoder: {encoder.name}."]
    lacking += [] if training else [f"REI {TRAINING_NEEDED}."]
    own = [
        Section(finding, table, f"Low is good. {' '.join(lacking)}"),
        Section("Box plots", pd.DataFrame(_boxes(scores)), "Ends, quartiles and median."),
        Section(
            "Difference of the two lowest systems",
            pd.DataFrame(_tests(scores)),
            "Welch's t as if examples were not the same, of systems picked for their means: equal "
            "systems are found different far less often than in 5 % (docs/simulation.md).",
        ),
        Section("Pearson with people's mean ratings", pd.DataFrame(_with_ratings(rated))),
        Section(
            "Data sets: mean (SD) over the responses of all systems",
            pd.DataFrame(_data_sets(scores, rated)),
        ),
    ]
    return Report(
        name="thred_metrics",
        title="Semantic distance and echo in the layout of THRED",
        findings=(finding,),
        sections=sections(own, "thred_semantic_distance", "thred_correlations", "thred_data_sets"),
    )


def _scores(
    predictions: PredictionTable,
    encoder: VectorEncoder | None,
    training: Sequence[Sequence[str]],
    seed: int,
) -> pd.DataFrame:
    """Return a row per response with its measures, NaN where one is not defined."""
    messages = [text for conversation in training for text in conversation]
    index = EchoIndex(sample(messages, seed=seed)) if messages else None
    rows: list[dict[str, object]] = []
    for group in groups(predictions):
        answered = [row for row in group.rows if row.response is not None]
        named = {"dataset": group.dataset, "system": group.system}
        parts = {
            name: _distances(answered, position, encoder) for name, position in POSITIONS.items()
        }
        for k, row in enumerate(answered):
            echo = float("nan") if index is None else index.score(str(row.response))
            values = {name: part[k] for name, part in parts.items()}
            rows.append({**named, "item": row.example, **values, "REI": echo})
    return pd.DataFrame(rows, columns=[*KEYS, "item", *MEASURES])


def _distances(
    answered: Sequence[Predicted], position: int, encoder: VectorEncoder | None
) -> list[float]:
    if encoder is None or not answered:
        return [float("nan")] * len(answered)
    known = [len(row.context) >= -position for row in answered]
    before = [row.context[position] if ok else "" for row, ok in zip(answered, known, strict=True)]
    replies = [str(row.response) for row in answered]
    pairs = zip(encoder.encode(before), encoder.encode(replies), replies, known, strict=True)
    return [
        distance(message, reply, penalty_of(text)) if ok else float("nan")
        for message, reply, text, ok in pairs
    ]


def _spreads(scores: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    for names, rows in scores.groupby(KEYS, sort=True):
        row: dict[str, object] = dict(zip(KEYS, names, strict=True))
        for measure in MEASURES:
            known = rows[measure].dropna()
            row[measure] = float(known.mean()) if len(known) else float("nan")
            row[f"SD {measure}"] = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
            row[f"SD of {PARTS} parts, {measure}"] = over_parts(known, seed=seed).sd
        yield {**row, "responses": len(rows)}


def _boxes(scores: pd.DataFrame) -> Iterator[dict[str, object]]:
    for names, rows in scores.groupby(KEYS, sort=True):
        for measure in MEASURES:
            known = rows[measure].dropna()
            if len(known):
                ends = np.quantile(known, [0, 0.25, 0.5, 0.75, 1])
                box = dict(zip(("least", "q1", "median", "q3", "most"), ends, strict=True))
                yield {**dict(zip(KEYS, names, strict=True)), "measure": measure, **box}


def _tests(scores: pd.DataFrame) -> Iterator[dict[str, object]]:
    for dataset, rows in scores.groupby("dataset", sort=True):
        for measure in MEASURES:
            known = rows.dropna(subset=[measure]).sort_values([*KEYS, measure])
            parts = {str(name): part[measure] for name, part in known.groupby("system")}
            order = sorted(parts, key=lambda name: (float(parts[name].mean()), name))
            if len(order) > 1:
                low, second = order[:2]
                found = t_test(parts[low], parts[second])
                named = {"dataset": dataset, "measure": measure, "lowest": low, "second": second}
                ends = {"t": found.statistic, "df": found.df, "p": found.p}
                yield {**named, "difference": found.effect, **ends, "reason": found.reason}


def _rated(scores: pd.DataFrame, ratings: RatingTable | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each question with the scored responses that were rated, and their mean `value`."""
    if ratings is None:
        return
    rows = ratings[ratings["level"].isin(["ordinal", "interval"])]
    rows = rows.assign(value=rows["value"].astype(float))
    for question, part in rows.groupby("question", sort=True):
        means = part.groupby(["item", "system"])["value"].mean().reset_index()
        both = means.merge(scores, on=["item", "system"])
        if len(both):
            yield str(question), both


def _with_ratings(rated: Sequence[tuple[str, pd.DataFrame]]) -> Iterator[dict[str, object]]:
    for question, both in rated:
        for measure in MEASURES:
            found = pearson(both[measure], both["value"], both["item"])
            ends = {"low": found.interval.low, "high": found.interval.high, "n": found.n}
            row = {"measure": measure, "question": question, "Pearson": found.estimate, **ends}
            yield {**row, "p": found.p, "reason": found.reason}


def _data_sets(
    scores: pd.DataFrame, rated: Sequence[tuple[str, pd.DataFrame]]
) -> Iterator[dict[str, object]]:
    """Yield the rows of table 6, of two data sets or more."""
    if scores["dataset"].nunique() < 2:
        return
    for question, both in rated:
        yield {"measure": f"MER, {question}", **_mean_and_sd(both, "value")}
    for measure in MEASURES:
        yield {"measure": measure, **_mean_and_sd(scores, measure)}


def _mean_and_sd(rows: pd.DataFrame, measure: str) -> dict[str, object]:
    known = rows.dropna(subset=[measure]).groupby("dataset", sort=True)[measure]
    return {
        str(dataset): f"{values.mean():.3f} ({values.std(ddof=1):.3f})" for dataset, values in known
    }


def _finding(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["SS Utt.2"]) if len(table) else table
    if known.empty:
        return "No response whose distance from the last message is known."
    best = known.iloc[int(known["SS Utt.2"].argmin())]
    return f"{best['system']} is closest to the last message: SS {best['SS Utt.2']:.3f}."
