"""Difference of two systems, with tests that it is chance and that it is negligible.

Of the crossed model that the headline is from (`system_score`): Student's t with Satterthwaite's
degrees of freedom (Giesbrecht & Burns 1985); `d` is Cohen's (1988); `p_holm` is Holm's (1979) over
the pairs of a question; `above` is the probability that the system is above the other;
`detectable` is the true difference that this design finds with a power of .8; `p_equivalent` tests
that the difference lies within ±`margin` (Schuirmann 1987), by default a tenth of the scale. Of
yes and no errors are no smaller than with half a yes and half a no more per system (Brown & Li
2005). Where systems lost unequal shares, all but estimate and d hold for a shift of `lost_off`;
where later items went to who was ahead, errors are `looks` times as wide (Pocock 1977).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.self_test.measured import SelfTest, tested
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

MARGIN = 0.1


def system_difference(
    ratings: RatingTable,
    *,
    margin: float | None = None,
    control: str | None = None,
    simulate: int = 0,
    seed: int = 0,
    cache: Path | None = None,
) -> pd.DataFrame:
    """Return a row per question and pair, the better first; `margin` is in scale points.

    Pairs with the `control` are left out, as it is known to be worse. With `simulate` campaigns
    `measured_coverage` and `measured_false` are those of this very design: of the interval, and of
    equal systems among which some Holm p is below .05.
    """
    rated = questions(ratings, "ordinal", "interval", "nominal")
    scored = [one for one in rated if one.level != "nominal" or one.is_yes_no]
    options = SelfTest(simulate, seed, control, len(scored), cache)
    rows = (row for one in scored for row in _question_rows(one, margin, options))
    return tidy("system_difference", rows)


def _question_rows(
    question: QuestionRatings, margin: float | None, options: SelfTest
) -> Iterator[dict[str, object]]:
    self_test = tested(question, options)
    scores = self_test.scores
    low_end, high_end = (0.0, 1.0) if question.is_yes_no else question.ends
    within = MARGIN * (high_end - low_end) if margin is None else margin
    for found, adjusted in zip(scores.differences, scores.adjusted, strict=True):
        low, high = found.ends()
        yield {
            **question.name,
            "system": found.system,
            "other_system": found.other,
            "estimate": found.estimate,
            "low": low,
            "high": high,
            "n": found.n,
            "se": found.se,
            "df": found.df,
            "d": found.d,
            "p": found.p,
            "p_holm": adjusted,
            "above": found.above,
            "detectable": found.detectable,
            "margin": within,
            "p_equivalent": found.p_equivalent(within),
            **self_test.of_pair(found.system, found.other),
            **({"lost_off": found.off} if scores.are_pairs_off else {}),
            **({"looks": scores.looks} if scores.looks > 1 else {}),
        }
