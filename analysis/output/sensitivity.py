"""Sensitivity of the headline: the highest system by other raters, other models, and by items.

Apart because it computes scores of its own, where other sections show those of `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.output.all_metrics import call
from analysis.output.ranking import SCORE, SystemRanking
from analysis.raters.raters import profiles, without_flagged
from analysis.registry import get_metric
from analysis.report import Section, many
from analysis.scores.question_ratings import identified
from analysis.scores.standardizing import passing, standardized
from analysis.stats.correlation import kendall_tau
from analysis.stats.intervals import t_interval
from analysis.tables.schema import RatingTable

NO_INTERVAL = "those of the metrics it calls on fewer ratings, and the t interval of items' means"
ALL = "all that count"
UNFLAGGED, PASSED = "without flagged raters", "without raters who failed the control"
ATTENTIVE = "without raters who failed attention checks"
PUBLISHED, ORDINAL, ITEMS = "published calibration", "ordinal model", "means of items"
MODELS = {PUBLISHED: "calibrated_score", ORDINAL: "ordinal_score"}
# What each choice is, in the order in which the note has them.
CHOSEN = {
    UNFLAGGED: "without the raters whom the report rater_quality flags",
    PASSED: "without those who do not rate the control lower (Ji et al. 2022)",
    ATTENTIVE: "without those who failed the attention checks that were announced",
    PUBLISHED: "by the published calibration (Kulikov et al. 2018)",
    ORDINAL: "by the ordinal model (McCullagh 1980)",
    ITEMS: "by plain means of each item's mean",
}
NOTE = (
    "The highest system and its score, chosen again: {choices}. Floor and ceiling are the shares "
    "of answers at the ends of the scale."
)
CONTROL_NOTE = (
    "Scores by the model of the ranking, with 95 % intervals, of all raters and of those left; n "
    "counts ratings, and places are of the order by score. A rater failed who does not rate the "
    "control, {control}, lower (one-sided Mann-Whitney test, p < .05; Ji et al. 2022), or who "
    "cannot be tested: no spread, or only one system judged."
)
EACH_NOTE = (
    "Kendall's tau is of the order of systems beside that of all that count: 1 is the same order. "
    "Intervals are 95 %, of the ratings or items that are left."
)
FLAG = "attention"  # as tables of Parley mark who failed them
READ = ("campaign", "item", "system", "rater", "value")
Scores = pd.DataFrame  # system, estimate, low, high, n; the control left out


@dataclass(frozen=True, eq=False)
class SensitivityCheck:
    """One way to choose ratings or a model: scores of each question, and raters where fewer."""

    name: str
    of: Callable[[SystemRanking], Scores]
    raters: int | None = None


def sections(
    ratings: RatingTable,
    results: pd.DataFrame,
    ranked: Sequence[SystemRanking],
    *,
    seed: int = 0,
    control_questions: Sequence[str] = (),
) -> Iterator[Section]:
    """Yield the highest system by each choice, and in the appendix scores and order."""
    ranked = [each for each in ranked if len(each.frame) > 1 and each.reason is None]
    if not ranked:
        return
    choices = list(_choices(ratings, results, ranked, seed, control_questions))
    found = [(each, choice, _scores(each, choice)) for each in ranked for choice in choices]
    scored = [(each, choice, scores) for each, choice, scores in found if len(scores)]
    changed = {
        each.key
        for each, _, scores in scored
        if _best(each, scores) != each.frame["system"].iloc[0]
    }
    yield Section(
        _title(len(changed), len(ranked)),
        pd.DataFrame([_row(ratings, each, scored) for each in ranked]),
        _note({choice.name for _, choice, _ in scored}),
        key="sensitivity",
        leads=True,
    )
    yield from _with_and_without(ratings, scored)
    yield Section(
        f"Sensitivity in numbers: {len(scored)} scores of the highest system",
        pd.DataFrame([_long_row(each, choice, scores) for each, choice, scores in scored]),
        EACH_NOTE,
        key="sensitivity-numbers",
        appendix=True,
    )


def _note(shown: Collection[str]) -> str:
    """Say what the choices are that the table has a column for."""
    return NOTE.format(choices="; ".join(of for name, of in CHOSEN.items() if name in shown))


def _with_and_without(
    ratings: RatingTable, scored: Sequence[tuple[SystemRanking, SensitivityCheck, Scores]]
) -> Iterator[Section]:
    """Yield, per question, both rankings: of all raters, and of those who passed the control."""
    found = {(each.key, choice.name): scores for each, choice, scores in scored}
    raters = {choice.name: choice.raters for _, choice, _ in scored}
    for ranking in dict.fromkeys(each for each, _, _ in scored):
        every, passed = (found.get((ranking.key, name)) for name in (ALL, PASSED))
        if every is None or passed is None or ranking.control is None:
            continue
        whole = identified(_answers_to(ratings, ranking))["rater"].nunique()
        left = identified(ratings)["rater"].nunique() - (raters[PASSED] or 0)
        yield Section(
            _control_title(ranking, every, passed, left),
            _side_by_side(every, passed),
            f"{whole} raters answered. {CONTROL_NOTE.format(control=ranking.control)}",
            key=f"control-{ranking.key}",
        )


def _control_title(ranking: SystemRanking, every: Scores, passed: Scores, failed: int) -> str:
    orders = [list(each["system"]) for each in (every, passed)]
    change = "does not change" if orders[0] == orders[1] else "changes"
    without = f"without {many(failed, 'rater')} who failed the control"
    return f"{ranking.capital}: the order {change} {without}"


def _side_by_side(every: Scores, passed: Scores) -> pd.DataFrame:
    """Return a row per system, in the order of all raters; who is in one only has gaps."""
    names = ["place", "score", "low", "high", "n"]
    halves = []
    for scores, end in ((every, "all"), (passed, "passed")):
        half = scores.rename(columns={"estimate": "score"}).set_index("system")
        half = half.assign(place=range(1, len(half) + 1))[names]
        half = half.astype({"place": "Int64", "n": "Int64"})
        halves.append(half.rename(columns={name: f"{name}, {end}" for name in names}))
    return halves[0].join(halves[1], how="outer").loc[_order(every, passed)].reset_index()


def _order(every: Scores, passed: Scores) -> list[str]:
    return list(dict.fromkeys([*every["system"], *passed["system"]]))


def _title(changed: int, count: int) -> str:
    if not changed:
        return "Sensitivity: the highest system stays the same under every other choice"
    on = "the only question" if count == 1 else f"{changed} of {count} questions"
    return f"Sensitivity: on {on} another choice puts another system highest"


def _choices(
    ratings: RatingTable,
    results: pd.DataFrame,
    ranked: Sequence[SystemRanking],
    seed: int,
    control_questions: Sequence[str],
) -> Iterator[SensitivityCheck]:
    control = next((each.control for each in ranked if each.control), None)
    yield SensitivityCheck(ALL, _by(results, SCORE))
    flagged = profiles(ratings, seed=seed, control=control, control_questions=control_questions)
    yield from _fewer(UNFLAGGED, ratings, without_flagged(ratings, flagged), control)
    yield from _fewer(ATTENTIVE, ratings, _attentive(ratings), control)
    if control is not None:
        yield from _fewer(PASSED, ratings, _passed(ratings, control, control_questions), control)
    for name, metric in MODELS.items():
        yield SensitivityCheck(name, _by(results, metric))
    yield SensitivityCheck(ITEMS, lambda each: _of_items(ratings, each))


def _fewer(
    name: str, ratings: RatingTable, kept: RatingTable, control: str | None
) -> Iterator[SensitivityCheck]:
    """Yield the choice of some raters, where they are fewer and there are some."""
    if 0 < len(kept) < len(ratings):
        raters = identified(kept)["rater"].nunique()
        yield SensitivityCheck(name, _by(_again(kept, control), SCORE), raters)


def _again(ratings: RatingTable, control: str | None) -> pd.DataFrame:
    """Return the headline's scores of other ratings."""
    return call(get_metric(SCORE), ratings, {"control": control})


