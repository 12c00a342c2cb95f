"""Log-abilities of systems from comparisons of two, ties half a win for each.

Bradley & Terry 1952 (Biometrika 39), around a mean of 0, with the advantage of what was shown first
where places differ (Davidson & Beaver 1977); `analysis.comparisons.bradley_terry`. Errors and t
intervals are a sandwich clustered by rater and by context at once (Cameron, Gelbach & Miller 2011;
`analysis.comparisons.clustered`). `share` is the ability on a scale on which all add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special

from analysis.comparisons import bradley_terry as model
from analysis.comparisons import likelihoods
from analysis.comparisons.clustered import Clustered, clustered
from analysis.comparisons.preferences import Compared, compared, too_few
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def bradley_terry(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("bradley_terry", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    found = compared(question)
    if found is None:
        return
    counts = found.counts()
    met = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    reason = model.undefined(counts)
    if reason is not None:
        for k, system in enumerate(found.systems):
            yield {**question.name, "system": system, "n": int(met[k]), "reason": reason}
        return
    fitted = model.fit(counts.halved(), order=ordered(question))
    errors = errors_of(found, fitted)
    ends = errors.intervals(fitted.mean)
    first_se, first_p = first_shown(fitted, errors)
    se = errors.errors(errors.centered)[0]
    for k, system in enumerate(found.systems):
        none = np.isnan(ends[k].low)
        yield {
            **question.name,
            "system": system,
            "estimate": float(fitted.mean[k]),
            "low": ends[k].low,
            "high": ends[k].high,
            "n": int(met[k]),
            "se": float("nan") if none else float(se[k]),
            "share": float(fitted.shares[k]),
            "shown_first": fitted.first,
            "shown_first_se": first_se,
            "shown_first_p": first_p,
            "reason": too_few(found.rater, found.context) if none else None,
        }


def errors_of(found: Compared, fitted: model.Abilities) -> Clustered:
    """Return the clustered errors of abilities of halved ties, and of the advantage if fitted."""
    more = [] if fitted.first is None else [np.ones(len(found.first))]
    at = np.append(fitted.mean, [] if fitted.first is None else fitted.first)
    likelihood = likelihoods.of_halves(found, likelihoods.design(found, *more), at)
    return clustered(likelihood, found.rater, found.context)


def first_shown(fitted: model.Abilities, errors: Clustered) -> tuple[float | None, float | None]:
    """Return the clustered error of the advantage of the first shown, and its two-sided p."""
    if fitted.first is None:
        return None, None
    if errors.few:
        return float("nan"), float("nan")
    se, df = errors.errors(np.eye(len(errors.alone))[-1:])
    t = abs(fitted.first) / float(se[0]) if se[0] > 0 else float("nan")
    return float(se[0]), float(2 * special.stdtr(float(df[0]), -t))


def ordered(question: QuestionRatings) -> bool:
    """Tell whether systems were shown at different places, and not each always at one."""
    shown_at = question.rows.groupby("system")["place"].nunique()
    return bool((shown_at > 1).any())
