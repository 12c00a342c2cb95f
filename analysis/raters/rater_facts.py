"""Rater facts from the answers alone: one number per rater, never a verdict.

Straight lines and equal rows are the long strings of Curran 2016 (J. Experimental Social Psychology
66, 4-19); the pace is the relative speed of Leiner 2019 (Survey Research Methods 13, 229-248).
Agreement leaves the rater's own answers out of what they are compared with. Apart because these
facts need no model; the models of raters are in their own modules.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.scores.integer_codes import coded_question, units
from analysis.scores.question_ratings import QuestionRatings, identified, questions
from analysis.tables import cell_values
from analysis.tables.schema import RatingTable

SCALES = ("ordinal", "interval")
# Equal answers to fewer questions, or about fewer items, are ordinary.
FEWEST_QUESTIONS = 3
ROUNDING = 1e-12


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, how many answers, items and systems, and different answers to scales."""
    by_rater = rows[["rater", "system"]].assign(unit=units(rows)).groupby("rater")
    scales = rows[rows["level"].isin(SCALES)].groupby("rater")["value"]
    return pd.DataFrame(
        {
            "answers": by_rater.size(),
            "items": by_rater["unit"].nunique(),
            "systems": by_rater["system"].nunique(),
            "scale_answers": scales.size(),
            "different": scales.nunique(),
        }
    )


def equal_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, the share of items with straight lines, and with their commonest row.

    Of items about which three scale questions or more were answered; a row is all answers to them,
    a straight line a row of one answer.
    """
    scales = rows[rows["level"].isin(SCALES)]
    unit, rater = units(scales), pd.factorize(scales["rater"])[0]
    sheet = pd.factorize(rater * (unit.max(initial=0) + 1) + unit)[0]
    full = np.bincount(sheet)[sheet] >= FEWEST_QUESTIONS
    if not full.any():
        return pd.DataFrame(columns=["sheets", "straight", "same_row"], dtype=float)
    answers = scales[full].assign(sheet=sheet[full]).sort_values("sheet", kind="stable")
    first = np.flatnonzero(~answers["sheet"].duplicated())
    value = answers["value"].to_numpy(dtype=float)
    # Rows are told apart by the sum of their answers' hashes: two alike by chance are not met.
    each = answers[["protocol", "question"]].assign(value=value)
    hashed = pd.util.hash_pandas_object(each, index=False).to_numpy()
    lines = np.minimum.reduceat(value, first) == np.maximum.reduceat(value, first)
    found = pd.DataFrame({"rater": answers["rater"].to_numpy()[first], "line": lines})
    by_rater = found.assign(row=np.add.reduceat(hashed, first)).groupby("rater")
    sheets = by_rater.size()
    most = by_rater["row"].value_counts().groupby(level=0).max()
    shares = {"straight": by_rater["line"].mean(), "same_row": most / sheets}
    return pd.DataFrame({"sheets": sheets, **shares}, dtype=float)


def scale_use(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, per rater, severity and spread of scale answers.

    Severity is how far a rater is below what others gave the same system, in SDs of the question;
    spread is the rater's SD about systems' means as a share of all raters'.
    """
    scales = rows[rows["level"].isin(SCALES)]
    value = scales["value"].astype(float)
    question_keys = [scales["protocol"], scales["question"]]
    system = [*question_keys, scales["system"]]
    by_system, by_own = value.groupby(system), value.groupby([*system, scales["rater"]])
    total, n = by_system.transform("sum"), by_system.transform("size")
    mine, my_n = by_own.transform("sum"), by_own.transform("size")
    others = (total - mine) / (n - my_n).where(n > my_n)
    sd = value.groupby(question_keys).transform("std")
    gap = (value - others) / sd.where(sd > 0)
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
        texts = rows["given_at"].astype(str)
        times = pd.to_datetime(texts, utc=True, errors="coerce", format="ISO8601")
        at = times.map(pd.Timestamp.timestamp, na_action="ignore").astype(float)
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
    compared = pd.concat([*scales, *labels] or [_NOTHING])
    found["shared"] = _named(compared.groupby("rater").size()).reindex(found.index, fill_value=0)
    for by, column in ((scales, "correlation"), (labels, "kappa")):
        rows = pd.concat(by or [_NOTHING])
        values = _correlations(rows) if column == "correlation" else _kappas(rows)
        found[column] = _named(values).reindex(found.index)
    return found


def _named(values: pd.Series) -> pd.Series:
    """Return values of raters by their names as texts."""
    return values.set_axis(values.index.astype("str"))


_NOTHING = pd.DataFrame({"rater": pd.Series(dtype="str"), "own": 0.0, "others": 0.0}).iloc[:0]


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


def _correlations(rows: pd.DataFrame) -> pd.Series:
    by_rater = rows.groupby("rater")
    own, others = (rows[name] - by_rater[name].transform("mean") for name in ("own", "others"))
    products = pd.DataFrame({"xy": own * others, "xx": own**2, "yy": others**2})
    sums = products.groupby(rows["rater"]).sum()
    below = (sums["xx"] * sums["yy"]) ** 0.5
    found: pd.Series = sums["xy"] / below.where(below > ROUNDING)
    return found


def _kappas(rows: pd.DataFrame) -> pd.Series:
    means = rows.groupby("rater")[["own", "others"]].mean()
    headroom = 1 - means["others"]
    found: pd.Series = (means["own"] - means["others"]) / headroom.where(headroom > ROUNDING)
    return found
