"""Models of explanations: accuracy, scores and rank by people, in the layout of L2E's tables 3, 4.

The L2E paper of NLP4CONVAI 2019. Predictions give per-token accuracy under teacher forcing and
perplexity, BLEU, ROUGE and METEOR in percent, per dataset; a ranking study gives each model's
normalized rank, 0 for the best and 1 for the worst, per data set of its prompts (column `dataset`).
A model that a data set lacks is a dash there. Intervals of ranks are over participants. How people
rate single explanations has a report of its own, `explanation_ratings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.metrics.bleu import bleu
from analysis.metrics.explanation_rank import explanation_rank
from analysis.metrics.perplexity import perplexity
from analysis.metrics.rouge import rouge
from analysis.metrics.token_accuracy import token_accuracy
from analysis.output.paper_layouts import printed
from analysis.report import Chart, Report, Section, dots
from analysis.tables import cell_values
from analysis.tables.schema import PredictionTable, RatingTable

SIMULATED_AS = ("explanation_rank",)

NONE = "No model has ranks by people, or predictions with tokens or replies."
DASH = "-"
# The column of each metric, and what it is times.
LEARNED = {"token_accuracy": ("accuracy", 100.0), "perplexity": ("perplexity", 1.0)}
SCORED = {
    "bleu_4": ("BLEU", 1.0),
    "rouge_l": ("ROUGE", 100.0),
    "meteor": ("METEOR", 100.0),
}
DRAWN = "percentile_low", "percentile_high"
NOTE = (
    "0 is the best and 1 the worst: mean over a participant's prompts, then over participants. "
    "95 % intervals are Student's over participants, and percentiles of 10,000 resamples of them."
)


def explanation_models(
    ratings: RatingTable | None = None,
    predictions: PredictionTable | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Return one's own two tables, then the ranks with intervals, above those printed."""
    ranks = pd.DataFrame() if ratings is None else _ranks(ratings, seed)
    learned, scored = (_values(predictions, columns, seed) for columns in (LEARNED, SCORED))
    own = [
        Section("Accuracy and perplexity", _wide([learned], 1)),
        Section("Scores, and ranks by people", _wide([scored, _as_values(ranks)], 3), NOTE),
        Section("Ranks with their intervals", ranks, NOTE, chart=_chart(ranks)),
    ]
    own = [section for section in own if len(section.frame)]
    return Report(
        name="explanation_models",
        title="Models of explanations",
        findings=tuple(_findings(ranks)) if len(ranks) else (own[0].title + "." if own else NONE,),
        sections=(*own, *(_dashed(name) for name in ("accuracy", "models"))),
    )


def _values(
    predictions: PredictionTable | None, columns: dict[str, tuple[str, float]], seed: int
) -> pd.DataFrame:
    """Return long rows: model, column, value."""
    if predictions is None:
        return pd.DataFrame()
    metrics = [token_accuracy, perplexity, rouge]
    found = pd.concat([*(one(predictions) for one in metrics), bleu(predictions, seed=seed)])
    rows = [
        {"model": row["system"], "column": f"{name}, {row['protocol']}", "place": name}
        | {"value": times * row["estimate"]}
        for metric, (name, times) in columns.items()
        for row in found[found["metric"] == metric].to_dict("records")
    ]
    return pd.DataFrame(rows)


def _wide(parts: Sequence[pd.DataFrame], digits: int) -> pd.DataFrame:
    """Return a row per model, with a dash where it has no value."""
    known = [part for part in parts if len(part)]
    if not known:
        return pd.DataFrame()
    rows = pd.concat(known, ignore_index=True)
    wide = rows.pivot(index="model", columns="column", values="value")
    columns = list(dict.fromkeys(rows["column"]))
    cells = {
        str(name): [f"{value:.{digits}f}" if value == value else DASH for value in wide[name]]
        for name in columns
    }  # NaN does not equal itself
    return pd.DataFrame({"model": wide.index.astype(str), **cells})


# --- ranks by people --------------------------------------------------------------------------


def _ranks(ratings: RatingTable, seed: int) -> pd.DataFrame:
    """Return each model's rank per data set; prompts without one are of a set without a name."""
    rows = ratings[ratings["level"] == "rank"]
    if "dataset" not in rows.columns:
        rows = rows.assign(dataset="")
    named = rows["dataset"].map(lambda cell: "" if cell_values.is_blank(cell) else str(cell))
    found = [
        explanation_rank(RatingTable(part), seed=seed).assign(dataset=name)
        for name, part in rows.groupby(named, sort=True)
    ]
    if not found:
        return pd.DataFrame()
    table = pd.concat(found, ignore_index=True).rename(columns={"system": "model", "n": "people"})
    ends = ["estimate", "low", "high", *DRAWN]
    columns = ["dataset", "question", "model", *ends, "people", "judgments", "reason"]
    return table[columns].sort_values(["dataset", "question", "model"], ignore_index=True)


def _as_values(ranks: pd.DataFrame) -> pd.DataFrame:
    if ranks.empty:
        return ranks
    several = ranks["question"].nunique() > 1
    parts = ["dataset", "question"] if several else ["dataset"]
    named = ranks[parts].itertuples(index=False)
    names = [", ".join(["rank", *filter(None, map(str, row))]) for row in named]
    return pd.DataFrame({"model": ranks["model"], "column": names, "value": ranks["estimate"]})


def _chart(ranks: pd.DataFrame) -> Chart | None:
    if ranks.empty:
        return None
    rows = [
        one
        for dataset, part in ranks.rename(columns={"model": "system"}).groupby("dataset", sort=True)
        for one in dots(part, str(dataset) or "rank")
    ]
    return Chart(kind="intervals", rows=rows, axis="rank, 0 the best", domain=(0.0, 1.0))


def _findings(ranks: pd.DataFrame) -> Iterator[str]:
    for (dataset, _), rows in ranks.groupby(["dataset", "question"], sort=True):
        best = rows.sort_values(["estimate", "model"]).iloc[0]
        where = f" on {dataset}" if str(dataset) else ""
        yield f"{best['model']} ranks best{where}: {best['estimate']:.3f} of {len(rows)} models."


def _dashed(name: str) -> Section:
    section = printed(f"explanation_{name}")
    frame = section.frame.astype(object)
    return Section(section.title, frame.where(frame.notna(), DASH), section.note)
