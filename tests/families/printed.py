"""What a report prints of a campaign, and whether it is true: the report's own functions, unaided.

Each kind of interval counts how many held the truth, how many were printed, and how many there
could have been. Of equal systems it is told whether some pair, or neighbors on the board, were
called different, and whether a system was said to be first; of others, whether a wrong one was.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.random import Generator

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
from analysis.reports import rater_agreement
from analysis.scores.question_ratings import questions, shared
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


def counted(family: Family, chance: Generator, simulate: int = 0) -> Counts:
    """Draw a campaign and return what came true of what is printed about it."""
    if isinstance(family, Ratings):
        return _of_ratings(family, ratings.draw(family, chance), simulate)
    if isinstance(family, Votes):
        return _of_votes(family, votes.draw(family, chance))
    return _of_agreement(family, agreeing.draw(family, chance))


# --- ratings ----------------------------------------------------------------------------------


def _of_ratings(family: Ratings, drawn: ratings.Drawn, simulate: int) -> Counts:
    table = _rated(family, drawn)
    with shared():
        scores = system_score(table, simulate=simulate)
        pairs = system_difference(table, simulate=simulate)
        ranks = rank_probability(table, simulate=simulate)
        named = _named(scores, pairs)
    one, other = (_truths(pairs, name, drawn.truth) for name in ("system", "other_system"))
    possible = family.systems * (family.systems - 1) // 2
    found = {
        "score": _held(scores, _truths(scores, "system", drawn.truth), family.systems),
        "difference": _held(pairs, one - other, possible),
    }
    if family.gap:
        found["first"] = _claims(name not in (None, f"s{family.systems - 1}") for name in named)
    else:
        holm, above = _numbers(pairs, "p_holm"), _numbers(pairs, "above")
        found["different"] = _claims([(holm < ALPHA).any()] if len(holm) else [])
        found["sure"] = _claims(np.abs(above - 0.5) > SURE - 0.5)
        found["first"] = _claims(name is not None for name in named)
        of_rank = _numbers(ranks, "estimate")
        found["rank"] = _claims([(of_rank > SURE).any()] if len(of_rank) else [])
    if family.biased:
        found["cautioned"] = _claims([any(BIASED in each for each in cautions(table))])
    return found


def _named(scores: pd.DataFrame, pairs: pd.DataFrame) -> list[str | None]:
    """Return the system that the report calls first, or None; nothing where it orders none."""
    if scores["reason"].notna().any():
        return []
    if scores["letters"].nunique() == 1:  # of one group, whose ranking need not be made
        return [None]
    (ranking,) = rankings(pd.concat([scores, pairs], ignore_index=True))
    return [ranking.top[0] if len(ranking.top) == 1 else None]


def _rated(family: Ratings, drawn: ratings.Drawn) -> RatingTable:
    codes = drawn.codes
    names = {"system": "s", "rater": "r", "item": "i", "context": "x", "conversation": "c"}
    frame = pd.DataFrame(
        {
            name: np.char.add(letter, codes[name].astype(str))
            for name, letter in names.items()
            if name in codes
        }
    )
    if "given_at" in codes:
        frame[TIME_COLUMN] = codes["given_at"]
    level = "nominal" if family.is_yes_no else "ordinal"
    ends = {"scale_low": float(family.low), "scale_high": float(family.high)}
    return _table(frame, drawn.value, level=level, place=0, **ends)


# --- votes ------------------------------------------------------------------------------------


def _of_votes(family: Votes, drawn: votes.Compared) -> Counts:
    table = _voted(drawn)
    with shared():
        rates, abilities = win_rate(table), bradley_terry(table)
        (question,) = questions(table, "rank")
        pairs = compared(question)
        assert pairs is not None
        made = board(pairs, order=ordered(question), seed=0)
        worths = plackett_luce(table) if family.ranked else None
    of = {"win rate": (rates, drawn.rates), "ability": (abilities, drawn.abilities)}
    if worths is not None:
        of["worth"] = worths, drawn.abilities
    found = {
        kind: _held(frame, _truths(frame, "system", truth), family.systems)
        for kind, (frame, truth) in of.items()
    }
    if not family.gap:
        few = made.errors.few
        found["different"] = _claims([] if few else [(made.neighbors()["p"] < ALPHA).any()])
    return found


def _voted(drawn: votes.Compared) -> RatingTable:
    named = {
        "system": ("s", drawn.system),
        "rater": ("r", drawn.rater),
        "item": ("i", drawn.item),
        "context": ("x", drawn.context),
    }
    columns = {k: np.char.add(letter, codes.astype(str)) for k, (letter, codes) in named.items()}
    frame = pd.DataFrame(columns | {"place": drawn.shown_at})
    return _table(frame, drawn.position.astype(float), level="rank")


# --- agreement --------------------------------------------------------------------------------


def _of_agreement(family: Agreement, drawn: agreeing.Judged) -> Counts:
    frame = pd.DataFrame(
        {
            "system": "s0",
            "rater": np.char.add("r", drawn.rater.astype(str)),
            "item": np.char.add("i", drawn.item.astype(str)),
        }
    )
    level = "nominal" if family.is_yes_no else "ordinal"
    ends = {"scale_low": float(family.low), "scale_high": float(family.high)}
    table = _table(frame, drawn.value, level=level, place=0, **ends)
    if family.others:
        frame = rater_agreement.rater_agreement(table).sections[0].frame
        frame = frame[frame["coefficient"] == rater_agreement.ALPHA]
        names = {"raters low": "low", "raters high": "high"}
        return {
            "alpha": _held(frame[list(names)].rename(columns=names), np.array([drawn.alpha]), 1)
        }
    with shared():
        return {
            "alpha": _held(krippendorff_alpha(table), np.array([drawn.alpha]), 1),
            "percent": _held(percent_agreement(table), np.array([drawn.agreed]), 1),
        }


# --- both -------------------------------------------------------------------------------------


def _table(frame: pd.DataFrame, value: np.ndarray, **common: object) -> RatingTable:
    every = {"campaign": "families", "protocol": "families", "question": "q"}
    answer = np.arange(len(frame)).astype(str)
    return RatingTable(frame.assign(answer=answer, value=value, **every, **common))


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


def campaigns(batch: Batch) -> list[Counts]:
    """Return what was counted of a batch of campaigns, each of which has a seed of its own."""
    family, seed, start, count, simulate = batch
    name = crc32(family.name.encode())
    numbers = range(start, start + count)
    drawn = (np.random.default_rng([seed, name, number]) for number in numbers)
    return [counted(family, chance, simulate) for chance in drawn]
