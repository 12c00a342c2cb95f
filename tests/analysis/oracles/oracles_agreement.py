"""Agreement: krippendorff, evalica, irrCAC, statsmodels, scikit-learn, pingouin.

irrCAC to what it rounds to (it is asked for 12 digits), the ends of pingouin's intervals to its
two decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, get_args

import evalica
import krippendorff
import numpy as np
import pandas as pd
from scipy import special
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from analysis.raters import ballots, cohen, kappas
from analysis.raters.alpha import alpha
from analysis.scores import integer_codes
from analysis.stats import icc
from tests.analysis.matrices import ballots_of, intraclass_of, votes_of, votes_of_counts
from tests.analysis.oracles.statistics import EXACT, Oracle
from tests.analysis.tables_with_gaps import complete, gappy

Theirs = Callable[[np.ndarray, integer_codes.Scale], float]


def _alpha(theirs: Theirs, level: integer_codes.Scale, tables: int) -> Iterator[float]:
    for table in gappy(tables):
        yield abs(alpha(votes_of(table, level)) - theirs(table, level))


def _krippendorff(table: np.ndarray, level: integer_codes.Scale) -> float:
    return float(krippendorff.alpha(table, level_of_measurement=level))


def _evalica(table: np.ndarray, level: integer_codes.Scale) -> float:
    return float(evalica.alpha(pd.DataFrame(table), distance=level).alpha)


# --- chance-corrected coefficients with weights --------------------------------------------------

STATISTICS: dict[str, Callable[..., Any]] = {
    "gwet": kappas.gwet,
    "fleiss": kappas.fleiss,
    "bp": kappas.brennan_prediger,
}
NAMES = {"gwet": "AC1/AC2", "fleiss": "Fleiss", "bp": "Brennan-Prediger", "conger": "Conger"}


def _irrcac(name: str, kind: kappas.Weights, tables: int) -> Iterator[float]:
    from irrCAC.raw import CAC

    for table in gappy(tables):
        # With pandas 3 irrCAC takes a gap for a category of its own, unless told which there are.
        categories = [float(value) for value in np.unique(table[~np.isnan(table)])]
        package = CAC(pd.DataFrame(table.T), weights=kind, categories=categories, digits=12)
        expected = float(getattr(package, name)()["est"]["coefficient_value"])
        if name == "conger":
            ours = ballots.conger(ballots_of(table), kind)
        else:
            given = votes_of(table, "ordinal")
            ours = kappas.estimate(given, partial(STATISTICS[name], kind=kind))
        yield abs(ours - expected)


def _fleiss(tables: int) -> Iterator[float]:
    found = 0
    for table in gappy(6 * tables, raters=(3, 7)):
        rated = complete(table)
        if found < tables and rated.shape[1] > 1 and len(np.unique(rated)) > 1:
            counts, values = aggregate_raters(rated.T)
            given = votes_of_counts(counts, [float(value) for value in values], "nominal")
            yield abs(kappas.estimate(given, kappas.fleiss) - fleiss_kappa(counts))
            found += 1


# --- pairs of raters: the items that both judged -------------------------------------------------


def _both(tables: int) -> Iterator[tuple[np.ndarray, list[float]]]:
    """Yield what both first raters said, and all numbers that either used, without steps left out.

    scikit-learn's weights go by the place of a number in that list, ours by the number.
    """
    found = 0
    for table in gappy(6 * tables):
        both = complete(table[:2])
        values = np.unique(table[:2][~np.isnan(table[:2])])
        evenly = len(values) > 1 and bool((np.diff(values) == 1).all())
        if found < tables and both.shape[1] > 2 and len(np.unique(both)) > 1 and evenly:
            yield table[:2], [float(value) for value in values]
            found += 1


def _cohen(kind: kappas.Weights, tables: int) -> Iterator[float]:
    for two, values in _both(tables):
        weights = None if kind == "identity" else kind
        expected = cohen_kappa_score(*complete(two), weights=weights, labels=values)
        yield abs(cohen.cohen(ballots_of(two), kind).estimate - expected)


def _cohen_with_error(what: str, kind: kappas.Weights, tables: int) -> Iterator[float]:
    plain = kind == "identity"
    for two, values in _both(tables):
        both = complete(two)
        cross = np.array(
            [[((both[0] == a) & (both[1] == b)).sum() for b in values] for a in values]
        )
        # It divides by its error under no agreement, which is 0 where a rater said one thing only.
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = None if plain else np.array(values)
            expected = cohens_kappa(cross, weights=weights, wt=None if plain else kind)
        found = cohen.cohen(ballots_of(two), kind)
        error = (found.estimate - found.interval.low) / special.stdtrit(both.shape[1] - 1, 0.975)
        # It takes the root of a variance of 0 that rounding may have made negative.
        other = float(np.nan_to_num(expected.std_kappa))
        yield abs(found.estimate - expected.kappa) if what == "kappa" else abs(error - other)


# --- intraclass correlations ---------------------------------------------------------------------


def _icc(what: str, tables: int) -> Iterator[float]:
    import pingouin

    for table in _noisy(tables):
        rows = pd.DataFrame(table).reset_index().melt(id_vars="index", var_name="rater")
        expected = pingouin.intraclass_corr(
            rows, targets="index", raters="rater", ratings="value", nan_policy="omit"
        )
        # The package leaves out items with a gap, also where the one-way forms need not.
        kept = table[~np.isnan(table).any(axis=1)]
        ours = {found.form: found for found in intraclass_of(kept)}
        gappy_ones = {found.form: found for found in intraclass_of(table)}
        off = []
        for form, row in zip(icc.FORMS, expected.to_dict("records"), strict=True):
            if what == "ends":
                off += _apart(ours[form].interval, [float(end) for end in row["CI95"]])
                continue
            off.append(abs(ours[form].estimate - float(row["ICC"])))
            if form[0] != "1":
                off.append(abs(gappy_ones[form].estimate - float(row["ICC"])))
        yield max(off)


def _apart(ours: Sequence[float], package: Sequence[float]) -> list[float]:
    """Return how far ends are apart; a lower end beyond the pole of a mean is without bound."""
    if package[0] > package[1]:  # the package goes on beyond the pole, and its ends change places
        return [0.0 if ours[0] == -np.inf else np.inf, abs(ours[1] - package[1])]
    return [abs(end - other) for end, other in zip(ours, package, strict=True)]


def _noisy(tables: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1979)
    while tables:
        raters, items = int(rng.integers(2, 6)), int(rng.integers(5, 30))
        noise = rng.normal(size=(items, raters))
        table = rng.normal(size=(items, 1)) * 2 + rng.normal(size=raters) + noise
        table[rng.random(table.shape) < 0.08] = np.nan
        if len(table[~np.isnan(table).any(axis=1)]) > 2:
            tables -= 1
            yield table


LEVELS: tuple[integer_codes.Scale, ...] = get_args(integer_codes.Scale)
WEIGHTS: tuple[kappas.Weights, ...] = get_args(kappas.Weights)
THREE: tuple[kappas.Weights, ...] = ("identity", "linear", "quadratic")
ORACLES = (
    *(
        Oracle("krippendorff", f"alpha, {level}", 1e-12, partial(_alpha, _krippendorff, level))
        for level in LEVELS
    ),
    *(
        Oracle("evalica", f"alpha, {level}", EXACT, partial(_alpha, _evalica, level))
        for level in LEVELS
    ),
    *(
        Oracle("irrCAC", f"{said}, {kind} weights", EXACT, partial(_irrcac, name, kind), 4)
        for name, said in NAMES.items()
        for kind in WEIGHTS
    ),
    Oracle("statsmodels", "Fleiss", EXACT, _fleiss),
    *(Oracle("scikit-learn", f"Cohen, {kind}", EXACT, partial(_cohen, kind)) for kind in THREE),
    *(
        Oracle("statsmodels", f"Cohen, {kind}: {what}", may, partial(_cohen_with_error, what, kind))
        for kind in THREE
        for what, may in (("kappa", EXACT), ("standard error", 1e-7))
    ),
    Oracle("pingouin", "ICC, six forms", EXACT, partial(_icc, "estimate"), 10),
    Oracle("pingouin", "ICC, ends of intervals", 0.00501, partial(_icc, "ends"), 5),
)
