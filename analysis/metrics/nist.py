"""NIST of responses with their gold replies (Doddington 2002), and its mean over orders.

`nist` has n-grams up to 5; `nist_mean` averages the scores for n = 1 to 5, as the PPMI keyword
model's paper (2019) does. No upper bound; `identical` is what the gold replies would get. No
interval: the weights come from the whole set of references.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import nist as counting
from analysis.cautions import REFERENCE_NOTE
from analysis.predicted import Group, each_group
from analysis.tables import PredictionTable


def nist(predictions: PredictionTable) -> pd.DataFrame:
    """Return two rows per dataset and system."""
    return each_group("nist", predictions, _rows)


def _rows(group: Group) -> Iterator[dict[str, object]]:
    pairs = group.pairs()
    if not pairs:
        return
    found = counting.by_order(pairs)
    perfect = counting.by_order([(golds[0], golds) for _, golds in pairs])
    about = {"n": len(pairs), "variant": "split tokens, lower case", "note": REFERENCE_NOTE}
    yield group.row(estimate=found[-1], identical=perfect[-1], **about)
    yield group.row(
        metric="nist_mean",
        estimate=sum(found) / counting.MOST,
        identical=sum(perfect) / counting.MOST,
        **about,
    )
