"""Rater designs: what is counted of who judged what, and what is said to be unknown."""

from __future__ import annotations

import pytest

from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.rater_design import RaterDesign, described, design_of, order_imbalance
from tests.analysis.examples import ratings

# Who judged (rater, system, item), and the parts of the graph, drawn by hand.
ONE_EACH = [("a", "x", "1"), ("b", "y", "2"), ("c", "x", "3")]
NESTED = [("a", "x", "1"), ("a", "x", "2"), ("b", "y", "3"), ("b", "y", "4")]
LINKED = [("a", "x", "1"), ("a", "y", "2"), ("b", "y", "3"), ("b", "z", "4")]
TWO_PARTS = [("a", "x", "1"), ("a", "y", "2"), ("b", "z", "3"), ("b", "w", "4")]
OVERLAP = [("a", "x", "1"), ("b", "x", "1"), ("a", "y", "2"), ("b", "y", "3")]
BRIDGED = [*NESTED, ("b", "x", "5")]


def question(
    judged: list[tuple[str, str, str]], at: list[int | None] | None = None
) -> QuestionRatings:
    rows: list[dict[str, object]] = [
        {"rater": rater, "system": system, "item": item, "value": 1 + k % 3}
        for k, (rater, system, item) in enumerate(judged)
    ]
    for row, place in zip(rows, at or [], strict=False):
        row["place"] = place
    (found,) = questions(ratings(rows, level="ordinal"), "ordinal")
    return found


def design(judged: list[tuple[str, str, str]]) -> RaterDesign:
    return design_of(question(judged))


@pytest.mark.parametrize(
    ("judged", "groups", "overlapping", "agreement", "severity"),
    [
        (ONE_EACH, 2, 0, "no item", "no rater judged two"),
        (NESTED, 2, 0, "no item", "no rater judged two"),
        (LINKED, 1, 0, "no item", None),
        (TWO_PARTS, 2, 0, "no item", "systems fall into 2 groups"),
        (OVERLAP, 1, 1, None, None),
        (BRIDGED, 1, 0, "no item", None),
        (NESTED[:2], 1, 0, None, None),  # one rater of one system: others say so
    ],
)
def test_what_a_design_cannot_tell(
    judged: list[tuple[str, str, str]],
    groups: int,
    overlapping: int,
    agreement: str | None,
    severity: str | None,
) -> None:
    found = design(judged)
    assert (found.groups, found.overlapping) == (groups, overlapping)
    for said, wanted in ((found.no_agreement, agreement), (found.no_severity, severity)):
        assert said is None if wanted is None else said is not None and said.startswith(wanted)


def test_a_missing_agreement_names_the_designs_that_would_give_it() -> None:
    found = design(LINKED)
    assert "two people per conversation" in str(found.no_agreement)
    assert "meena_third_party" in str(found.no_agreement)
    assert "rounds" in str(design(NESTED).no_severity)


def test_both_stand_among_the_cautions_of_every_report() -> None:
    rows = [{"rater": r, "system": s, "item": i, "value": k % 4} for k, (r, s, i) in
            enumerate(NESTED)]  # fmt: skip
    told = " ".join(cautions(ratings(rows, level="ordinal", scale_low=0.0, scale_high=3.0)))
    assert "how far raters agree is unknown" in told
    assert "severe raters cannot be told from poor systems" in told


def test_places_are_balanced_within_their_difference() -> None:
    crossed = [(rater, system, f"{rater}{system}") for rater in "abc" for system in "xyz"]
    square: list[int | None] = [0, 1, 2, 1, 2, 0, 2, 0, 1]
    assert order_imbalance(question(crossed, square)) == 0
    assert order_imbalance(question(crossed, [0, 1, 2] * 3)) == 3
    assert order_imbalance(question(crossed, [*square[:-1], None])) is None  # one is not known
    assert (
        order_imbalance(question(crossed, list(range(9)))) is None
    )  # more places than ratings of a system


def test_it_is_described_in_one_sentence() -> None:
    assert described(design(BRIDGED)) == (
        "2 raters gave 5 ratings of 2 systems (2 to 3 each, about 1 to 2 systems); 0 of 5 items "
        "were judged by two raters or more."
    )
