"""Oddities of a table: what is probably a slip of whoever made it, told as cautions.

Apart because these are about the file, the other cautions about the campaign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from analysis.report import many
from analysis.scores.question_ratings import QuestionRatings
from analysis.tables.columns import LABELS_COLUMN, UNCHANGED, ZERO
from analysis.tables.schema import RatingTable

NAMED = ("system", "question", "rater")
# So many times the span of all other answers away, one is hardly of the same scale; of three points
# and fewer nothing can be told.
FAR_OFF = 3
FEWEST_POINTS = 4
# Of whole points up to so many a rare answer is far off already beyond the span of the others: 10
# on a scale of 1 to 5. Rare is one of so many.
MOST_POINTS = 11
RARE = 20
# A highest answer this many times another system's, and above every usual scale, is of another one.
SAME_SCALE = 3
SHOWN = 5  # examples in a sentence


def of_table(ratings: RatingTable) -> Iterator[str]:
    """Yield a caution about names that nearly agree, and about how labels were read."""
    for column in NAMED:
        yield from _twins(f"{column}s", ratings[column].unique())
    words = ratings.loc[(ratings["level"] == "nominal"), "value"]
    for question, values in words.groupby(ratings["question"], sort=False):
        answers = [value for value in values.unique() if isinstance(value, str)]
        yield from _twins(f"answers to {question}", answers)
    yield from _labels(ratings)


def of_question(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where systems seem to be rated on different scales, or answers tie."""
    if question.level in ("ordinal", "interval"):
        yield from _scales_of_systems(question)
    if question.level in ("ordinal", "interval") or question.is_yes_no:
        yield from _ties(question)


def far_off(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution about answers so far from all others that they may be slips of the keyboard.

    The answers are parted at the widest gap; the smaller part is what may be wrong.
    """
    distinct, counts = np.unique(question.values, return_counts=True)
    if len(distinct) < FEWEST_POINTS:
        return
    at = int(np.argmax(np.diff(distinct))) + 1
    few, most = sorted(
        ((distinct[:at], counts[:at].sum()), (distinct[at:], counts[at:].sum())),
        key=lambda part: int(part[1]),
    )
    gap, span = float(distinct[at] - distinct[at - 1]), float(np.ptp(most[0]))
    if few[1] == most[1] or gap <= span or len(most[0]) < FEWEST_POINTS - 1:
        return
    if gap > FAR_OFF * span or (_are_points(most[0]) and few[1] * RARE <= counts.sum()):
        shown = ", ".join(f"{value:g}" for value in few[0][:SHOWN])
        yield (
            f"{shown}, in {many(int(few[1]), 'row')}, {'is' if len(few[0]) == 1 else 'are'} far "
            f"from the other answers, {most[0][0]:g} to {most[0][-1]:g}; give the scale in "
            "scale_low and scale_high, and rows off it are refused."
        )


def _are_points(values: np.ndarray) -> bool:
    return len(values) <= MOST_POINTS and bool((values % 1 == 0).all())


def _twins(what: str, names: Iterable[object]) -> Iterator[str]:
    """Yield a sentence about names that differ by blanks, case or the form of letters only."""
    alike: dict[str, list[str]] = {}
    for name in map(str, names):
        alike.setdefault(_plain(name), []).append(name)
    groups = [sorted(group) for group in alike.values() if len(group) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:SHOWN])
        more = f" (and {len(groups) - SHOWN} more)" if len(groups) > SHOWN else ""
        yield (
            f"{what} that differ by blanks or case only are taken for different ones: "
            f"{shown}{more}; give them one name if they are the same."
        )


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_\-\u200b\ufeff]+", " ", folded).strip()


def _labels(ratings: RatingTable) -> Iterator[str]:
    if LABELS_COLUMN not in ratings:
        return
    ways = {ZERO: "were set to not specific", UNCHANGED: "count as they were given"}
    for rule, how in ways.items():
        count = int((ratings[LABELS_COLUMN] == rule).sum())
        if count:
            yield (
                f"{many(count, 'label')} called a reply specific that the same rater called not "
                f"sensible; they {how} (--labels {rule}). In MEENA a reply that is not sensible "
                "is never specific."
            )


def _scales_of_systems(question: QuestionRatings) -> Iterator[str]:
    if question.scale["scale_ends"] == "declared" or question.rows["system"].nunique() < 2:
        return
    values, systems = question.values, question.rows["system"].astype(str).to_numpy()
    ends = pd.Series(values).groupby(systems).agg(["min", "max"])
    wide, narrow = float(ends["max"].max()), float(ends["max"].min())
    are_shares = set(systems[(values > 0) & (values < 1)]) & set(ends.index[ends["max"] <= 1])
    if (wide > MOST_POINTS and wide > SAME_SCALE * max(narrow, 1)) or (are_shares and wide > 2):
        ranges = "; ".join(f"{name}: {low:g} to {high:g}" for name, low, high in ends.itertuples())
        yield (
            f"systems seem to be rated on different scales ({ranges}), so their means cannot be "
            "compared; bring the answers to one scale, or give each scale a question of its own."
        )


def _ties(question: QuestionRatings) -> Iterator[str]:
    """Yield sentences about systems whose answers are all the same, and about equal best means."""
    if len(np.unique(question.values)) < 2:
        return  # every answer is the same, which is told by itself
    code, names = pd.factorize(question.rows["system"], sort=True)
    found = pd.Series(question.values).groupby(code).agg(["min", "max", "mean", "size"])
    found.index = pd.Index(names.astype(str))
    constant = found[(found["min"] == found["max"]) & (found["size"] > 1)]
    if len(constant):
        shown = ", ".join(f"{name} {value:g}" for name, value in constant["min"].items())
        yield (
            f"every answer about a system is the same ({shown}), so intervals of this system by "
            "its own answers have no width, or are undefined."
        )
    best = found["mean"].min() if question.better == "low" else found["mean"].max()
    first = found.index[np.isclose(found["mean"], best, rtol=0, atol=1e-12)]
    if len(first) > 1:
        yield f"{' and '.join(first)} have the same best mean, {best:.2f}: neither is first."
