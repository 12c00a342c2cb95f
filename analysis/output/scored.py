"""Rankings as sections and sentences: all questions, scores, differences, published calibration.

Apart because they are of the crossed model, and other findings of metrics of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.output import measured
from analysis.output.ranking import PAIR, SystemRanking, listed, looks_notes, lost_notes
from analysis.report import Chart, Section, at_least, many

MATRIX_MOST = 12  # systems whose pairs are still readable as a matrix
ACROSS_MOST = 8  # questions whose scores have room side by side
PAIRS_MOST = 15  # pairs that stand in the text, not in the appendix
TIMES_MOST = 100  # of the ratings there are, above which nobody plans
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
    "n": "n",
    "n needed": "n needed",
}
OF_PAIRS = (
    "Student's t with Satterthwaite's degrees of freedom, Holm over these pairs; d is Cohen's."
)
UNDIRECTED = (
    "The table does not say which end of a question is better (column “better”), so the higher "
    "one counts as better on all. "
)
NEEDED = (
    "“detectable” is the true difference that this design finds with a power of .8; “n needed” is "
    "how many ratings of both systems, of raters and items like these, find a true difference as "
    f"large as the one seen with that power (a dash: over {TIMES_MOST} times as many)."
)


def overview(ranked: Sequence[SystemRanking], *, is_directed: bool) -> Iterator[Section]:
    """Yield all questions side by side, where there are several: a score and a place in each.

    is_directed: whether the table says which end of each question is the better one.
    """
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
    frame = scores if len(ranked) <= ACROSS_MOST else _rank_counts(ranks, ranked)
    frame = frame.assign(**{"mean place": ranks.mean(axis=1)})
    frame = frame.rename_axis("system").reset_index()
    frame = frame.sort_values(["mean place", "system"], ignore_index=True)
    best = frame.iloc[0]["system"]
    firsts = sum(each.top == [best] for each in ranked)
    on = "none" if firsts == 0 else f"all {firsts}" if firsts == len(ranked) else f"{firsts}"
    yield Section(
        f"{best} has the best mean place over {len(ranked)} questions, and is told apart from "
        f"every other system on {on} of them",
        frame,
        "The mean place counts every question that has a better end alike, and is no test. "
        f"{'' if is_directed else UNDIRECTED}"
        "Intervals and n of each score are in the rankings that follow.",
        key="overview",
        leads=True,
    )


def _rank_counts(ranks: pd.DataFrame, ranked: Sequence[SystemRanking]) -> pd.DataFrame:
    """Return places in place of scores, which many questions leave no room for."""
    tops = [each.top for each in ranked]
    return pd.DataFrame(
        {
            "best place": ranks.min(axis=1),
            "worst place": ranks.max(axis=1),
            "first alone on": [sum(top == [name] for top in tops) for name in ranks.index],
            "among the first on": [sum(name in top for top in tops) for name in ranks.index],
        },
        index=ranks.index,
    )


def _names(ranked: Sequence[SystemRanking]) -> list[str]:
    several = len({each.protocol for each in ranked}) > 1
    return [f"{each.protocol}, {each.question}" if several else each.question for each in ranked]


def order(ranking: SystemRanking, results: pd.DataFrame, *, leads: bool) -> Section:
    """Return the ranking with alpha beside the scores."""
    alphas = _alphas(results, ranking)
    frame = ranking.frame.assign(
        alpha=[alphas.get(name, math.nan) for name in ranking.frame["system"]]
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
        leads=leads,
    )


def _of_alpha(columns: Sequence[str]) -> list[str]:
    return ["alpha is Krippendorff's, of raters on the system."] if "alpha" in columns else []


def _alphas(results: pd.DataFrame, ranking: SystemRanking) -> dict[str, float]:
    """Return alpha of each system that has one on this question."""
    rows = _of(results, ranking, "krippendorff_alpha")
    return dict(zip(rows["system"], rows["estimate"].astype(float), strict=True))


def compare(ranked: Sequence[SystemRanking], results: pd.DataFrame) -> Iterator[Section]:
    """Yield the best system beside the next on each question, unless all pairs are in the text."""
    known = [(each, _pairs(each, results)) for each in ranked]
    known = [(each, rows) for each, rows in known if len(rows)]
    if not known or _stand_alone(ranked, results):
        return
    frame = pd.DataFrame([_best_pair(each, rows) for each, rows in known])
    apart = sum(int((rows["p_holm"] < 0.05).sum()) for _, rows in known)
    count = sum(len(rows) for _, rows in known)
    yield Section(
        f"Compare: {apart:,} of {many(count, 'pair')} of systems told apart, over "
        f"{many(len(known), 'question')}",
        frame,
        "The best system and the next of each question. Student's t with Satterthwaite's degrees "
        f"of freedom; p is Holm's over the pairs of a question. {NEEDED}",
        key="compare",
        leads=True,
    )


def _stand_alone(ranked: Sequence[SystemRanking], results: pd.DataFrame) -> bool:
    """Say whether all pairs of the report are few enough to stand in its text."""
    sizes = [len(_pairs(each, results)) for each in ranked]
    return 0 < sum(sizes) <= PAIRS_MOST


def _best_pair(ranking: SystemRanking, rows: pd.DataFrame) -> dict[str, object]:
    first, second = (str(name) for name in ranking.frame["system"].iloc[:2])
    of = rows[["system", "other_system"]].isin([first, second]).all(axis=1)
    row = rows[of].iloc[0]
    sign = 1.0 if row["system"] == first else -1.0
    ends = sorted((sign * float(row["low"]), sign * float(row["high"])))
    apart = int((rows["p_holm"] < 0.05).sum())
    return {
        "question": ranking.capital,
        "told apart": f"{apart} of {len(rows)}",
        "best": first,
        "next": second,
        "difference": sign * float(row["estimate"]),
        "low": ends[0],
        "high": ends[1],
        "p (Holm)": float(row["p_holm"]),
        "detectable": float(row["detectable"]),
        "n": int(row["n"]),
        "n needed": row["n needed"],
    }


def _pairs(ranking: SystemRanking, results: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a question with the ratings that each would need.

    A standard error falls with the square root of the ratings, where raters and items grow with
    them, so (detectable / difference) squared is how many times as many it takes.
    """
    rows = _of(results, ranking, PAIR)
    if rows.empty:
        return rows
    times = (rows["detectable"] / rows["estimate"].abs().where(rows["estimate"] != 0)) ** 2
    wanted = (rows["n"] * times).where(times <= TIMES_MOST)
    return rows.assign(**{"n needed": wanted.astype(float).apply(np.ceil).astype("Int64")})


