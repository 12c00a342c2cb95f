"""Allocation of systems: how many conversations each had, from whom, and when; told as cautions.

Apart because each caution here is a test of its own.

Means are biased where conversations are lost, or given, depending on how good a system is.
Counts are compared by Pearson's chi-square (Pearson 1900, Philosophical Magazine 50, 157-175), with
items as the unit, because ratings of one item are lost together. Where messages are the items,
whole conversations are what is given or lost: they are the unit, or chi-square would take what
belongs together for many coincidences (Rao and Scott 1981, Journal of the American Statistical
Association 76, 221-230).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.question_ratings import QuestionRatings
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.columns import TIME_COLUMN

NO_INTERVAL = "p only decides whether a caution is told"

# Two tests at most are told of each question, so a table without fault is told rarely.
UNLIKELY = 0.01
FEWEST = 5  # expected in each cell (Cochran 1954, Biometrics 10, 417-451)


def of_question(question: QuestionRatings) -> Iterator[str]:
    """Yield cautions about systems with one rater, and about allocation that changed over time."""
    yield from _lone_raters(question)
    yield from _over_time(question)


def unequal(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where systems have so different numbers of items that chance hardly did it.

    Without the plan each is taken to have been meant to have the same.
    """
    unit = _unit(question.rows)
    counts = _distinct(question, unit)["system"].value_counts().sort_index()
    if len(counts) < 2 or counts.mean() < FEWEST:
        return
    p = _chi_square(((counts - counts.mean()) ** 2 / counts.mean()).to_numpy(), len(counts) - 1)
    if p < UNLIKELY:
        yield (
            f"systems have different numbers of {unit}s ({_listed(counts)}; were they meant to "
            f"have the same, p {_p(p)} by chi-square). If {unit}s were lost, or added, depending "
            "on how good a system is, means and intervals are biased."
        )


def of_study(study: CampaignRecord) -> Iterator[str]:
    """Yield a caution where the share of assigned seats that gave results differs by system."""
    lost = _seats(study)
    if lost.shape[0] < 2 or lost.shape[1] < 2:
        return
    fewest, p = _independence(lost)
    if fewest >= FEWEST and p < UNLIKELY:
        shares = (lost[False] / lost.sum(axis=1)).map("{:.0%}".format)
        shown = ", ".join(f"{name} {share}" for name, share in shares.items())
        yield (
            f"of the assigned seats unequal shares gave no result ({shown}; p "
            f"{_p(p)} by chi-square). If people left because of how good a "
            "system is, means and intervals are biased."
        )


def _independence(table: pd.DataFrame) -> tuple[float, float]:
    """Return the least expected count of a cell, and p, were rows and columns independent."""
    counts = table.to_numpy(dtype=float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    p = _chi_square((counts - expected) ** 2 / expected, (len(counts) - 1) * (counts.shape[1] - 1))
    return float(expected.min()), p


def _chi_square(parts: np.ndarray, df: int) -> float:
    # Not scipy.stats, which takes half a second to load.
    return float(special.chdtrc(df, parts.sum()))


def _seats(study: CampaignRecord) -> pd.DataFrame:
    """Return a row per system, and how many seats that ended gave a result (True) and did not."""
    people = study.people[["participant", "system", "outcome"]].astype(str)
    ended = people[(people["system"] != "") & (people["outcome"] != "")]
    seats = ended.assign(system=ended["system"].str.split(";")).explode("system")
    counted = study.answers[study.answers["excluded"].isna() | (study.answers["excluded"] == "")]
    pairs = {*zip(counted["rater"].astype(str), counted["system"].astype(str), strict=True)}
    kept = [pair in pairs for pair in zip(seats["participant"], seats["system"], strict=True)]
    return pd.crosstab(seats["system"].to_numpy(), np.array(kept, dtype=bool))


def _lone_raters(question: QuestionRatings) -> Iterator[str]:
    pairs = question.rows[["system", "rater"]].astype(str).drop_duplicates()
    if pairs["rater"].nunique() < 2 or pairs["system"].nunique() < 2:
        return  # one rater or one system in all is told by itself
    raters = pairs.groupby("system")["rater"].agg(["size", "first"])
    lone = raters[raters["size"] == 1]
    if len(lone):
        shown = ", ".join(f"{system} by {row['first']}" for system, row in lone.iterrows())
        yield (
            f"a system was judged by one rater only ({shown}): its score is as much that rater's "
            "severity as its quality, and no interval knows it; two raters or more per system, or "
            "raters who judge several systems, would tell."
        )


def _unit(rows: pd.DataFrame) -> str:
    """Return the column of what is given or lost as one: conversations, where they have items."""
    if "conversation" not in rows.columns or rows["conversation"].isin(["", None, np.nan]).any():
        return "item"
    pairs = rows[["item", "conversation"]].astype(str).drop_duplicates()
    is_within = len(pairs) == pairs["item"].nunique()
    return "conversation" if is_within and pairs["conversation"].nunique() < len(pairs) else "item"


def _distinct(question: QuestionRatings, unit: str) -> pd.DataFrame:
    return question.rows[["system", unit]].astype(str).drop_duplicates()


def _over_time(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where the second half of what was given is of other systems."""
    rows, unit = question.rows, _unit(question.rows)
    if TIME_COLUMN not in rows.columns:
        return
    moments = _times(rows[TIME_COLUMN])
    if moments.isna().any():
        wrong = int(moments.isna().sum())
        yield f"{wrong} of {len(rows)} cells of {TIME_COLUMN} are no time or number."
        return
    first = moments.groupby([rows["system"].astype(str), rows[unit].astype(str)]).min()
    if first.nunique() < 2:
        return
    is_late = (first.rank(method="first") > len(first) / 2).to_numpy()
    systems = first.index.get_level_values(0)
    halves = pd.crosstab(systems, is_late)
    if halves.shape[0] < 2:
        return
    fewest, p = _independence(halves)
    if fewest >= FEWEST and p < UNLIKELY:
        shown = ", ".join(f"{name} {one} and {two}" for name, one, two in halves.itertuples())
        yield (
            f"systems were not given evenly over time ({unit}s in the first and the second half: "
            f"{shown}; p {_p(p)} by chi-square). Where later {unit}s went to the "
            "systems that were ahead, their means are biased, and what changed over time is taken "
            "for a difference of systems."
        )


def _times(cells: pd.Series) -> pd.Series:
    """Return times, or numbers, as numbers that grow; NaN where a cell is neither."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.notna().all():
        return numbers.astype(float)
    times = pd.to_datetime(cells.astype(str), errors="coerce", utc=True, format="ISO8601")
    return pd.Series(times.astype("int64"), cells.index, dtype=float).where(times.notna())


def _listed(counts: pd.Series) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _p(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")
