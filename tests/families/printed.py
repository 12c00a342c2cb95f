"""What a report prints of a campaign, and whether it is true: the report's own functions, unaided.

Each kind of interval counts how many held the truth, how many were printed, and how many there
could have been. Of equal systems it is told whether some pair, or neighbors on the board, were
called different, and whether a system was said to be first; of others, whether a wrong one was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from analysis import RatingTable, cautions
from analysis.comparisons.board import board
from analysis.comparisons.preferences import compared
from analysis.metrics.bradley_terry import bradley_terry, ordered
from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.percent_agreement import percent_agreement
from analysis.metrics.plackett_luce import plackett_luce
from analysis.metrics.rank_probability import rank_probability
from analysis.metrics.system_difference import system_difference
from analysis.metrics.system_score import system_score
from analysis.metrics.win_rate import win_rate
from analysis.output.ranking import rankings
from analysis.raters.alpha import alphas
from analysis.raters.ballots import ballots, rater_intervals
from analysis.scores.allocation import LOST
from analysis.scores.question_ratings import QuestionRatings, questions, shared
from analysis.tables.columns import TIME_COLUMN
from tests.families import agreeing, ratings, votes
from tests.families.agreeing import Agreement
from tests.families.catalog import Family
from tests.families.ratings import Ratings
from tests.families.votes import Votes

# Held, printed, possible of each kind of interval; wrong, said, possible of each kind of claim.
Counts = dict[str, tuple[int, int, int]]
Batch = tuple[Family, int, int, int, int]  # seed, first campaign, how many, simulated for each
ROUNDING = 1e-9
ALPHA = 0.05
SURE = 0.975
BIASED = "biased"  # in the caution about allocation or loss
COLUMNS = {"s": "system", "r": "rater", "i": "item", "x": "context", "c": "conversation"}
NOTHING = pd.DataFrame()


def campaigns(batch: Batch) -> list[Counts]:
    """Return what was counted of a batch of campaigns, each of which has a seed of its own.

    They are the questions of one table, as those of a study are.
    """
    family, seed, start, count, simulate = batch
    seeds = ([seed, crc32(family.name.encode()), start + k] for k in range(count))
    chances = [np.random.default_rng(each) for each in seeds]
    with shared():
        if isinstance(family, Ratings):
            return _of_ratings(family, [ratings.draw(family, each) for each in chances], simulate)
        if isinstance(family, Votes):
            return _of_votes(family, [votes.draw(family, each) for each in chances])
        return _of_agreement(family, [agreeing.draw(family, each) for each in chances])


# --- ratings ----------------------------------------------------------------------------------


def _of_ratings(family: Ratings, drawn: Sequence[ratings.Drawn], simulate: int) -> list[Counts]:
    tables = [_rated(family, each) for each in drawn]
    table = _table(tables)
    scores = _by_question(system_score(table, simulate=simulate))
    pairs = _by_question(system_difference(table, simulate=simulate))
    ranks = _by_question(rank_probability(table, simulate=simulate))
    found = []
    for name, each in zip(_names(len(drawn)), drawn, strict=True):
        of_ranks = ranks.get(name, NOTHING)
        found.append(
            _of_rated(family, each.truth, scores[name], pairs.get(name, NOTHING), of_ranks)
        )
        if family.cautioned:
            alone = RatingTable(table[table["question"] == name])
            warned = any(BIASED in caution for caution in cautions(alone))
            found[-1]["cautioned"] = _claims([warned])
    return found


def _of_rated(
    family: Ratings, truth: np.ndarray, scores: pd.DataFrame, pairs: pd.DataFrame,
    ranks: pd.DataFrame,
) -> Counts:  # fmt: skip
    one, other = (_truths(pairs, column, truth) for column in ("system", "other_system"))
    possible = family.systems * (family.systems - 1) // 2
    found = {
        "score": _held(scores, _truths(scores, "system", truth), family.systems),
        "difference": _held(pairs, one - other, possible),
    }
    named = _named(scores, pairs)
    if family.gap:
        found["first"] = _claims(name not in (None, f"s{family.systems - 1}") for name in named)
        return found
    holm, above = _numbers(pairs, "p_holm"), _numbers(pairs, "above")
    found["different"] = _claims([bool((holm < ALPHA).any())] if len(holm) else [])
    found["sure"] = _claims(np.abs(above - 0.5) > SURE - 0.5)
    found["first"] = _claims(name is not None for name in named)
    of_rank = _numbers(ranks, "estimate")
    found["rank"] = _claims([bool((of_rank > SURE).any())] if len(of_rank) else [])
    return found


def _named(scores: pd.DataFrame, pairs: pd.DataFrame) -> list[str | None]:
    """Return the system that the report calls first, or None; nothing where it orders none."""
    if scores["reason"].notna().any():
        return []
    if scores["letters"].nunique() == 1:  # of one group, whose ranking need not be made
        return [None]
    (ranking,) = rankings(pd.concat([scores, pairs], ignore_index=True))
    return [ranking.top[0] if len(ranking.top) == 1 else None]


def _rated(family: Ratings, drawn: ratings.Drawn) -> pd.DataFrame:
    codes = drawn.codes
    frame = _labeled({letter: codes[name] for letter, name in COLUMNS.items() if name in codes})
    if "given_at" in codes:
        frame[TIME_COLUMN] = codes["given_at"]
    if family.told:
        frame[LOST] = drawn.lost[codes["system"]]
    return frame.assign(value=drawn.value, place=0, **_scale(family))


# --- votes ------------------------------------------------------------------------------------


def _of_votes(family: Votes, drawn: Sequence[votes.Compared]) -> list[Counts]:
    table = _table([_voted(each) for each in drawn])
    rates, abilities = _by_question(win_rate(table)), _by_question(bradley_terry(table))
    worths = _by_question(plackett_luce(table)) if family.ranked else {}
    found = []
    for question, each in zip(questions(table, "rank"), drawn, strict=True):
        name = question.question
        of = {"win rate": (rates[name], each.rates), "ability": (abilities[name], each.abilities)}
        if name in worths:
            of["worth"] = worths[name], each.abilities
        counts = {
            kind: _held(frame, _truths(frame, "system", truth), family.systems)
            for kind, (frame, truth) in of.items()
        }
        if not family.gap:
            counts["different"] = _claims(_apart(question))
        found.append(counts)
    return found


def _apart(question: QuestionRatings) -> list[bool]:
    """Return whether some neighbors on the board are told apart; nothing where it says of none."""
    pairs = compared(question)
    made = None if pairs is None else board(pairs, order=ordered(question), seed=0)
    if made is None or made.errors.few:
        return []
    return [bool((made.neighbors()["p"] < ALPHA).any())]


def _voted(drawn: votes.Compared) -> pd.DataFrame:
    codes = {"s": drawn.system, "r": drawn.rater, "i": drawn.item, "x": drawn.context}
    position = drawn.position.astype(float)
    return _labeled(codes).assign(place=drawn.shown_at, value=position, level="rank")


# --- agreement --------------------------------------------------------------------------------


def _of_agreement(family: Agreement, drawn: Sequence[agreeing.Judged]) -> list[Counts]:
    tables = [_labeled({"s": each.item * 0, "r": each.rater, "i": each.item}) for each in drawn]
    tables = [
        one.assign(value=each.value, place=0, **_scale(family))
        for one, each in zip(tables, drawn, strict=True)
    ]
    table = _table(tables)
    if family.others:
        rated = questions(table, "ordinal", "nominal")
        return [
            {"alpha": _held(_over_raters(one), np.array([each.alpha]), 1)}
            for one, each in zip(rated, drawn, strict=True)
        ]
    alphas_of = _by_question(krippendorff_alpha(table))
    percents = _by_question(percent_agreement(table))
    return [
        {
            "alpha": _held(alphas_of[name], np.array([each.alpha]), 1),
            "percent": _held(percents[name], np.array([each.agreed]), 1),
        }
        for name, each in zip(_names(len(drawn)), drawn, strict=True)
    ]


def _over_raters(question: QuestionRatings) -> pd.DataFrame:
    """Return alpha's interval over raters, as the report rater_agreement has it."""
    sample = ballots(question, question.rows)
    return pd.DataFrame(rater_intervals(sample, [alphas], seed=0), columns=["low", "high"])