def _attentive(ratings: RatingTable) -> RatingTable:
    """Return the ratings without those who failed attention checks, by the flag of their rows."""
    if "flags" not in ratings.columns:
        return ratings
    kinds = ratings["flags"].fillna("").astype(str).str.split(";")
    return RatingTable(ratings[[FLAG not in each for each in kinds]].reset_index(drop=True))


def _passed(ratings: RatingTable, control: str, names: Sequence[str]) -> RatingTable:
    """Return the ratings of those who rate the control lower, tested in each protocol."""
    rows = identified(ratings)
    scaled = rows[rows["level"].isin(["ordinal", "interval"])]
    kept = pd.Series(False, index=rows.index)
    for protocol, part in scaled.groupby("protocol"):
        raters = passing(standardized(part), control, names)
        kept |= (rows["protocol"] == protocol) & rows["rater"].isin(raters)
    return RatingTable(ratings[kept.to_numpy()].reset_index(drop=True))


def _by(results: pd.DataFrame, metric: str) -> Callable[[SystemRanking], Scores]:
    rows = results[results["metric"] == metric]

    def scores(of: SystemRanking) -> Scores:
        chosen = (rows["protocol"] == of.protocol) & (rows["question"] == of.question)
        return rows[chosen & rows["estimate"].notna()]

    return scores


