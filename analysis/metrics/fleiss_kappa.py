"""Fleiss' kappa (1971, Psychological Bulletin 76, 378-382), with a bootstrap over items.

Every item needs the same number of ratings; categories have no order, so questions with an
interval level are left to Krippendorff's alpha.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis import agreement
from analysis.agreement import Votes
from analysis.groups import Asked, questions
from analysis.intervals import Floats
from analysis.tables import RatingTable
from analysis.tidy import tidy


def fleiss_kappa(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal or ordinal question and system, and one for all systems."""
    rows = (row for asked in questions(ratings, "nominal", "ordinal") for row in _rows(asked, seed))
    return tidy("fleiss_kappa", rows)


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    for system, votes in agreement.parts(asked):
        reason = votes.undefined or _unequal(votes)
        row: dict[str, object] = {**asked.name, "system": system, "n": votes.units}
        row["reason"] = reason
        if reason is None:
            low, high = agreement.interval(votes, _kappas, seed=seed)
            estimate = float(_kappas(votes, np.ones((1, votes.units)))[0])
            row.update(estimate=estimate, low=low, high=high)
        yield row


def _unequal(votes: Votes) -> str | None:
    alone = votes.ratings - int(votes.per_unit.sum())
    fewest = 1 if alone else int(votes.per_unit.min())
    most = int(votes.per_unit.max())
    if fewest == most:
        return None
    return f"items have {fewest} to {most} ratings, and Fleiss' kappa needs the same number of each"


def _kappas(votes: Votes, drawn: Floats) -> Floats:
    total = drawn.sum(axis=1)
    observed = drawn @ agreement.agreements(votes) / total
    shares = drawn @ votes.counts / (total * votes.per_unit[0])[:, None]
    chance = (shares**2).sum(axis=1)
    defined = (shares > 0).sum(axis=1) > 1
    corrected = np.divide(observed - chance, 1 - chance, out=np.ones_like(total), where=defined)
    return np.where(defined, corrected, agreement.UNDEFINED)