# --- all --------------------------------------------------------------------------------------


def _labeled(codes: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return columns of names, such as s0 of a system, by the letters that these begin with."""
    return pd.DataFrame(
        {COLUMNS[letter]: np.char.add(letter, own.astype(str)) for letter, own in codes.items()}
    )


def _scale(family: Ratings | Agreement) -> dict[str, Any]:
    level = "nominal" if family.is_yes_no else "ordinal"
    return {"level": level, "scale_low": float(family.low), "scale_high": float(family.high)}


def _names(count: int) -> list[str]:
    """Return the names of questions, whose order is that of numbers."""
    return [f"q{k:04}" for k in range(count)]


def _table(tables: Sequence[pd.DataFrame]) -> RatingTable:
    """Return one table, in which each is a question."""
    names = _names(len(tables))
    joined = pd.concat(
        [one.assign(question=name) for one, name in zip(tables, names, strict=True)],
        ignore_index=True,
    )
    answer = np.arange(len(joined)).astype(str)
    return RatingTable(joined.assign(answer=answer, campaign="families", protocol="families"))


def _by_question(results: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(name): rows for name, rows in results.groupby("question", sort=False)}


def _held(rows: pd.DataFrame, truth: np.ndarray, possible: int) -> tuple[int, int, int]:
    """Count intervals that hold the truth, that are printed, and that there could be."""
    low, high = _numbers(rows, "low"), _numbers(rows, "high")
    held = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    return int(held.sum()), int((~np.isnan(low)).sum()), possible


def _claims(wrong: Iterable[bool]) -> tuple[int, int, int]:
    """Count claims that are wrong, that are made, and that there could be."""
    each = list(wrong)
    return int(sum(each)), len(each), max(len(each), 1)


def _numbers(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Return a column, which is not there where there are no rows."""
    return rows[column].to_numpy(dtype=float) if len(rows) else np.empty(0)


def _truths(rows: pd.DataFrame, column: str, truth: np.ndarray) -> np.ndarray:
    """Return what is true of the systems that a column names; s2 is the third."""
    return truth[[int(name[1:]) for name in rows[column]]] if len(rows) else np.empty(0)
