"""Columns and sentences of the self-test: coverage measured for the design of this very table.

Apart because rankings, differences and the methods text have them, and only where it was done.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

COVERAGE = "measured_coverage"
# Columns of results by the names that tables have for them.
NAMES = {COVERAGE: "coverage", "measured_error": "± MC", "measured_worst": "worst"}
NOTE = (
    "“coverage” is how often this interval held the truth in {campaigns} simulated campaigns of "
    "{design}, ± its Monte Carlo error; “worst” is over the same design with {variants}; "
    "the lowest is {worst}."
)
VARIANTS = "tastes, an odd rater, less alike items, a ceiling or ratings lost by quality"
WHOLE = "this very design"
PART = "a part of this design, whole items or conversations with {share:.2g} % of its ratings"
TOO_WIDE = 0.97


def was_done(rows: pd.DataFrame) -> bool:
    """Say whether these rows of results have a coverage that was measured."""
    return COVERAGE in rows and bool(rows[COVERAGE].notna().any())


def columns(rows: pd.DataFrame) -> dict[str, str]:
    """Return the columns that a table shows beside each figure, by their names there."""
    return NAMES if was_done(rows) else {}


def notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was measured of a ranking or of its differences, and what would be needed."""
    if was_done(rows):
        row = rows[rows[COVERAGE].notna()].iloc[0]
        worst = f"{row['measured_worst']:.2f} ({_variant(str(row['measured_worst_in']))})"
        campaigns = f"{int(row['simulated_campaigns']):,}"
        design = _of_share(float(row["simulated_part"]))
        yield NOTE.format(campaigns=campaigns, design=design, variants=VARIANTS, worst=worst)
        if "measured_false" in rows and rows["measured_false"].notna().any():
            yield (
                "Of campaigns of equal systems "
                f"{float(row['measured_false']):.1%} had a Holm p below .05."
            )
        yield from _departures(rows)
    if "needed" in rows and rows["needed"].notna().any():
        yield str(rows["needed"].dropna().iloc[0])


def _of_share(share: float) -> str:
    return WHOLE if share == 1 else PART.format(share=100 * share)


def _variant(name: str) -> str:
    return "nothing changed" if name == "none" else name


def _departures(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was done about intervals that do not hold what they should."""
    widest = float(rows["widened_by"].astype(float).max())
    if widest > 1:
        yield (
            f"Coverage was below .93, or equal systems were told apart too often: errors are "
            f"widened by up to {widest:.2f}, the factor that would have held 95 %; “coverage” is "
            "before that."
        )
    share = rows[COVERAGE].astype(float)
    if (share - 2 * rows["measured_error"].astype(float) > TOO_WIDE).any():
        yield "Some intervals hold the truth more often than 95 %: they are wider than need be."


def sentences(results: pd.DataFrame) -> Iterator[str]:
    """Yield what the methods text says of the self-test; nothing where it was not done."""
    rows = results[results["metric"].isin(("system_score", "system_difference"))]
    if not was_done(rows):
        return
    known = rows[rows[COVERAGE].notna()]
    numbers = sorted({int(each) for each in known["simulated_campaigns"]})
    span = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
    yield (
        f"Coverage was measured for this design: {span} campaigns per question were simulated on "
        "the incidence of the ratings, half with equal systems and half with the estimated scores, "
        "with variances drawn around the fitted ones, rounded and clipped to the scale; the same "
        "estimators were run on each."
    )
    if (least := float(known["simulated_part"].astype(float).min())) < 1:
        yield (
            "The ratings are too many to simulate all of them in seconds: campaigns are of whole "
            f"items or conversations drawn by chance, with {100 * least:.2g} % of a question's "
            "ratings or more, and stand for the rest."
        )
    if (known["widened_by"].astype(float) > 1).any():
        yield "Where coverage was below .93, errors were widened by the factor that held 95%."
