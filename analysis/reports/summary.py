"""Everything that the ratings say: systems in order first, then what the order rests on.

For each rated question the ranking, raw beside calibrated (Kulikov et al. 2018) with the
probability that each system beats the next; then shares, labels, standardized scores, agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis import agreement
from analysis.cautions import cautions
from analysis.ranking import Ranking, rankings
from analysis.report import Report, Section
from analysis.results import evaluate
from analysis.tables import RatingTable
from analysis.tidy import ALL

MATRIX_MOST = 12
SHARES = {
    "persona_detection": ("persona told from a random one", "Chance is .5; Wilson's interval."),
    "sensibleness": ("sensible", "Bootstrap over items or conversations."),
    "specificity": ("specific", "Bootstrap over items or conversations."),
    "ssa": ("SSA", "The mean of the two unrounded shares (Adiwardana et al. 2020)."),
}


def summary(
    ratings: RatingTable,
    *,
    seed: int = 0,
    control: str | None = None,
    control_questions: Sequence[str] = (),
) -> Report:
    """Return the report of all metrics that apply to `ratings`."""
    results = evaluate(ratings, seed=seed, control=control, control_questions=control_questions)
    ranked = rankings(results)
    sections = (
        *_order(results, ranked),
        *_shares(results),
        *_standardized(results),
        *_agreement(results),
    )
    return Report(
        name="summary",
        title="Summary of the ratings",
        findings=_findings(ratings, ranked, sections),
        sections=sections,
        cautions=cautions(ratings),
    )


def _findings(
    ratings: RatingTable, ranked: Sequence[Ranking], sections: Sequence[Section]
) -> tuple[str, ...]:
    size = (
        f"{len(ratings)} answers of {ratings['rater'].nunique()} raters "
        f"on {ratings['system'].nunique()} systems."
    )
    leaders = [ranking.finding for ranking in ranked]
    shares = [section.title for section in sections if section.title.startswith("First")]
    return (size, *leaders, *shares) if sections else (size, "No metric applies to this table.")


def _order(results: pd.DataFrame, ranked: Sequence[Ranking]) -> Iterator[Section]:
    for ranking in ranked:
        yield Section(ranking.finding, ranking.frame, ranking.note)
        if 2 < len(ranking.frame) <= MATRIX_MOST:
            yield Section(
                f"Probability that the row's system beats the column's: {ranking.question}",
                ranking.matrix(results),
                f"From {ranking.pairs}.",
            )


def _shares(results: pd.DataFrame) -> Iterator[Section]:
    for metric, (what, note) in SHARES.items():
        chosen = results[results["metric"] == metric]
        for (protocol, question), rows in chosen.groupby(["protocol", "question"], sort=True):
            ordered = rows.sort_values(["estimate", "system"], ascending=[False, True])
            columns = ["system", "estimate", "low", "high", "n", "open_items", "reason"]
            title = _first(str(protocol), str(question), what, ordered)
            yield Section(title, _columns(ordered, columns), note)


def _first(protocol: str, question: str, what: str, ordered: pd.DataFrame) -> str:
    best = ordered.iloc[0]
    if pd.isna(best["estimate"]):
        return f"{what} ({protocol}, {question}): no item is decided yet"
    return f"First in {what} ({protocol}): {best['system']}, {best['estimate']:.3f}"


def _standardized(results: pd.DataFrame) -> Iterator[Section]:
    chosen = results[(results["metric"] == "standardized_score") & (results["question"] == ALL)]
    for protocol, rows in chosen.groupby("protocol", sort=True):
        ordered = rows.sort_values(["estimate", "system"], ascending=[False, True])
        kept = f"{int(rows['raters_kept'].iloc[0])} of {int(rows['raters'].iloc[0])} raters kept"
        columns = ["system", "estimate", "low", "high", "n", "raw", "reason"]
        best = ordered.iloc[0]
        leads = "no rater kept" if pd.isna(best["estimate"]) else f"{best['system']} first"
        yield Section(
            f"By rater's z score (Ji et al. 2022), {protocol}: {leads}",
            _columns(ordered, columns),
            f"{kept}; mean z over dialogues, t interval.",
        )


def _agreement(results: pd.DataFrame) -> Iterator[Section]:
    chosen = agreement.told(results)
    if chosen.empty:
        return
    defined = int((chosen["metric"].eq("krippendorff_alpha") & chosen["estimate"].notna()).sum())
    known = f"alpha is defined {defined} times" if defined else "alpha is not defined"
    columns = ["metric", "protocol", "question", "system", "estimate", "low", "high", "n", "reason"]
    yield Section(
        f"Agreement of raters: {known}",
        _columns(chosen, columns),
        "n is items with two ratings or more; intervals are a bootstrap over these, but by the "
        "standard error of Cohen's kappa, and by F of ICC.",
    )


def _columns(rows: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    known = [name for name in wanted if name in rows and rows[name].notna().any()]
    return rows[known].reset_index(drop=True)
