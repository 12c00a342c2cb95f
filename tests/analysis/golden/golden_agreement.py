"""Agreement: all of `agreement_golden`, and the test vectors of metrics.md 7.1 to 7.3."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.raters import ballots, cohen, kappas, votes
from analysis.raters.alpha import alpha
from tests.analysis.examples import shared
from tests.analysis.golden.figures import Compared, printed
from tests.analysis.matrices import ballots_of, intraclass_of, votes_of, votes_of_counts

Matrix = np.ndarray
# Four items of five raters, as counts of no and yes.
FIVE_RATERS = [[0, 5], [1, 4], [2, 3], [5, 0]]


def compared() -> Iterator[Compared]:
    """Yield every published and computed figure of the golden file, then the test vectors."""
    content = shared("agreement_golden", "golden.json").read_text(encoding="utf-8")
    for example in json.loads(content):
        matrix = by_rater(example)
        for kind in ("published", "computed"):
            for name, expected in example.get(kind, {}).items():
                yield _row(example["name"], kind, name, expected, matrix)
    yield from vectors()


def by_rater(example: dict[str, Any]) -> Matrix:
    """Return an example as numbers, a row per rater; words become their place in order."""
    data = example["data"]
    if "counts" in example["rows"]:
        data = [[c for c, times in enumerate(row) for _ in range(times)] for row in data]
    words = sorted({cell for row in data for cell in row if isinstance(cell, str)})
    rows = [[_number(cell, words) for cell in row] for row in data]
    matrix = np.array(rows, dtype=float)
    return matrix if example["rows"] == "raters" else matrix.T


def _number(cell: object, words: list[str]) -> float:
    if isinstance(cell, str):
        return float(words.index(cell))
    return float("nan") if cell is None else float(str(cell))


def _row(source: str, kind: str, name: str, expected: Any, matrix: Matrix) -> Compared:
    ours = computed(name.removesuffix("_exact"), matrix)
    what = f"{name}, {kind}"
    if name == "conger_kappa":
        # Gwet's own data have the single rating of the last unit from rater 3, not rater 2, and of
        # all coefficients only Conger's asks who said what.
        matrix = matrix.copy()
        matrix[[1, 2], -1] = matrix[[2, 1], -1]
        ours, what = computed(name, matrix), f"{what}, Gwet's raters"
    if isinstance(expected, str):
        return Compared(source, what, float(Fraction(expected)), ours, 1e-12)
    return printed(source, what, expected, ours)


def computed(name: str, matrix: Matrix) -> float:
    """Return what one name of the golden file says of a matrix with a row per rater."""
    if name.startswith("alpha_"):
        level: Any = name.removeprefix("alpha_")
        return alpha(votes_of(matrix, level))
    if name.startswith("icc_"):
        forms = {found.form: found.estimate for found in intraclass_of(matrix.T)}
        return forms[name.removeprefix("icc_")]
    return OTHERS[name](matrix)


def _of_votes(statistic: Any) -> Callable[[Matrix], float]:
    return lambda matrix: kappas.estimate(votes_of(matrix, "nominal"), statistic)


def _light(matrix: Matrix) -> float:
    return cohen.cohen(ballots_of(matrix)).estimate


OTHERS: dict[str, Callable[[Matrix], float]] = {
    "percent_agreement": _of_votes(kappas.percents),
    "gwet_ac1": _of_votes(kappas.gwet),
    "fleiss_kappa": _of_votes(kappas.fleiss),
    "fleiss_kappa_generalised": _of_votes(kappas.fleiss),
    "brennan_prediger": _of_votes(kappas.brennan_prediger),
    "fleiss_kappa_first_4_raters": lambda matrix: _of_votes(kappas.fleiss)(matrix[:4]),
    "conger_kappa": lambda matrix: ballots.conger(ballots_of(matrix)),
    "light_kappa": _light,
    "kappa_raters_2_3": lambda matrix: _light(matrix[1:3]),
    "cohen_kappa_raters_2_3": lambda matrix: _light(matrix[1:3]),
}


def vectors() -> Iterator[Compared]:
    five = votes_of_counts(FIVE_RATERS, [0.0, 1.0], "nominal")
    yield printed("metrics.md 7.1", "percent", 0.75, kappas.estimate(five, kappas.percents))
    yield printed("metrics.md 7.2", "alpha of 7.1's items", 0.5052, alpha(five))
    two = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    found = alpha(votes_of(two, "nominal"))
    yield printed("metrics.md 7.2", "alpha of two raters", 0.0952, found)
    content = shared("agreement_golden", "golden.json").read_text(encoding="utf-8")
    examples = {each["name"]: by_rater(each) for each in json.loads(content)}
    four = examples["krippendorff2011_C"]
    for level, expected in (("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491)):
        name = f"alpha_{level}"
        yield printed("metrics.md 7.2", f"{name} with gaps", expected, computed(name, four))
    yield from _fleiss(votes_of(examples["encyclopedia_fleiss"], "nominal"))


def _fleiss(given: votes.Votes) -> Iterator[Compared]:
    observed = kappas.estimate(given, kappas.percents)
    kappa = kappas.estimate(given, kappas.fleiss)
    chance = (observed - kappa) / (1 - kappa)
    yield printed("metrics.md 7.3", "Fleiss, mean P", 0.3780, observed)
    yield printed("metrics.md 7.3", "Fleiss, P_e", 0.2128, chance)
    yield printed("metrics.md 7.3", "Fleiss, kappa", 0.2099, kappa)
