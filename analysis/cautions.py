"""What a reader must know of a table before its numbers: one sentence each, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.groups import Asked, questions
from analysis.severity import fit, flat_scores, sums
from analysis.tables import LEVELS, RatingTable

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


def cautions(ratings: RatingTable) -> tuple[str, ...]:
    """Return what limits the conclusions from this table, and what can be computed all the same."""
    if ratings.empty:
        return ("The table has no rows: nothing can be computed.",)
    found = [*_pooled(ratings), *_flagged(ratings)]
    asked = list(questions(ratings, *LEVELS))
    for protocol in dict.fromkeys(one.protocol for one in asked):
        of_protocol = [one for one in asked if one.protocol == protocol]
        found.extend(f"{protocol}, {said}" for said in _of_questions(of_protocol))
        found.extend(f"{protocol}: {said}" for said in _published_intervals(of_protocol))
    return tuple(found)


def _of_questions(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield each sentence once, with the questions that it is about."""
    about: dict[str, list[str]] = {}
    for one in asked:
        for said in _of_question(one):
            about.setdefault(said, []).append(one.question)
    for said, names in about.items():
        yield f"{', '.join(names)}: {said}"


def _pooled(ratings: RatingTable) -> Iterator[str]:
    names = sorted(set(ratings["campaign"]))
    if len(names) > 1:
        yield (
            f"{len(names)} campaigns are pooled ({', '.join(names)}): their raters and items "
            "are taken to be different ones."
        )


def _flagged(ratings: RatingTable) -> Iterator[str]:
    for column in FLAGS:
        if column in ratings.columns:
            marked = ~ratings[column].astype(str).str.strip().str.lower().isin(NOT_SET)
            marked &= ratings[column].notna()
            if marked.any():
                yield (
                    f"{int(marked.sum())} rows are marked in the column {column!r}; "
                    "all rows of the table are counted, these too."
                )


def _scales_of_campaigns(asked: Asked) -> Iterator[str]:
    """Tell where campaigns seem to have asked one question on different scales."""
    if asked.level == "nominal" or asked.scale["scale_ends"] == "declared":
        return
    ends = asked.rows["value"].astype(float).groupby(asked.rows["campaign"]).agg(["min", "max"])
    highest = ends["max"].to_dict()
    wide, narrow = (max(highest, key=highest.__getitem__), min(highest, key=highest.__getitem__))
    if highest[wide] > SAME_SCALE * max(highest[narrow], 1):
        said = "; ".join(f"{name}: {low:g} to {high:g}" for name, low, high in ends.itertuples())
        yield (
            f"campaigns seem to use different scales ({said}), which are taken to be one; declare "
            "scale_low and scale_high, or read the campaigns one by one, whose numbers hold."
        )


def _published_intervals(asked: Sequence[Asked]) -> Iterator[str]:
    """Tell where the published calibration's SDs of 1 make its intervals too wide, or too narrow.

    How often they then hold is in docs/rehearsal.md.
    """
    said = [each for one in asked for each in _off_by(one)]
    if said:
        yield (
            "intervals of calibrated_score take the SDs of raters and of answers for 1, so those "
            f"intervals are, beside what these ratings warrant, {'; '.join(said)}. Too wide, they "
            "hold more often than 95 %, too narrow less often; those of calibrated_score_learned "
            "hold."
        )


def _off_by(asked: Asked) -> Iterator[str]:
    given = sums(asked) if asked.level in ("ordinal", "interval") else None
    fitted = None if given is None else fit(given)
    if given is None or fitted is None:
        return
    ratio = float((flat_scores(given).sd / fitted.scores.sd).mean())
    if abs(np.log(ratio)) > np.log(WIDER):
        yield (
            f"{ratio:.2g} times as wide for {asked.question} (SDs of {fitted.severity:.2f} and "
            f"{fitted.residual:.2f})"
        )


def _rare(asked: Asked) -> Iterator[str]:
    """Tell where answers are too one-sided for intervals of alpha and kappa."""
    rows = asked.rows
    if asked.level != "nominal" or rows["value"].nunique() != 2:
        return
    if len(rows) == rows["item"].nunique():
        return
    answered = rows.groupby(["system", "value"], observed=True).size().unstack(fill_value=0)
    least = answered.min(axis=1)
    if least.min() < RARE:
        yield (
            f"one of the two answers was given {int(least.min())} times only of "
            f"{least.idxmin()}; intervals of alpha and kappa then hold less often than 95 %, those "
            "of percent agreement and Gwet's AC1 do hold."
        )


def _of_question(asked: Asked) -> Iterator[str]:
    rows = asked.rows
    yield from _scales_of_campaigns(asked)
    yield from _rare(asked)
    if rows["rater"].nunique() == 1:
        who = rows["rater"].iloc[0]
        yield (
            f"one rater only ({who}), so agreement and the rater's severity are unknown; "
            "means are this rater's."
        )
    if rows["system"].nunique() == 1:
        which = rows["system"].iloc[0]
        yield f"one system only ({which}), so there is no ranking; its own scores are computed."
    if rows["value"].nunique() == 1 and len(rows) > 1:
        said = rows["value"].iloc[0]
        shown = said if isinstance(said, str) else f"{said:g}"
        yield (
            f"every answer is {shown}, so t intervals and agreement beyond chance are undefined; "
            "the mean and n are computed."
        )
    elif asked.level != "nominal" and asked.scale["scale_ends"] == "from the data":
        low, high = asked.ends
        yield (
            f"no scale ends are given; {low:g} to {high:g}, the lowest and highest rating, "
            "are used."
        )
