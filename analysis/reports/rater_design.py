"""Rater design report: who judged which systems, what that can tell, and what would tell more.

Per question: raters, systems, overlap, order; the raters' standard deviation by restricted maximum
likelihood (`severity.fit`) where raters answered more than once.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.rater_design import RaterDesign, described, design_of, order_imbalance
from analysis.scores.severity import fit, sums
from analysis.tables.schema import LEVELS, RatingTable

NO_INTERVAL = "counts of a design, and an SD of raters without an interval"

NOTE = (
    "Overlapping items were judged by two raters or more: without them there is no agreement. "
    "Groups: parts of the campaign between which no rater judged systems of both; severity is told "
    "apart from quality where there is one. Places: by how many ratings a system's most and least "
    "common place in raters' orders differ. Docs: simulation.md, “Rater designs”."
)
ALL_KNOWN = "Agreement, severity of raters and quality of systems can all be told apart."
NONE = "There are no ratings."


def rater_design(ratings: RatingTable) -> Report:
    """Return the design of each question as a row, and what it cannot tell as findings."""
    found = [(one, design_of(one)) for one in questions(ratings, *LEVELS)]
    rows = [_row(one, design) for one, design in found]
    sections = (Section("Designs", pd.DataFrame(rows), NOTE),) if rows else ()
    return Report(
        name="rater_design",
        title="Who judged what, and what that can tell",
        findings=tuple(dict.fromkeys(_findings(found))) or (NONE,),
        sections=sections,
        cautions=cautions(ratings),
    )


def _findings(found: list[tuple[QuestionRatings, RaterDesign]]) -> Iterator[str]:
    for question, design in found:
        start = f"{question.protocol}, {question.question}: "
        yield f"{start}{described(design)}"
        missing = [one for one in (design.no_agreement, design.no_severity) if one]
        yield from (f"{start}{one}" for one in missing)
        if not missing and design.raters > 1 and design.systems > 1:
            yield f"{start}{ALL_KNOWN}"


def _row(question: QuestionRatings, design: RaterDesign) -> dict[str, object]:
    return {
        **question.name,
        "raters": design.raters,
        "systems": design.systems,
        "ratings": design.ratings,
        "ratings per rater": "{} to {}".format(*design.per_rater),
        "systems per rater": "{} to {}".format(*design.systems_per_rater),
        "overlapping items": design.overlapping,
        "items": design.items,
        "groups": design.groups,
        "places": order_imbalance(question),
        "SD of raters": _severity(question),
    }


def _severity(question: QuestionRatings) -> float | None:
    """Return the raters' SD, None of what is not on a scale or where nobody answered twice."""
    if question.level not in ("ordinal", "interval"):
        return None
    fitted = fit(sums(question))
    return fitted.severity if fitted is not None and fitted.separable else None