def differences(
    ranking: SystemRanking, results: pd.DataFrame, *, appendix: bool
) -> Iterator[Section]:
    """Yield every pair of systems with interval, p and the difference that could be found."""
    rows = _pairs(ranking, results)
    if rows.empty or len(ranking.frame) > MATRIX_MOST:
        return
    apart = int((rows["p_holm"] < 0.05).sum())
    shown = PAIRS | measured.columns(rows)
    pairs = "pair of systems is" if len(rows) == 1 else "pairs of systems are"
    yield Section(
        f"{ranking.capital}: {apart} of {len(rows)} {pairs} told apart",
        rows[list(shown)].rename(columns=shown).reset_index(drop=True),
        " ".join([OF_PAIRS, NEEDED, *measured.notes(rows), *lost_notes(rows), *looks_notes(rows)]),
        key=f"differences-{ranking.key}",
        appendix=appendix,
    )


def details(ranked: Sequence[SystemRanking], results: pd.DataFrame) -> Iterator[Section]:
    """Yield the pairs of each question and the published calibration, to look up."""
    few = _stand_alone(ranked, results)
    for each in ranked:
        yield from differences(each, results, appendix=not few)
        yield from pairs(each, results)
        yield from published(each, results)


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
        f"probability {at_least(least)}",
        table,
        "Probability that the row's system is above the column's, of the model that the scores "
        "are from; each pair by itself.",
        key=f"pairs-{ranking.key}",
        chart=Chart(kind="matrix", rows=found, axis="below the system on the left, probability"),
        appendix=True,
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
        appendix=True,
    )


def sentences(ranked: Sequence[SystemRanking]) -> Iterator[tuple[str, str]]:
    """Yield what the methods text says of rankings, each with the key of the table that shows it.

    The model of each is that of its printed ranking; what is compared is in a table of pairs.
    """
    models: dict[tuple[tuple[str, ...], str], list[SystemRanking]] = {}
    for each in ranked:
        if each.reason is None:
            models.setdefault((each.effects, each.variances), []).append(each)
    for (effects, variances), of_model in models.items():
        of = f"systems and random effects of {listed(effects)}" if effects else "systems alone"
        yield (
            f"ranking-{of_model[0].key}",
            f"Scores of {listed([each.question for each in of_model])} are of a linear model with "
            f"{of}, its variances by {variances} ({SOURCES[variances]}); intervals are 95% of "
            "Student's t with Satterthwaite's degrees of freedom (Giesbrecht & Burns 1985), on the "
            "log odds of the way along the scale where its ends are declared.",
        )
    adjusted = [each for each in ranked if each.severity_removed and each.reason is None]
    if adjusted:
        yield (
            f"ranking-{adjusted[0].key}",
            f"On {listed([each.question for each in adjusted])} rater severity was removed between "
            "systems that different raters saw.",
        )
    for each in ranked:
        if each.reason is not None:
            yield (
                f"ranking-{each.key}",
                f"Scores of {each.question} are raw means without an interval: {each.reason}.",
            )


def compared(ranked: Sequence[SystemRanking]) -> Iterator[str]:
    """Yield what the methods text says of the tables of pairs, given the rankings they are of."""
    several = [each.question for each in ranked if len(each.frame) > 1 and each.reason is None]
    if several:
        yield (
            f"Systems are compared on {listed(several)} by the same model; two are told apart "
            "where the p of Holm over the pairs of a question (Holm 1979) is below .05."
        )


def _of(results: pd.DataFrame, ranking: SystemRanking, metric: str) -> pd.DataFrame:
    rows = results[results["metric"] == metric]
    return rows[(rows["protocol"] == ranking.protocol) & (rows["question"] == ranking.question)]
