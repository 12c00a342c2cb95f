"""Cautions about a table, to be read before its numbers: one plain sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.report import many
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.rater_design import RaterDesign, design_of
from analysis.scores.severity import fit, flat_scores, sums
from analysis.tables.schema import LEVELS, RatingTable

FLAGS = ("excluded", "flag", "flagged", "withdrawn")
# All papers that use such scores say so; Liu et al. 2016 (EMNLP, 2122-2132) measured it.
REFERENCE_NOTE = (
    "Overlap with a reference reply agrees only weakly with what people say of a reply; "
    "it does not replace a human evaluation."
)
# A highest answer this many times another campaign's is hardly one of the same scale.
SAME_SCALE = 3
# So many times the span of all other answers away, one is hardly of the same scale; of three points
# and fewer nothing can be told.
FAR_OFF = 3
FEWEST_POINTS = 4
# By how much the published calibration's intervals may be off before that is told.
WIDER = 1.15
# Simulated with five raters of 20 and 80 items, 400 campaigns each, intervals of alpha held .52 of
# the time with 6 answers of the rarer kind, .82 with 10, .91 with 38.
RARE = 40
NOT_SET = ("", "0", "0.0", "false", "no", "nan", "none")


def cautions(ratings: RatingTable) -> tuple[str, ...]:
    """Return what limits the conclusions from this table, and what can be computed all the same."""
    if ratings.empty:
        return ("The table has no rows: nothing can be computed.",)
    found = [*_pooled(ratings), *_flagged(ratings)]
    rated = list(questions(ratings, *LEVELS))
    for protocol in dict.fromkeys(one.protocol for one in rated):
        of_protocol = [one for one in rated if one.protocol == protocol]
        found.extend(f"{protocol}, {caution}" for caution in _of_questions(of_protocol))
        found.extend(f"{protocol}: {caution}" for caution in _published_intervals(of_protocol))
    return tuple(found)


def _of_questions(rated: Sequence[QuestionRatings]) -> Iterator[str]:
    """Yield each sentence once, with the questions that it is about."""
    about: dict[str, list[str]] = {}
    for one in rated:
        for caution in _of_question(one):
            about.setdefault(caution, []).append(one.question)
    for caution, names in about.items():
        yield f"{', '.join(names)}: {caution}"


def _pooled(ratings: RatingTable) -> Iterator[str]:
    names = sorted(set(ratings["campaign"]))
    if len(names) > 1:
        yield (
            f"{len(names)} campaigns are pooled ({', '.join(names)}): their raters and items "
            "are treated as different."
        )


def _flagged(ratings: RatingTable) -> Iterator[str]:
    for column in FLAGS:
        if column in ratings.columns:
            marked = ~ratings[column].astype(str).str.strip().str.lower().isin(NOT_SET)
            marked &= ratings[column].notna()
            if marked.any():
                yield (
                    f"{int(marked.sum())} rows are marked in the column {column!r}; "
                    "all rows of the table are counted, including these."
                )


def _scales_of_campaigns(question: QuestionRatings) -> Iterator[str]:
    """Tell where campaigns seem to have asked one question on different scales."""
    if question.level == "nominal" or question.scale["scale_ends"] == "declared":
        return
    ends = (
        question.rows["value"].astype(float).groupby(question.rows["campaign"]).agg(["min", "max"])
    )
    highest = ends["max"].to_dict()
    wide, narrow = (max(highest, key=highest.__getitem__), min(highest, key=highest.__getitem__))
    if highest[wide] > SAME_SCALE * max(highest[narrow], 1):
        ranges = "; ".join(f"{name}: {low:g} to {high:g}" for name, low, high in ends.itertuples())
        yield (
            f"campaigns seem to use different scales ({ranges}) but are analyzed as one; declare "
            "scale_low and scale_high, or analyze each campaign by itself."
        )


def _published_intervals(rated: Sequence[QuestionRatings]) -> Iterator[str]:
    """Tell where the published calibration's SDs of 1 make its intervals too wide, or too narrow.

    How often they then hold is in docs/simulation.md.
    """
    examples = [each for one in rated for each in _off_by(one)]
    if examples:
        yield (
            "calibrated_score assumes SDs of 1 for raters and for answers, so relative to what "
            f"these ratings warrant its intervals are {'; '.join(examples)}. Intervals that are "
            "too wide hold more often than 95 %, too narrow ones less often; the ranking does "
            "not use them."
        )


def _off_by(question: QuestionRatings) -> Iterator[str]:
    totals = sums(question) if question.level in ("ordinal", "interval") else None
    fitted = None if totals is None else fit(totals)
    if totals is None or fitted is None:
        return
    ratio = float((flat_scores(totals).sd / fitted.scores.sd).mean())
    if abs(np.log(ratio)) > np.log(WIDER):
        yield (
            f"{ratio:.2g} times as wide for {question.question} (SDs of {fitted.severity:.2f} and "
            f"{fitted.residual:.2f})"
        )


def _rare(question: QuestionRatings) -> Iterator[str]:
    """Tell where answers are too one-sided for intervals of alpha and kappa."""
    rows = question.rows
    if question.level != "nominal" or rows["value"].nunique() != 2:
        return
    if len(rows) == rows["item"].nunique():
        return
    answered = rows.groupby(["system", "value"], observed=True).size().unstack(fill_value=0)
    least = answered.min(axis=1)
    if least.min() < RARE:
        yield (
            f"one of the two answers was given only {many(int(least.min()), 'time')} for "
            f"{least.idxmin()}; intervals of alpha and kappa then hold less often than 95 %, but "
            "those of percent agreement and Gwet's AC1 hold."
        )


def _of_question(question: QuestionRatings) -> Iterator[str]:
    rows = question.rows
    yield from _scales_of_campaigns(question)
    yield from _rare(question)
    design = design_of(question)
    yield from (one for one in (design.no_agreement, design.no_severity) if one)
    yield from _withheld(design)
    if rows["rater"].nunique() == 1:
        who = rows["rater"].iloc[0]
        yield (
            f"only one rater ({who}), so agreement and rater severity are unknown; "
            "means are this rater's."
        )
    if rows["system"].nunique() == 1:
        which = rows["system"].iloc[0]
        yield f"only one system ({which}), so there is no ranking; its own scores are computed."
    if rows["value"].nunique() == 1 and len(rows) > 1:
        value = rows["value"].iloc[0]
        shown = value if isinstance(value, str) else f"{value:g}"
        yield (
            f"every answer is {shown}, so t intervals and agreement beyond chance are undefined; "
            "the mean and n are computed."
        )
    elif question.level != "nominal" and question.scale["scale_ends"] == "from the data":
        low, high = question.ends
        yield (
            f"no scale ends are given; {low:g} to {high:g}, the lowest and highest rating, "
            "are used."
        )
        yield from _far_off(question)


def _withheld(design: RaterDesign) -> Iterator[str]:
    """Tell where a system's score is one rater's: any interval would leave the rater out."""
    if design.systems > 1 and design.raters > 1 and design.raters_per_system[1] == 1:
        yield (
            "each system was judged by one rater only, so a severe rater looks like a poor system: "
            "no interval, no probability and no order is printed."
        )


def _far_off(question: QuestionRatings) -> Iterator[str]:
    """Tell of an answer so far from all others that it may be a slip of the keyboard."""
    distinct = np.unique(question.values)
    if len(distinct) < FEWEST_POINTS:
        return
    for end, others in ((distinct[-1], distinct[:-1]), (distinct[0], distinct[1:])):
        low, high = float(others[0]), float(others[-1])
        if min(abs(end - low), abs(end - high)) > FAR_OFF * (high - low):
            count = int((question.values == end).sum())
            yield (
                f"{end:g}, in {count} row{'' if count == 1 else 's'}, is far from the other "
                f"answers, {low:g} to {high:g}; give the scale in scale_low and scale_high, and "
                "rows off it are refused."
            )
