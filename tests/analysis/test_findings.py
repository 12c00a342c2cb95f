"""What the results page tells of agreement: the usual coefficients, and all that are defined."""

from __future__ import annotations

import pandas as pd

from analysis import RatingTable, evaluate, findings
from tests.analysis.examples import by_raters, ratings


def _agreement(table: RatingTable) -> pd.DataFrame:
    shown = {part.key: part for part in findings.sections(table, evaluate(table))}
    return shown["agreement"].frame


def test_every_coefficient_that_fits_the_level_is_shown() -> None:
    data = [[1, 1, 0, 1, 0], [1, 0, 0, 1, 0], [1, 1, 0, 1, 1]]
    assert list(_agreement(by_raters(data, "nominal"))["coefficient"]) == [
        "percent agreement",
        "Krippendorff's alpha",
        "Fleiss' kappa",
        "Cohen's kappa",
        "Gwet's AC1",
    ]
    of_scale = set(_agreement(by_raters(data, "interval"))["coefficient"])
    assert {"Gwet's AC2", "Cohen's kappa, quadratic weights", "ICC(2,k)"} <= of_scale
    assert "Fleiss' kappa" not in of_scale


def test_what_is_undefined_is_told_once_for_each_usual_coefficient() -> None:
    frame = _agreement(ratings([{"value": 1}, {"value": 2, "system": "b"}]))
    assert list(frame["coefficient"]) == [
        "percent agreement",
        "Krippendorff's alpha",
        "Fleiss' kappa",
    ]
    assert set(frame["why undefined"]) == {"no item was rated by two people or more"}
