"""Cautions about a table, to be read before its numbers: one plain sentence each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from analysis.report import many
from analysis.scores import allocation, oddities
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.rater_design import design_of
from analysis.scores.severity import fit, flat_scores, sums
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import LEVELS, RatingTable

SCALES = ("ordinal", "interval")  # levels whose answers lie between two ends
FLAGS = ("excluded", "flag", "flagged", "withdrawn")
# All papers that use such scores say so; Liu et al. 2016 (EMNLP, 2122-2132) measured it.
REFERENCE_NOTE = (
    "Overlap with a reference reply agrees only weakly with what people say of a reply; "
    "it does not replace a human evaluation."
)
# A highest answer this many times another campaign's is hardly one of the same scale.
SAME_SCALE = 3
# By how much the published calibration's intervals may be off before that is told.
WIDER = 1.15
# Simulated with five raters of 20 and 80 items, 400 campaigns each, intervals of alpha held .52 of
# the time with 6 answers of the rarer kind, .82 with 10, .91 with 38.
RARE = 40
NOT_SET = ("", "0", "0.0", "false", "no", "nan", "none")


def cautions(ratings: RatingTable, study: CampaignRecord | None = None) -> tuple[str, ...]:
    """Return what limits the conclusions from this table, and what can be computed all the same.

    Of `study`, the record of the campaign, who dropped out of which system's conversations is read.
    """
    if ratings.empty:
        return ("The table has no rows: nothing can be computed.",)
    found = [*_pooled(ratings), *_flagged(ratings), *oddities.of_table(ratings)]
    found += allocation.of_study(study) if study is not None else ()
    rated = list(questions(ratings, *LEVELS))
    for protocol in dict.fromkeys(one.protocol for one in rated):
        of_protocol = [one for one in rated if one.protocol == protocol]
        found.extend(f"{protocol}, {each}" for each in _of_questions(of_protocol, _of_question))
        if study is None:
            for of_loss in (allocation.unequal, allocation.lost):
                more = _of_questions(of_protocol, of_loss)
                found.extend(f"{protocol}, {each}" for each in more)
        found.extend(f"{protocol}: {caution}" for caution in _published_intervals(of_protocol))
    return tuple(found)


def _of_questions(
    rated: Sequence[QuestionRatings], cautions_of: Callable[[QuestionRatings], Iterator[str]]
) -> Iterator[str]:
    """Yield each sentence once, with the questions that it is about."""
    about: dict[str, list[str]] = {}
    for one in rated:
        for caution in cautions_of(one):
            about.setdefault(caution, []).append(one.question)
    for caution, names in about.items():
        yield f"{', '.join(names)}: {caution}"


def _pooled(ratings: RatingTable) -> Iterator[str]:
    names = sorted(ratings["campaign"].unique())
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
        linked = all(design_of(one).no_severity is None for one in rated)
        holding = "; those of calibrated_score_learned hold" if linked else ""
        yield (
            "calibrated_score assumes SDs of 1 for raters and for answers, so relative to what "
            f"these ratings warrant its intervals are {'; '.join(examples)}. Intervals that are "
            f"too wide hold more often than 95 %, too narrow ones less often{holding}."
        )


def _off_by(question: QuestionRatings) -> Iterator[str]:
    totals = sums(question) if question.level in ("ordinal", "interval") else None
    fitted = None if totals is None else fit(totals)
    if totals is None or fitted is None:
        return
    ratio = float((flat_scores(totals).sd / fitted.scores.sd).mean())
    if abs(np.log(ratio)) > np.log(WIDER):
        times, way = (ratio, "wide") if ratio > 1 else (1 / ratio, "narrow")
        yield (
            f"{times:.2g} times too {way} for {question.question} (SDs of {fitted.severity:.2f} "
            f"and {fitted.residual:.2f})"
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
    yield from oddities.of_question(question)
    yield from allocation.of_question(question)
    yield from _rare(question)
    design = design_of(question)
    yield from (one for one in (design.no_agreement, design.no_severity) if one)
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
    elif question.level in SCALES and question.scale["scale_ends"] == "from the data":
        low, high = question.ends
        yield (
            f"no scale ends are given; {low:g} to {high:g}, the lowest and highest rating, "
            "are used."
        )
        yield from oddities.far_off(question)
