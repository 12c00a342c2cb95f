"""Rater facts from the answers alone: one number per rater, never a verdict.

Straight lines and equal rows are the long strings of Curran 2016 (J. Experimental Social Psychology
66, 4-19); the pace is the relative speed of Leiner 2019 (Survey Research Methods 13, 229-248).
Agreement leaves the rater's own answers out of what they are compared with. Apart because these
facts need no model; the models of raters are in their own modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pandas as pd

from analysis.scores.incidence import Ints, together
from analysis.scores.integer_codes import coded_question, units
from analysis.scores.question_ratings import UNIT, QuestionRatings, identified, questions
from analysis.tables import cell_values
from analysis.tables.schema import RatingTable

SCALES = ("ordinal", "interval")
# Equal answers to fewer questions, or about fewer items, are ordinary.
FEWEST_QUESTIONS = 3
ROUNDING = 1e-12
COMPARED = ("own", "others")


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, how many answers, items and systems, and different answers to scales."""
    by_rater = rows[["rater", "system"]].assign(unit=units(rows)).groupby("rater")
    scales = _scales(rows, ["rater", "value"]).groupby("rater")["value"]
    return pd.DataFrame(
        {
            "answers": by_rater.size(),
            "items": by_rater["unit"].nunique(),
            "systems": by_rater["system"].nunique(),
            "scale_answers": scales.size(),
            "different": scales.nunique(),
        }
    )


