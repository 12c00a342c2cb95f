"""Learned metric against ratings: THRED's check of ADEM (Dziri et al. 2019, section 5.5.1).

Each response's score is correlated with its mean rating: Pearson and Spearman, Holm-adjusted. A
scorer is any function of a prediction (its context, gold replies and response); the predictions'
column `learned_score` is taken as one too. Word F1 and BLEU stand in where none is given. A
response is found by `item` = `example` and the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from analysis.output.paper_layouts import sections
from analysis.predictions.prediction_rows import Predicted, groups
from analysis.report import Report, Section
from analysis.stats.correlation import pearson, spearman
from analysis.stats.significance import holm, stars
from analysis.tables import cell_values
from analysis.tables.schema import PredictionTable, RatingTable
from analysis.text.bleu import sentence_bleu
from analysis.text.overlap import word_f1
from analysis.text.tokens import split_lower

SIMULATED_AS = ("learned_metric p", "correlation")

COLUMN = "learned_score"
NOTE = (
    "One point per response; p adjusted by Holm over the table. Where several systems answer an "
    "example, p and interval are clustered by example."
)
Scorer = Callable[[Predicted], float | None]


def learned_metric(
    ratings: RatingTable,
    predictions: PredictionTable,
    *,
    scorers: Mapping[str, Scorer] | None = None,
) -> Report:
    """Return the correlations of every scorer with every question, above those printed."""
    scored = _scored(predictions, SCORERS if scorers is None else scorers)
    table = _correlations(ratings, scored)
    finding = _finding(table)
    return Report(
        name="learned_metric",
        title="Metrics against people's ratings",
        findings=(finding,),
        sections=sections(
            [Section(finding, table, NOTE)],
            "thred_correlations",
        ),
    )


def _f1(row: Predicted) -> float | None:
    return word_f1(row.response, row.golds) if row.response is not None and row.golds else None


def _bleu(row: Predicted) -> float | None:
    if row.response is None or not row.golds:
        return None
    return sentence_bleu(split_lower(row.response), [split_lower(gold) for gold in row.golds], 2)


SCORERS: Mapping[str, Scorer] = {"word F1": _f1, "BLEU-2": _bleu}


def _scored(predictions: PredictionTable, scorers: Mapping[str, Scorer]) -> pd.DataFrame:
    """Return a row per response, with a column per scorer; NaN where it has nothing to say."""
    rows = [
        {"item": row.example, "system": group.system, **{n: s(row) for n, s in scorers.items()}}
        for group in groups(predictions)
        for row in group.rows
    ]
    columns = ["item", "system", *scorers]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(scorers, float))
    if COLUMN not in predictions.columns:
        return table
    learned = predictions[["example", "system"]].rename(columns={"example": "item"})
    found = [cell_values.number(cell) for cell in predictions[COLUMN]]
    learned[COLUMN] = pd.Series(found, index=learned.index, dtype=float)
    return table.merge(learned, on=["item", "system"])


def _correlations(ratings: RatingTable, scored: pd.DataFrame) -> pd.DataFrame:
    table = pd.DataFrame(_pairs(ratings, scored))
    if len(table):
        table["Holm"] = [stars(p) for p in holm(table.pop("p").tolist())]
    return table


def _pairs(ratings: RatingTable, scored: pd.DataFrame) -> Iterator[dict[str, object]]:
    rows = ratings[ratings["level"].isin(["ordinal", "interval"])]
    rows = rows.assign(value=rows["value"].astype(float))
    for (protocol, question), part in rows.groupby(["protocol", "question"], sort=True):
        means = part.groupby(["item", "system"])["value"].mean().reset_index()
        both = means.merge(scored, on=["item", "system"])
        for name in scored.columns[2:] if len(both) else ():
            named = {"metric": name, "protocol": protocol, "question": question, "n": len(both)}
            for kind, found in (
                ("Pearson", pearson(both[name], both["value"], both["item"])),
                ("Spearman", spearman(both[name], both["value"], both["item"])),
            ):
                row = {**named, "coefficient": kind, "estimate": found.estimate}
                ends = {"low": found.interval.low, "high": found.interval.high}
                yield {**row, **ends, "p": found.p, "reason": found.reason}


def _finding(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["estimate"]) if len(table) else table
    if known.empty:
        return "No response has both a rating and a score that vary."
    best = known.iloc[int(known["estimate"].abs().argmax())]
    return (
        f"{best['metric']} goes closest with {best['question']}: {best['coefficient']} "
        f"{best['estimate']:.2f} over {best['n']} responses."
    )
