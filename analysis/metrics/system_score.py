"""Score of each system by the crossed model: the headline of scales and of yes and no.

A linear mixed model with systems fixed and random effects of whatever the table crosses or repeats:
raters, items, contexts, conversations, raters by systems, items by systems; variances by restricted
maximum likelihood (Patterson & Thompson 1971), of more than 400 levels by moments (Rao 1971, and
scores are then raw means), degrees of freedom by Satterthwaite (Giesbrecht &
Burns 1985). With one rating each of balanced raters a score is the raw mean; a rater's severity is
taken out only between systems that different raters saw. The interval is Student's on the log odds
of the way along the scale, so it never leaves it. Systems that share one of the `letters` cannot be
told apart (Holm 1979 over all pairs, 5 %; letters after Piepho 2004). Where systems lost unequal
shares of what they were given (column `lost`), or a fifth, intervals are wider by `lost_off`: the
share times an SD of the ratings (after Rubin 1977). Without several raters or
items for each system there is no interval, and `reason` says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.system_scores import SystemScores
from analysis.self_test.measured import SelfTest, tested
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

LIKELIHOOD, MOMENTS = "restricted maximum likelihood", "moments"
YES_NO = {"scale_low": 0.0, "scale_high": 1.0, "scale_ends": "no and yes"}


def system_score(
    ratings: RatingTable,
    *,
    control: str | None = None,
    simulate: int = 0,
    seed: int = 0,
    cache: Path | None = None,
) -> pd.DataFrame:
    """Return a row per question (scale, or yes and no) and system; a control has no letters.

    With `simulate` campaigns `measured_coverage` is how often the interval of this very design held
    the truth, `measured_worst` how often in the worst variant, and `widened_by` what errors were
    multiplied by for it.
    """
    rated = questions(ratings, "ordinal", "interval", "nominal")
    scored = [one for one in rated if one.level != "nominal" or one.is_yes_no]
    options = SelfTest(simulate, seed, control, len(scored), cache)
    return tidy("system_score", (row for one in scored for row in _question_rows(one, options)))


def _question_rows(question: QuestionRatings, options: SelfTest) -> Iterator[dict[str, object]]:
    self_test = tested(question, options)
    found, control = self_test.scores, options.control
    scale = YES_NO if question.is_yes_no else question.scale
    for k, system in enumerate(found.systems):
        low, high = found.interval(k)
        yield {
            **question.name,
            "system": system,
            "estimate": found.means[k],
            "low": low,
            "high": high,
            "n": int(found.n[k]),
            "raw": found.raw[k],
            **_of_fit(found, k),
            **self_test.of_score(k),
            **scale,
            "better": question.better,
            "control": control if control in found.systems else None,
            "reason": found.reason,
            **({} if found.off is None else {"lost_off": float(found.off[k])}),
        }


def _of_fit(found: SystemScores, k: int) -> dict[str, object]:
    if found.fit is None:
        return {}
    sds = {f"{name.replace(' ', '_')}_sd": sd for name, sd in found.fit.sds.items()}
    letters = found.letters.get(found.systems[k])
    variances = LIKELIHOOD if found.fit.is_likelihood else MOMENTS
    return {
        "se": found.se(k),
        "df": found.fit.df(found.fit.one(k)),
        "letters": letters,
        "variances": variances,
        **sds,
    }
