"""SSA, sensibleness and specificity against perplexity (Adiwardana et al. 2020, figures 1, 3 to 5).

One point per system, best several sizes or checkpoints of one family with the same decoding: its
perplexity on one dataset of the predictions and each of its three scores, static and interactive; a
straight line and R². A system without a perplexity is a horizontal line that the fit does not know.
Perplexities of different vocabularies are not comparable: each dataset has fits of its own, and
there is none where systems name another `vocabulary`, or cut the same gold reply into another
number of scored tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.metrics.perplexity import perplexity
from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections, straight
from analysis.predictions.vocabularies import differing
from analysis.report import Chart, Report, Section
from analysis.scores.evaluation_modes import modes
from analysis.stats.correlation import line
from analysis.tables.schema import PredictionTable, RatingTable

SCORES = ("ssa", "sensibleness", "specificity")
WHERE = ["dataset", "protocol"]
NAMES = {"ssa": "SSA"}


def meena_ssa_perplexity(ratings: RatingTable, predictions: PredictionTable) -> Report:
    """Return the points, the fits and a picture of each, beside the printed R²."""
    scored = _scored(ratings)
    points = _points(scored, predictions)
    own: list[Section] = []
    finding = "No system has a perplexity and decided labels of its replies."
    if len(points):
        fits = pd.DataFrame(_fits(points, predictions))
        finding = _finding(fits)
        own = [
            Section(finding, fits, "Least squares, one point per system; three at least."),
            Section("The points: scores in percent, best perplexity first", points),
            *_pictures(points, scored, fits),
        ]
    return Report(
        name="meena_ssa_perplexity",
        title="SSA and perplexity",
        findings=(finding,),
        sections=sections(own, "meena_ssa_perplexity"),
    )


def _scored(ratings: RatingTable) -> pd.DataFrame:
    """Return the three scores of each system in percent, per protocol, with its mode."""
    found = ssa(ratings)
    if found.empty:
        return pd.DataFrame(columns=["protocol", "evaluation", "system", *SCORES])
    wide = found.pivot(index=["protocol", "system"], columns="metric", values="estimate").dropna()
    by_protocol = modes(ratings, found)
    table = (100 * wide).reset_index().rename_axis(columns=None)
    table["evaluation"] = table["protocol"].map(by_protocol)
    return table[["protocol", "evaluation", "system", *SCORES]]


def _points(scored: pd.DataFrame, predictions: PredictionTable) -> pd.DataFrame:
    likely = perplexity(predictions)
    likely = likely[likely["metric"].eq("perplexity") & np.isfinite(likely["estimate"])]
    if likely.empty or scored.empty:
        return pd.DataFrame()
    named = likely.rename(columns={"protocol": "dataset", "estimate": "perplexity"})
    table = scored.merge(named[["dataset", "system", "perplexity"]], on="system")
    columns = [*WHERE, "evaluation", "system", "perplexity", *SCORES]
    return table[columns].sort_values([*WHERE, "perplexity", "system"], ignore_index=True)


def _fits(points: pd.DataFrame, predictions: PredictionTable) -> Iterator[dict[str, object]]:
    for (dataset, protocol), part in points.groupby(WHERE, sort=True):
        refused = differing(predictions, str(dataset), part["system"])
        for score in SCORES:
            # Refused points stay apart: there is nothing to fit a line to.
            known = part.iloc[:0] if refused else part
            fit = line(known["perplexity"], known[score])
            row: dict[str, object] = {"dataset": dataset, "protocol": protocol}
            row |= {"evaluation": part["evaluation"].iloc[0], "score": score, "R²": fit.r2}
            row |= {"slope": fit.slope, "intercept": fit.intercept, "systems": len(part)}
            yield row | {"reason": refused or fit.reason}


def _pictures(points: pd.DataFrame, scored: pd.DataFrame, fits: pd.DataFrame) -> Iterator[Section]:
    """Yield a picture per evaluation and score: points, their line, other systems' lines."""
    for fit in fits.to_dict("records"):
        score, protocol = str(fit["score"]), fit["protocol"]
        here = points[(points["dataset"] == fit["dataset"]) & (points["protocol"] == protocol)]
        others = scored[(scored["protocol"] == protocol) & ~scored["system"].isin(here["system"])]
        name = NAMES.get(score, score)
        fitted = f"R² = {fit['R²']:.2f}" if pd.notna(fit["R²"]) else f"no line, {fit['reason']}"
        frame = pd.concat([here, others])[["system", "perplexity", score]]
        yield Section(
            f"{_capital(fit['evaluation'])} {name} by perplexity ({fit['dataset']}): {fitted}",
            frame.reset_index(drop=True),
            "A system without a perplexity is a horizontal line, and no part of the fit.",
            key=f"{fit['dataset']}-{protocol}-{score}",
            chart=_picture(here, others, score, is_fitted=bool(pd.notna(fit["R²"]))),
        )


def _picture(here: pd.DataFrame, others: pd.DataFrame, score: str, *, is_fitted: bool) -> Chart:
    up = f"{NAMES.get(score, score)}, percent"
    drawn = straight(here, "perplexity", score, across="perplexity", up=up)
    ends = (float(here["perplexity"].min()), float(here["perplexity"].max()))
    flat = [
        {"series": str(row["system"]), "name": "", "x": at, "y": row[score], "joined": True}
        for row in others.sort_values("system").to_dict("records")
        for at in ends
    ]
    kept = [row for row in drawn.rows if is_fitted or not row["joined"]]
    return replace(drawn, rows=[*kept, *flat])


def _finding(fits: pd.DataFrame) -> str:
    of_ssa = fits[fits["score"] == "ssa"]
    known = of_ssa[of_ssa["R²"].notna()]
    if known.empty:
        refused = [str(each) for each in of_ssa["reason"] if "vocabular" in str(each)]
        reason = f"{_capital(refused[0])}." if refused else ""
        return reason or "Too few systems for a line: three are needed."
    first = known.iloc[0]
    way = "falls" if first["slope"] < 0 else "rises"
    return f"Perplexity explains {first['R²']:.2f} of the variance of SSA, which {way} with it."


def _capital(text: object) -> str:
    return f"{str(text)[:1].upper()}{str(text)[1:]}"
