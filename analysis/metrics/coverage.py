"""Coverage of a whitelist, and recall with the true reply added or only where it is covered.

ASAPP's dual encoder (2019; NLP4CONVAI), tables 5 and 6: the share of examples whose true reply is
on the whitelist, ignoring case, punctuation and white space. The candidates of a row are the
whitelist; the column `gold_score` is the score of the true reply. `recall@k+` ranks it among the
whitelist, whether it stands there or not; `recall@k` counts covered examples only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group
from analysis.predictions.whitelists import listed
from analysis.stats.intervals import wilson_interval
from analysis.tables.schema import PredictionTable

WHITELIST = "whitelist"


def coverage(
    predictions: PredictionTable, *, seed: int = 0, ks: Sequence[int] = (1, 3, 5, 10)
) -> pd.DataFrame:
    """Return rows coverage, recall@k and recall@k+ per dataset and system; fractions."""
    return each_group("coverage", predictions, lambda group: _group_rows(group, seed, ks))


def _group_rows(group: Group, seed: int, ks: Sequence[int]) -> Iterator[dict[str, object]]:
    found = listed(group.rows, seed)
    if not found:
        return
    yield group.row(metric="coverage", **_share([each.covered for each in found]))
    within = [each.within for each in found if each.within is not None]
    added = [each.added for each in found if each.added is not None]
    for k in ks:
        for name, ranks in ((f"recall@{k}", within), (f"recall@{k}+", added)):
            if ranks:
                yield group.row(metric=name, **_share([rank <= k for rank in ranks]))


def _share(hits: Sequence[bool]) -> dict[str, object]:
    low, high = wilson_interval(sum(hits), len(hits))
    estimate = sum(hits) / len(hits)
    return {"question": WHITELIST, "estimate": estimate, "low": low, "high": high, "n": len(hits)}
