"""Scores of systems: what questions of one form share, and what is let go of."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.scores import crossed
from analysis.scores.crossed import CrossedDesign
from analysis.scores.incidence import Incidence
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.system_scores import SCORED_DESIGN, scored_design, system_scores
from analysis.self_test import measured
from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable
from tests.analysis.examples import ratings


def _form(*, gap: bool = False) -> RatingTable:
    """Return two questions about the same items by the same raters, but for a gap in one."""
    chance = np.random.default_rng(3)
    rows: list[dict[str, object]] = []
    for item in range(30):
        for rater in chance.permutation(12)[:4]:
            about = {"item": f"i{item}", "system": f"s{item % 3}", "rater": f"r{rater}"}
            for question in ("clear", "kind"):
                rows.append({**about, "question": question, "value": int(chance.integers(1, 6))})
    return ratings(rows[:-1] if gap else rows, scale_low=1, scale_high=5)


def _both(table: RatingTable) -> tuple[QuestionRatings, QuestionRatings]:
    one, other = questions(table, "ordinal")
    return one, other


@pytest.mark.parametrize(("gap", "times"), [(False, 1), (True, 2)])
def test_ratings_of_a_form_are_drawn_once_for_all_of_its_questions(
    monkeypatch: pytest.MonkeyPatch, gap: bool, times: int
) -> None:
    monkeypatch.setattr(crossed, "MOST", 0)  # levels are many, so that errors are drawn
    drawn: list[Incidence] = []
    made = crossed.drawn_forms

    def counted(of: Incidence, most: int = crossed.DRAWS) -> Floats:
        drawn.append(of)
        return made(of, most)

    monkeypatch.setattr(crossed, "drawn_forms", counted)
    for question in _both(_form(gap=gap)):
        fit = system_scores(question).fit
        assert fit is not None
        # As a design of its own draws them, but for which answer is whose.
        alone = CrossedDesign(drawn[-1]).expected(np.maximum(fit.variances, 0))
        assert fit.errors == pytest.approx(alone.errors, rel=1e-9)
    assert len(drawn) == times + 2  # the two of the comparison


def test_an_order_of_rows_changes_no_score() -> None:
    table = _form()
    shuffled = RatingTable(table.sample(frac=1, random_state=1).reset_index(drop=True))
    for one, other in zip(_both(table), _both(shuffled), strict=True):
        first, second = system_scores(one), system_scores(other)
        assert first.means.tolist() == second.means.tolist()


def test_the_design_is_let_go_of_once_it_was_tried() -> None:
    for campaigns in (0, 40):
        one, _ = _both(_form())
        found = measured.tested(one, measured.SelfTest(campaigns=campaigns))
        assert SCORED_DESIGN not in one.kept
        assert (
            measured.tested(one, measured.SelfTest(campaigns=campaigns)).scores.means
            is found.scores.means
        )
        design, values = scored_design(one)  # made anew where somebody asks
        assert (np.diff(values) >= 0).all()
        assert design.incidence.ratings == len(one.rows)
