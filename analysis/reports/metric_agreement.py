"""Agreement of ranking metrics on the order of systems (A-METRICS; Gunasekara et al. 2019, DSTC7).

Systems are ranked by Recall@1, @10, @50 and MRR on each dataset. For each system: how far apart its
ranks by the recalls are, and whether its rank by MRR lies outside them. The same rule on the teams'
printed figures stands below, and what the paper says.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.recall import recall
from analysis.reference import Reference, reference
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable

RECALLS = ("R@1", "R@10", "R@50")
METRICS = (*RECALLS, "MRR")
NAMES = {"recall@1": "R@1", "recall@10": "R@10", "recall@50": "R@50", "mrr": "MRR"}
WHERE = ["dataset", "candidates"]
# What the printed track scores, means of R@10 and MRR, imply where the printed MRR does not fit.
IMPLIED = {("Ubuntu", 5): 0.051, ("Ubuntu", 20): 0.001}


def metric_agreement(predictions: PredictionTable, *, seed: int = 0) -> Report:
    """Return how alike the metrics order one's own systems, above DSTC7's."""
    own = _own(predictions, seed)
    printed = reference("dstc7_systems")
    teams = pd.DataFrame(list(printed.rows)).assign(candidates="reply of 100")
    teams = teams.rename(columns={"team": "system"})
    published = reference("dstc7_metric_agreement")
    return Report(
        name="metric_agreement",
        title="Agreement of ranking metrics on the order of systems",
        findings=(_finding(own),),
        sections=(*_sections(own), *_of_teams(teams, printed), _as_printed(published)),
    )


def _own(predictions: PredictionTable, seed: int) -> pd.DataFrame:
    found = recall(predictions, seed=seed)
    found = found[found["metric"].isin(NAMES)].assign(metric=found["metric"].map(NAMES))
    if found.empty:
        return pd.DataFrame(columns=[*WHERE, "system", *METRICS])
    wide = found.pivot(
        index=["protocol", "question", "system"], columns="metric", values="estimate"
    ).reset_index()
    wide = wide.rename(columns={"protocol": "dataset", "question": "candidates"})
    return wide.reindex(columns=[*WHERE, "system", *METRICS])


def _ranked(scores: pd.DataFrame) -> pd.DataFrame:
    """Return each system's ranks, 1 best; equal scores share the better rank."""
    known = [metric for metric in METRICS if scores[metric].notna().all()]
    ranks = scores.groupby(WHERE)[known].rank(ascending=False, method="min").astype(int)
    recalls = ranks[[metric for metric in RECALLS if metric in known]]
    best, worst = recalls.min(axis=1), recalls.max(axis=1)
    return pd.concat([scores[[*WHERE, "system"]], ranks], axis=1).assign(
        apart=worst - best, outside=(ranks["MRR"] < best) | (ranks["MRR"] > worst)
    )


def _summary(ranks: pd.DataFrame) -> pd.DataFrame:
    row = {
        "systems": len(ranks),
        "identical": (ranks["apart"] == 0).mean(),
        "one place apart": (ranks["apart"] == 1).mean(),
        "largest difference": int(ranks["apart"].max()),
        "MRR outside the recall ranks": ranks["outside"].mean(),
    }
    return pd.DataFrame([row])


def _finding(own: pd.DataFrame) -> str:
    if own.groupby(WHERE)["system"].nunique().max() < 2 or own.empty:
        return "This table has no two systems that ranked the same candidates."
    row = _summary(_ranked(own)).iloc[0]
    return (
        f"{row['identical']:.0%} of {row['systems']:.0f} systems have the same rank by every "
        f"recall, {row['one place apart']:.0%} are one place apart, at most "
        f"{row['largest difference']:.0f}."
    )


def _sections(own: pd.DataFrame) -> tuple[Section, ...]:
    if own.empty:
        return ()
    ranks = _ranked(own)
    return (
        Section(_finding(own), _summary(ranks), "Shares of systems, all datasets together."),
        Section("Scores", own, "Recall among the candidates offered, and mean reciprocal rank."),
        Section("Ranks", ranks, "1 is best; equal scores share the better rank."),
    )


def _of_teams(teams: pd.DataFrame, printed: Reference) -> tuple[Section, ...]:
    title = f"The same rule on the printed figures: {printed.source}"
    keys = zip(teams["dataset"], teams["system"], teams["MRR"], strict=True)
    right = teams.assign(MRR=[IMPLIED.get((data, team), mrr) for data, team, mrr in keys])
    return (
        Section(title, _summary(_ranked(teams)), printed.note),
        Section(
            "The same, with the two MRR that the track scores imply",
            _summary(_ranked(right)),
            "The paper's shares fit 44 or 56 systems: the first Advising set is not printed.",
        ),
    )


def _as_printed(published: Reference) -> Section:
    return Section(
        f"As printed: {published.source}", pd.DataFrame(list(published.rows)), published.note
    )
