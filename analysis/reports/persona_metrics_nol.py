"""Persona metrics against people's votes, PERSONA-METRICS tables 6 and A.1 (Miyazaki et al. 2021).

Spearman's correlation of each metric with NoL per character, Holm-adjusted over the whole table,
and the histograms of NoL. What the two tables must hold is told in
`analysis/conversations/persona_likeness.py`.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations.nearest_line import ORDER
from analysis.conversations.persona_likeness import Counting, LikenessStudy, study
from analysis.output.paper_layouts import sections
from analysis.report import Chart, Report, Section
from analysis.stats.correlation import Correlation, spearman
from analysis.stats.significance import holm, stars
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.tokenizers import NamedTokenizer

SIMULATED_AS = ("correlations",)

NOTE = (
    "Spearman's r with NoL, p adjusted by Holm over all of the table: *** .1 %, ** 1 %, * 5 %. "
    "uPPL is low for utterances like the persona's. "
)


def persona_metrics_nol(
    ratings: RatingTable,
    messages: MessageTable,
    *,
    seed: int = 0,
    tokenizer: NamedTokenizer | None = None,
    bleu_n: int = ORDER,
) -> Report:
    """Return the correlations and the histograms, above the printed ones."""
    counting = Counting(tokenizer, bleu_n)
    found = study(ratings, messages, seed=seed, counting=counting)
    own: list[Section] = []
    finding = found.reason or ""
    if found.reason is None:
        table, finding = _correlations(found)
        own = [Section(finding, table, NOTE + counting.note), _histogram(found.frame)]
    return Report(
        name="persona_metrics_nol",
        title="Persona metrics against the votes of people",
        findings=(finding,),
        sections=sections(own, "persona_metrics_nol"),
    )


def _correlations(found: LikenessStudy) -> tuple[pd.DataFrame, str]:
    cells: dict[tuple[str, str], Correlation] = {}
    for character, rows in found.frame.groupby("character", sort=True):
        for metric in found.metrics:
            if rows[metric].notna().any():
                cells[str(character), metric] = spearman(rows[metric], rows["nol"])
    adjusted = holm([cell.p for cell in cells.values()])
    shown: dict[str, dict[str, object]] = {}
    for ((character, metric), cell), p in zip(cells.items(), adjusted, strict=True):
        row = shown.setdefault(character, {"character": character, "utterances": cell.n})
        row[metric] = "-" if cell.reason else f"{cell.estimate:.2f} {stars(p)}"
    means = {
        metric: sum(abs(cells[key].estimate) for key in cells if key[1] == metric) / len(shown)
        for metric in found.metrics
    }
    best = max(means, key=lambda metric: means[metric] if means[metric] == means[metric] else -1)
    finding = f"{best} goes closest with the votes: mean |r| {means[best]:.2f}"
    return pd.DataFrame(list(shown.values())), f"{finding} over {len(shown)} characters."


def _histogram(frame: pd.DataFrame) -> Section:
    counts = pd.crosstab(frame["character"], frame["nol"].astype(int))
    whole = counts.reindex(columns=range(int(frame["needed"].max()) + 1), fill_value=0)
    rows = [
        {"system": str(character), "answer": str(k), "rank": k, "count": int(row[k])}
        for character, row in whole.iterrows()
        for k in whole.columns
    ]
    answers = [str(k) for k in whole.columns]
    drawn = Chart(kind="shares", rows=rows, answers=answers, axis="share of utterances, by NoL")
    table = whole.rename(columns=lambda k: f"NoL {k}").reset_index()
    return Section("Histogram of NoL", table, "Number of utterances.", chart=drawn)
