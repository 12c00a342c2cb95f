"""Rankings as sections and sentences: all questions, scores, differences, published calibration.

Apart because they are of the crossed model, and other findings of metrics of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.output import measured
from analysis.output.ranking import PAIR, SystemRanking, listed
from analysis.report import Chart, Section, chance

MATRIX_MOST = 12  # systems whose pairs are still readable as a matrix
SOURCES = {"restricted maximum likelihood": "Patterson & Thompson 1971", "moments": "Rao 1971"}
PAIRS = {
    "system": "system",
    "other_system": "other",
    "estimate": "difference",
    "low": "low",
    "high": "high",
    "p_holm": "p (Holm)",
    "d": "d",
    "detectable": "detectable",
}
OF_PAIRS = (
    "Student's t with Satterthwaite's degrees of freedom, Holm over these pairs; d is Cohen's; "
    "“detectable” is the true difference that this design finds with a power of .8."
)


def overview(ranked: Sequence[SystemRanking]) -> Iterator[Section]:
    """Yield all questions side by side, where there are several: a score and a place in each."""
    ranked = [each for each in ranked if each.better != "none"]
    if len(ranked) < 2 or max(len(each.frame) for each in ranked) < 2:
        return
    names = _names(ranked)
    scores = pd.DataFrame({name: each.scores for name, each in zip(names, ranked, strict=True)})
    ranks = pd.DataFrame(
        {
            name: each.scores.rank(ascending=each.better == "low", method="min")
            for name, each in zip(names, ranked, strict=True)
        }
    )
    frame = scores.assign(**{"mean place": ranks.mean(axis=1)})
    frame = frame.rename_axis("system").reset_index()
    frame = frame.sort_values(["mean place", "system"], ignore_index=True)
    best = frame.iloc[0]["system"]
    firsts = sum(each.top == [best] for each in ranked)
    on = f"all {firsts}" if firsts == len(ranked) else f"{firsts}"
    yield Section(
        f"{best} has the best mean place over {len(ranked)} questions, and is told apart from "
        f"every other system on {on} of them",
        frame,
        "The mean place counts every question that has a better end alike, and is no test. "
        "Intervals and n of each score are in the rankings that follow.",
        key="overview",
    )


def _names(ranked: Sequence[SystemRanking]) -> list[str]:
    several = len({each.protocol for each in ranked}) > 1
    return [f"{each.protocol}, {each.question}" if several else each.question for each in ranked]


def order(ranking: SystemRanking, results: pd.DataFrame) -> Section:
    """Return the ranking with alpha beside the scores."""
    frame = ranking.frame.assign(
        alpha=[_alpha(results, ranking, name) for name in ranking.frame["system"]]
    )
    wanted = ["system", "score", "low", "high", *measured.NAMES.values()]
    wanted += ["group", "mean", "sd", "n", "alpha", "beats next"]
    there = [name for name in wanted if name in frame]
    known = [name for name in there if name == "system" or frame[name].notna().any()]
    return Section(
        ranking.finding,
        frame[known],
        " ".join([ranking.note, "Intervals are 95 %; n is ratings.", *_of_alpha(known)]),
        key=f"ranking-{ranking.key}",
        chart=ranking.chart if len(frame) > 1 else None,
    )


def _of_alpha(columns: Sequence[str]) -> list[str]:
    return ["alpha is Krippendorff's, of raters on the system."] if "alpha" in columns else []


def _alpha(results: pd.DataFrame, ranking: SystemRanking, system: str) -> float:
    rows = _of(results, ranking, "krippendorff_alpha")
    rows = rows[rows["system"] == system]
    return float(rows["estimate"].iloc[0]) if len(rows) else math.nan


def differences(ranking: SystemRanking, results: pd.DataFrame) -> Iterator[Section]:
    """Yield every pair of systems with interval, p and the difference that could be found."""
    rows = _of(results, ranking, PAIR)
    if rows.empty or len(ranking.frame) > MATRIX_MOST:
        return
    apart = int((rows["p_holm"] < 0.05).sum())
    shown = PAIRS | measured.columns(rows)
    pairs = "pair of systems is" if len(rows) == 1 else "pairs of systems are"
    yield Section(
        f"{ranking.capital}: {apart} of {len(rows)} {pairs} told apart",
        rows[list(shown)].rename(columns=shown).reset_index(drop=True),
        " ".join([OF_PAIRS, *measured.notes(rows)]),
        key=f"differences-{ranking.key}",
    )


def pairs(ranking: SystemRanking, results: pd.DataFrame) -> Iterator[Section]:
    """Yield the probability that a system is above another, for each pair of three or more."""
    if not 2 < len(ranking.frame) <= MATRIX_MOST:
        return
    table = ranking.matrix(results)
    names = [str(name) for name in table["system"]]
    found = [
        {"system": row["system"], "other": other, "p": float(row[other])}
        for row in table.to_dict("records")
        for other in names
        if row[other] is not None and other != row["system"]
    ]
    if not found:
        return
    least = min(each["p"] for each in found if each["system"] == names[0])
    yield Section(
        f"{ranking.capital}: {names[0]} is above every other system with "
        f"probability {chance(least)} or more",
        table,
        "Probability that the row's system is above the column's, of the model that the scores "
        "are from; each pair by itself.",
        key=f"pairs-{ranking.key}",
        chart=Chart(kind="matrix", rows=found, axis="below the system on the left, probability"),
    )


def published(ranking: SystemRanking, results: pd.DataFrame) -> Iterator[Section]:
    """Yield the published calibration as it is, beside the raw means."""
    rows = ranking.published(results)
    if rows.empty:
        return
    names = {"estimate": "calibrated", "raw": "raw mean"}
    columns = ["system", "estimate", "low", "high", "raw", "n"]
    yield Section(
        f"{ranking.capital}: published calibration, {rows['system'].iloc[0]} highest",
        rows[columns].rename(columns=names),
        "As published (Kulikov et al. 2018): SDs of raters and of answers are taken to be 1, and a "
        "uniform prior draws scores towards the middle of the scale. For comparison with papers "
        "that print it; the order above is not from it.",
        key=f"calibrated-{ranking.key}",
    )


def sentences(ranked: Sequence[SystemRanking]) -> Iterator[str]:
    """Yield what the methods text says of rankings: the model of each, from what is printed."""
    models: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for each in ranked:
        if each.reason is None:
            models.setdefault((each.effects, each.variances), []).append(each.question)
    for (effects, variances), names in models.items():
        of = f"systems and random effects of {listed(effects)}" if effects else "systems alone"
        yield (
            f"Scores of {listed(names)} are of a linear model with {of}, its variances by "
            f"{variances} ({SOURCES[variances]}); intervals are 95% of Student's t with "
            "Satterthwaite's degrees of freedom (Giesbrecht & Burns 1985), on the log odds of the "
            "way along the scale where its ends are declared."
        )
    yield from _compared([each for each in ranked if each.reason is None])
    for each in ranked:
        if each.reason is not None:
            yield f"Scores of {each.question} are raw means without an interval: {each.reason}."


def _compared(ranked: Sequence[SystemRanking]) -> Iterator[str]:
    adjusted = [each.question for each in ranked if each.severity_removed]
    if adjusted:
        yield (
            f"On {listed(adjusted)} rater severity was removed between systems that different "
            "raters saw."
        )
    several = [each.question for each in ranked if len(each.frame) > 1]
    if several:
        yield (
            f"Systems are compared on {listed(several)} by the same model; two are told apart "
            "where Holm's p (1979) over the pairs of a question is below .05."
        )


def _of(results: pd.DataFrame, ranking: SystemRanking, metric: str) -> pd.DataFrame:
    rows = results[results["metric"] == metric]
    return rows[(rows["protocol"] == ranking.protocol) & (rows["question"] == ranking.question)]