def _of_items(ratings: RatingTable, ranking: SystemRanking) -> Scores:
    rows = _answers_to(ratings, ranking)
    keys = [rows[name] for name in ("system", "campaign", "item")]
    means = rows["value"].astype(float).groupby(keys).mean().groupby(level=0)
    found = means.agg(["mean", "std", "count"])
    table = []
    for system, mean, sd, count in found.itertuples():
        low, high = t_interval(mean, sd / np.sqrt(count), count - 1)
        table.append((str(system), mean, low, high, count))
    return pd.DataFrame(table, columns=["system", "estimate", "low", "high", "n"])


def _answers_to(ratings: RatingTable, ranking: SystemRanking) -> pd.DataFrame:
    of = (ratings["protocol"] == ranking.protocol) & (ratings["question"] == ranking.question)
    return ratings.loc[of, list(READ)]


def _scores(ranking: SystemRanking, choice: SensitivityCheck) -> Scores:
    """Return the scores of the systems that are ranked, the best first."""
    found = choice.of(ranking)
    found = found[found["system"].isin(ranking.frame["system"])]
    by = [ranking.better == "low", True]
    return found.sort_values(["estimate", "system"], ascending=by, ignore_index=True)


def _best(ranking: SystemRanking, scores: Scores) -> str:
    return str(scores["system"].iloc[0])


def _row(
    ratings: RatingTable,
    ranking: SystemRanking,
    scored: Sequence[tuple[SystemRanking, SensitivityCheck, Scores]],
) -> Mapping[str, object]:
    best = {
        choice.name: f"{_best(each, scores)} {scores['estimate'].iloc[0]:.2f}"
        for each, choice, scores in scored
        if each is ranking
    }
    rows = _answers_to(ratings, ranking)
    values = rows.loc[rows["system"].isin(ranking.frame["system"]), "value"].to_numpy(dtype=float)
    low, high = ranking.ends
    ends = {"floor": float((values == low).mean()), "ceiling": float((values == high).mean())}
    return {"question": ranking.capital, **best, **ends}


def _long_row(
    ranking: SystemRanking, choice: SensitivityCheck, scores: Scores
) -> Mapping[str, object]:
    order = ranking.scores.reindex(scores["system"])
    tau = kendall_tau(order.to_numpy(dtype=float), scores["estimate"].to_numpy(dtype=float))
    row = scores.iloc[0]
    return {
        "question": ranking.capital,
        "choice": choice.name,
        "highest": row["system"],
        **{name: float(row[name]) for name in ("estimate", "low", "high")},
        "n": int(row["n"]),
        "raters left": pd.NA if choice.raters is None else choice.raters,
        "tau": tau,
    }
