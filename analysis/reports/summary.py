"""Summary of the ratings: systems in order first, then what the order rests on.

For each rated question the ranking, raw beside calibrated (Kulikov et al. 2018) with the
probability that each system beats the next; preferences, shares, labels, agreement, how answers are
spread; with an export also the flow of participants and a methods text from the frozen plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.output.all_metrics import evaluate_checked
from analysis.output.ranking import rankings
from analysis.output.summary import composed
from analysis.report import Report
from analysis.scores.allocation import with_losses
from analysis.scores.question_ratings import numbered, questions, shared
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable

LABELS = ("sensible", "specific")


def summary(
    ratings: RatingTable,
    *,
    seed: int = 0,
    control: str | None = None,
    control_questions: Sequence[str] = (),
    study: CampaignRecord | None = None,
    simulate: int = 0,
    cache: Path | None = None,
) -> Report:
    """Return the report of all metrics that apply to `ratings`, with the self-test where asked."""
    chosen = {"seed": seed, "control": control, "control_questions": tuple(control_questions),
              "simulate": simulate, "cache": cache}  # fmt: skip
    ratings = numbered(with_losses(ratings, study))
    with shared():
        results = _results(ratings, chosen)
        names = tuple(control_questions)
        return composed(ratings, results, study, seed=seed, control_questions=names)


def _results(ratings: RatingTable, chosen: dict[str, Any]) -> pd.DataFrame:
    """Return all numbers, without a self-test where no ranking is printed that it belongs to."""
    rated = questions(ratings, "ordinal", "interval", "nominal")
    if all(one.question in LABELS for one in rated):
        # Shares of labels have a section of their own, whose intervals are others.
        results = evaluate_checked(ratings, **{**chosen, "simulate": 0})
        if not rankings(results):
            return results
    return evaluate_checked(ratings, **chosen)