def _scales(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return columns of the answers to scales, without a copy where there are no others."""
    of_scales = rows["level"].isin(SCALES)
    return rows[names] if of_scales.all() else rows.loc[of_scales, names]


def equal_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, the share of items with straight lines, and with their commonest row.

    Of items about which three scale questions or more were answered; a row is all answers to them,
    a straight line a row of one answer.
    """
    scales = _scales(rows, [*UNIT, "rater", "protocol", "question", "value"])
    key = _numbered(scales, ["protocol", "question", "value"]).astype(np.int32)
    sheet = together(units(scales), pd.factorize(scales["rater"])[0]).astype(np.int32)
    full = np.bincount(sheet)[sheet] >= FEWEST_QUESTIONS
    if not full.any():
        return pd.DataFrame(columns=["sheets", "straight", "same_row"], dtype=float)
    order = np.flatnonzero(full)
    order = order[np.argsort(sheet[order], kind="stable")]
    first = np.flatnonzero(np.diff(sheet[order], prepend=-1))
    value = scales["value"].to_numpy(dtype=float)[order]
    # Rows are told apart by the sum of their answers' hashes: two alike by chance are not met.
    hashed = pd.util.hash_array(key[order])
    lines = np.minimum.reduceat(value, first) == np.maximum.reduceat(value, first)
    found = pd.DataFrame({"rater": scales["rater"].array[order[first]], "line": lines})
    by_rater = found.assign(row=np.add.reduceat(hashed, first)).groupby("rater")
    sheets = by_rater.size()
    most = by_rater["row"].value_counts().groupby(level=0).max()
    shares = {"straight": by_rater["line"].mean(), "same_row": most / sheets}
    return pd.DataFrame({"sheets": sheets, **shares}, dtype=float)


def _numbered(rows: pd.DataFrame, names: Sequence[str]) -> Ints:
    """Return a number for each row, the same where these columns are."""
    codes = (pd.factorize(rows[name])[0] for name in names)
    return reduce(together, codes)


def scale_use(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, severity and spread of scale answers.

    Severity is how far a rater is below what others gave the same system, in SDs of the question;
    spread is the rater's SD about systems' means as a share of all raters'.
    """
    scales = _scales(rows, ["protocol", "question", "system", "rater", "value"])
    value = scales["value"].to_numpy(dtype=float)
    question = _numbered(scales, ["protocol", "question"])
    system = together(question, pd.factorize(scales["system"])[0])
    own = together(system, pd.factorize(scales["rater"])[0])
    whose = np.zeros(int(own.max(initial=-1)) + 1, dtype=np.intp)
    whose[own] = system
    others = np.bincount(system, value)[whose] - np.bincount(own, value)
    n = np.bincount(system)[whose] - np.bincount(own)
    others = np.divide(others, n, out=np.full(len(n), np.nan), where=n > 0)
    sd = pd.Series(value).groupby(question).std()
    gap = pd.Series(value - others[own], scales.index) / sd.where(sd > 0).to_numpy()[question]
    by_rater = gap.groupby(scales["rater"])
    whole = float(gap.std())
    spread = by_rater.std() / whole if whole > 0 else by_rater.std() * np.nan
    return pd.DataFrame({"severity": -by_rater.mean(), "spread": spread})


def pace(rows: pd.DataFrame) -> pd.Series:
    """Return, per rater, how many times as long the median rater takes for an item.

    From a column `seconds`, else from the times in `given_at` between one item and the next; empty
    where the table has neither, or numbers in `given_at`, which may be an order.
    """
    if "seconds" in rows:
        seconds = pd.Series(
            [cell_values.number(cell) for cell in rows["seconds"]], rows.index, float
        )
        taken = seconds.groupby([rows["rater"], pd.Series(units(rows), rows.index)]).max()
    elif "given_at" in rows and pd.to_numeric(rows["given_at"], errors="coerce").isna().any():
        at = cell_values.seconds(rows["given_at"])
        last = at.groupby([rows["rater"], pd.Series(units(rows), rows.index)]).max()
        taken = last.sort_values().groupby(level=0).diff()
    else:
        return pd.Series(dtype=float)
    typical = taken[taken > 0].groupby(level=0).median()
    return typical.median() / typical


def with_others(ratings: RatingTable) -> pd.DataFrame:
    """Return, per rater, agreement with the others on the items that they share.

    On scales the correlation of the rater's answers with the means of the others', both as
    distances from the question's mean; on labels the share of others who said the same, beyond
    what the frequency of the rater's labels in all would give, as kappa has it.
    """
    found = pd.DataFrame({"correlation": np.nan, "kappa": np.nan}, index=_raters(ratings))
    scales = [_beside_others(question) for question in questions(ratings, "ordinal", "interval")]
    labels = [_same_as_others(question) for question in questions(ratings, "nominal")]
    shared = _sums([*scales, *labels])["n"]
    found["shared"] = shared.reindex(found.index, fill_value=0).astype("int64")
    found["correlation"] = _correlations(scales).reindex(found.index)
    found["kappa"] = _kappas(labels).reindex(found.index)
    return found


def _sums(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return, per rater by name, how many answers all parts have, and sums of numbers in them."""
    found = pd.concat([_sums_of(part) for part in parts] or [_NOTHING])
    return found.groupby(level=0).sum()


def _sums_of(part: pd.DataFrame) -> pd.DataFrame:
    by_rater = part.groupby("rater", observed=True)
    found = by_rater.sum().assign(n=by_rater.size())
    return found.set_axis(found.index.astype("str"))


_NOTHING = pd.DataFrame(columns=["n", *COMPARED], index=pd.Index([], dtype="str"), dtype=float)


def _raters(ratings: RatingTable) -> list[str]:
    return sorted(identified(ratings)["rater"].unique())


def _beside_others(question: QuestionRatings) -> pd.DataFrame:
    """Return each answer to an item that others answered, and the mean of theirs."""
    unit = coded_question(question).unit
    values = question.values - question.values.mean()
    n = np.bincount(unit)[unit]
    sums = np.bincount(unit, weights=values)[unit]
    shared = n > 1
    others = (sums[shared] - values[shared]) / (n[shared] - 1)
    scale = float(values.std()) or 1.0
    rater = question.rows["rater"].array[shared]
    return pd.DataFrame({"rater": rater, "own": values[shared] / scale, "others": others / scale})


def _same_as_others(question: QuestionRatings) -> pd.DataFrame:
    """Return, per label, the share of others who gave it (own), and how common it is (others)."""
    known = coded_question(question)
    unit, code, values = known.unit, known.code, known.values
    n = np.bincount(unit)[unit]
    _, cell, alike = np.unique(unit * len(values) + code, return_inverse=True, return_counts=True)
    shared = n > 1
    same = (alike[cell][shared] - 1) / (n[shared] - 1)
    common = (np.bincount(code) / len(code))[code][shared]
    rater = question.rows["rater"].array[shared]
    return pd.DataFrame({"rater": rater, "own": same, "others": common})


def _correlations(parts: Sequence[pd.DataFrame]) -> pd.Series:
    sums = _sums(parts)
    means = sums[[*COMPARED]].div(sums["n"], axis=0)
    around = _sums([_products(part, means) for part in parts])
    if around.empty:
        return pd.Series(dtype=float)
    below = (around["xx"] * around["yy"]) ** 0.5
    found: pd.Series = around["xy"] / below.where(below > ROUNDING)
    return found


def _products(part: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Return products of how far each answer and the others' are from the rater's means."""
    code, raters = pd.factorize(part["rater"])
    of_rater = means.reindex(pd.Index(raters).astype("str"))
    own, others = (part[name] - of_rater[name].to_numpy()[code] for name in COMPARED)
    return pd.DataFrame({"rater": part["rater"], "xy": own * others, "xx": own**2, "yy": others**2})


def _kappas(parts: Sequence[pd.DataFrame]) -> pd.Series:
    sums = _sums(parts)
    means = sums[[*COMPARED]].div(sums["n"], axis=0)
    headroom = 1 - means["others"]
    found: pd.Series = (means["own"] - means["others"]) / headroom.where(headroom > ROUNDING)
    return found
