"""What a researcher writes by hand, beside which `tests.benchmarks.report_speed` runs the report.

    python -m tests.benchmarks.report_rival FILE

Per question: means, Welch's test of each pair of systems with Holm's correction, Krippendorff's
alpha by the package, and a mixed model with raters as groups by statsmodels. It says much less than
the report: no intervals of agreement, no items in the model, no check of the table. Apart because
it is measured as a process of its own.
"""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from typing import Literal, cast

import krippendorff
import pandas as pd
from scipy import stats
from statsmodels.formula.api import mixedlm
from statsmodels.stats.multitest import multipletests

Level = Literal["nominal", "ordinal", "interval"]


def _question(name: str, rows: pd.DataFrame) -> None:
    print(name)
    print(rows.groupby("system")["value"].agg(["mean", "sem", "size"]))
    values = {str(system): part["value"].to_numpy() for system, part in rows.groupby("system")}
    pairs = list(combinations(values, 2))
    p = [stats.ttest_ind(values[a], values[b], equal_var=False).pvalue for a, b in pairs]
    adjusted = multipletests(p, method="holm")[1]
    print(pd.DataFrame({"pair": pairs, "p": adjusted}))
    matrix = rows.pivot(index="rater", columns="item", values="value").to_numpy(dtype=float)
    level = cast(Level, rows["level"].iloc[0])
    print("alpha", krippendorff.alpha(matrix, level_of_measurement=level))
    print(mixedlm("value ~ C(system)", rows, groups="rater").fit().summary())


def main() -> None:
    # statsmodels warns of what it prints beside it, such as a variance of 0.
    warnings.simplefilter("ignore")
    table = pd.read_csv(sys.argv[1])
    for name, rows in table.groupby("question"):
        _question(str(name), rows)


if __name__ == "__main__":
    main()
