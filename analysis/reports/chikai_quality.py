"""Overall quality of two systems, in the layout of Chikai et al. 2019, tables 3 and 5.

Fluency and consistency are labels of each reply, 1 or 0; domain-awareness and sentiment-richness go
to the preferred of two, so that the systems' shares add up to 1. Each figure is the macro-average
over annotators with a t interval (the paper gives no method), the share of judgments that preferred
a reply in both respects too; Fleiss' kappa per label, one for both systems where they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.fleiss_kappa import fleiss_kappa
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.between_runs import SHARE, over_raters
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("over_raters", "fleiss_kappa")

LABELS = {
    "fluency": "fluency",
    "consistency": "consistency",
}  # name, and how a question contains it
COMPARED = {"domain-awareness": "domain", "sentiment-richness": "sentiment"}
BOTH = "both domain-aware and sentiment-rich"
NONE = "No question labels fluency or consistency, or compares domain or sentiment."
NOTE = (
    "Macro-average over annotators with a 95 % t interval; one kappa for a label of pairs, since "
    "one judgment covers both systems."
)
ACT = ["campaign", "item", "rater", "system"]


def chikai_quality(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return a row per label and system, above those printed."""
    labels = {name: _of(ratings, "nominal", part) for name, part in LABELS.items()}
    pairs = {name: _forced(_of(ratings, "rank", part)) for name, part in COMPARED.items()}
    rows = [row for name, part in labels.items() for row in _labeled(name, part, seed)]
    rows += [row for name, part in pairs.items() for row in _compared(name, part, seed)]
    rows += _shares(BOTH, _both(*pairs.values()), {})
    own = pd.DataFrame(rows)
    finding = _finding(own) if len(own) else NONE
    return Report(
        name="chikai_quality",
        title="Fluency, consistency, domain-awareness and sentiment-richness",
        findings=(finding,),
        sections=sections([Section(finding, own, NOTE)], "chikai_quality"),
    )


def _of(ratings: RatingTable, level: str, part: str) -> pd.DataFrame:
    """Return the answers to questions of a level whose name has this part, as numbers."""
    about = ratings["question"].str.contains(part, case=False) & (ratings["level"] == level)
    rows = ratings[about]
    known = rows["value"].isin([0, 1] if level == "nominal" else [1, 2])
    rows = rows[known.groupby(rows["question"]).transform("all").astype(bool)]
    return rows.assign(value=rows["value"].astype(float))


def _forced(rows: pd.DataFrame) -> pd.DataFrame:
    """Return 1 for the reply preferred, 0 for the other; a question with ties is left out."""
    acts = rows.groupby(["question", "item", "rater"])["value"]
    is_forced = (acts.transform("min") == 1) & (acts.transform("max") == 2)
    rows = rows[is_forced.groupby(rows["question"]).transform("all").astype(bool)]
    return rows.assign(value=2 - rows["value"])


def _both(domain: pd.DataFrame, sentiment: pd.DataFrame) -> pd.DataFrame:
    """Return 1 where one judgment preferred a reply in both respects; it needs both answers."""
    both = domain[[*ACT, "value"]].merge(sentiment[[*ACT, "value"]], on=ACT)
    return both.assign(value=both["value_x"] * both["value_y"])


def _labeled(name: str, rows: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    kappas = {str(system): _kappa(part, seed) for system, part in rows.groupby("system")}
    yield from _shares(name, rows, kappas)


def _compared(name: str, rows: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    won = rows[rows["value"] == 1]
    kappa = _kappa(won.assign(value=won["system"]), seed) if len(won) else float("nan")
    yield from _shares(name, rows, dict.fromkeys(map(str, rows["system"]), kappa))


def _shares(name: str, rows: pd.DataFrame, kappas: dict[str, float]) -> Iterator[dict[str, object]]:
    for system, part in rows.groupby("system", sort=True):
        found = over_raters(part.groupby("rater")["value"].mean().sort_values(), SHARE)
        row: dict[str, object] = {"label": name, "system": str(system), "mean": found.mean}
        row |= {"low": found.interval.low, "high": found.interval.high}
        row |= {"kappa": kappas.get(str(system), float("nan"))}
        yield row | {"judgments": len(part), "annotators": found.n}


def _kappa(rows: pd.DataFrame, seed: int) -> float:
    """Return Fleiss' kappa of labels, each reply or pair an item."""
    one = rows.assign(question="q", system="s", protocol="p", level="nominal", campaign="c")
    found = fleiss_kappa(RatingTable(one.assign(value=one["value"].astype(str))), seed=seed)
    return float(found["estimate"].iloc[0]) if len(found) else float("nan")


def _finding(own: pd.DataFrame) -> str:
    name = next(each for each in (BOTH, *COMPARED, *LABELS) if each in set(own["label"]))
    rows = own[own["label"] == name]
    best = rows.iloc[int(rows["mean"].argmax())]
    return f"{best['system']} is ahead, {name}: {best['mean']:.1%} of its judgments."
