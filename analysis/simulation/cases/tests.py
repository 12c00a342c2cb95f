"""Tests that print a p, where there is nothing to find, and where there is.

Apart because tests have false positives and power where intervals have coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scipy import optimize

from analysis.simulation import campaigns
from analysis.simulation.campaigns import Design, scale_truth
from analysis.simulation.cases import boards, checks, functions, preferred, shares
from analysis.simulation.cases.intervals import CHANCE, CROSSED, GAPS, NESTED
from analysis.simulation.trials import Estimator
from analysis.simulation.truths import Drift, Even, Large, Scale, Share
from analysis.tables.tidy import ALL

EQUAL = "equal systems"
DIFFERENCE, ORDER, TURN = "system_difference", "order_effect", "turn_effect"
DIFFERENT = ("p", "p_holm")
MARGIN = 0.4  # a tenth of the scale of 1 to 5, which is the metric's own


def tests(design: Design) -> Iterator[Estimator]:
    """Yield tests, each with campaigns of equal systems and of systems a gap apart."""
    yield from _of_scales(replace(design, missing=GAPS))
    yield from _against_chance(replace(design, gap=0.0))
    measured = {"correlations": functions.correlations, "simple tests": functions.tests}
    for name, measure in measured.items():
        yield Estimator(name, "nothing to find", functions.unrelated, design, tests=("p",),
                        measure=measure)  # fmt: skip
    yield from _of_order(design)
    yield from _of_reports(design)
    yield from boards.tests()


def _of_scales(design: Design) -> Iterator[Estimator]:
    truth = Scale(DIFFERENCE)
    for nested, where in ((False, CROSSED), (True, NESTED)):
        varied = replace(design, raters_of_one=nested)
        for gap, scenario in ((0.0, EQUAL), (varied.gap, "a gap or more")):
            yield Estimator(DIFFERENCE, f"{scenario}, {where}", campaigns.scale,
                            replace(varied, gap=gap), truth, DIFFERENT)  # fmt: skip
        two = _a_margin_apart(replace(varied, systems=2))
        yield Estimator(DIFFERENCE, f"a margin apart, {where}", campaigns.scale, two, truth,
                        ("p_equivalent",))  # fmt: skip
    for drift, scenario in ((0.0, "no drift"), (0.2, "a drift of 0.2")):
        yield Estimator(ORDER, scenario, campaigns.scale, replace(design, drift=drift),
                        Drift(ORDER, ALL), ("p",))  # fmt: skip
    for drift, scenario in ((0.0, "no drift"), (-0.2, "a drift of -0.2 in the log odds")):
        for nested, where in ((False, CROSSED), (True, NESTED)):
            varied = replace(design, drift=drift, raters_of_one=nested, base=0.5)
            yield Estimator(TURN, f"{scenario}, {where}", shares.by_turn, varied,
                            Large(shares.by_turn, TURN), ("p", "p_holm"))  # fmt: skip


def _a_margin_apart(design: Design) -> Design:
    """Return the design of two systems whose mean ratings differ by the margin."""

    def over(gap: float) -> float:
        worse, better = scale_truth(replace(design, gap=gap)).values()
        return better - worse - MARGIN

    return replace(design, gap=float(optimize.brentq(over, 0.0, 2.0)))


def _against_chance(design: Design) -> Iterator[Estimator]:
    """Intervals that leave out what holds where systems are equal: one minus their coverage."""
    pairs = preferred.side_by_side
    for taste, whose in ((0.0, "like"), (0.5, "unlike")):
        varied, scenario = replace(design, taste=taste), f"{EQUAL}, raters of {whose} tastes"
        for name, null in (("win_rate", CHANCE), ("bradley_terry", 0.0)):
            yield Estimator(name, scenario, pairs, varied, Even(name, null), null=null)
    name = "persona_detection"
    yield Estimator(name, "guessing", shares.detected, design, Share(name, False), null=CHANCE)


def _of_order(design: Design) -> Iterator[Estimator]:
    for taste, whose in ((0.0, "like"), (0.5, "unlike")):
        varied, tastes = replace(design, taste=taste), f"raters of {whose} tastes"
        for draw, what in ((preferred.evenly, "no"), (preferred.side_by_side, "an")):
            yield Estimator("shown_first", f"{what} advantage of the first, {tastes}", draw, varied,
                            tests=("p",), measure=preferred.shown_first)  # fmt: skip
        yield Estimator("circles", f"{EQUAL}, {tastes}", preferred.evenly, replace(varied, gap=0.0),
                        tests=("p",), measure=preferred.clear_circles)  # fmt: skip


def _of_reports(design: Design) -> Iterator[Estimator]:
    nothing = (
        ("control_p", "a control like the others", checks.many_questions, checks.of_control),
        ("convai2_blind p", "judges who agree", checks.twice, checks.of_blind),
        ("thred_metrics p", EQUAL, checks.Scored(), checks.of_lowest),
        ("learned_metric p", "four replies to an example", checks.Scored(), checks.of_scorers),
    )
    for name, scenario, draw, measure in nothing:
        yield Estimator(name, scenario, draw, design, tests=("p",), measure=measure)
