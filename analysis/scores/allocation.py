"""Allocation of systems: how many conversations each had, lost, from whom, and when.

Told as cautions; what was lost unequally also widens intervals. Apart because each caution here is
a test of its own.

Means are biased where conversations are lost, or given, depending on how good a system is.
Counts are compared by Pearson's chi-square (Pearson 1900, Philosophical Magazine 50, 157-175), with
items as the unit, because ratings of one item are lost together. Where messages are the items,
whole conversations are what is given or lost: they are the unit, or chi-square would take what
belongs together for many coincidences (Rao and Scott 1981, Journal of the American Statistical
Association 76, 221-230). What is missing is thought to lie within one SD of what is there, by a
prior notion as in Rubin 1977 (Journal of the American Statistical Association 72, 538-543).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.question_ratings import QuestionRatings
from analysis.tables import cell_values
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.columns import TIME_COLUMN
from analysis.tables.schema import RatingTable

NO_INTERVAL = "p only decides whether a caution is told"

# Two tests at most are told of each question, so a table without fault is told rarely.
UNLIKELY = 0.01
FEWEST = 5  # expected in each cell (Cochran 1954, Biometrics 10, 417-451)
# Pocock's constant for two looks, over the quantile for one (1977, Biometrika 64, 191-199).
LOOKS = 1.11
TOO_LARGE = "who was behind was given less, so differences are too large"
LOST = "lost"  # a column: the share of what was given to the system that brought no answer
MANY_LOST = 0.2
USUAL = 0.5  # of the raters, who had a system as often as anybody
HUMAN, PEOPLE = "human", "people"  # a system of people in tables, and as the plan's bot
ALLOWED = (
    "as far as those who are missing would have rated by one SD of the ratings lower, or higher, "
    "than those who stayed (Rubin 1977)"
)
WIDER = (
    "If people left because of how good a system is, means are biased. Intervals, p values and "
    f"probabilities allow for it {ALLOWED}."
)
IF_POOR = (
    "If poor ones were lost, scores are too high. Their intervals allow for it "
    f"{ALLOWED}. Differences of systems that lost alike are not biased by that."
)

IF_PLANNED = (
    "Whether they were lost, and why, no table of four columns tells: a column "
    f"“{LOST}” with each system's share, 0 where a turn was never meant to be, settles it."
)


def of_question(question: QuestionRatings) -> Iterator[str]:
    """Yield cautions about systems with one rater, and about allocation that changed over time."""
    yield from _lone_raters(question)
    yield from _over_time(question)
    yield from _followed(question)
    if LOST in question.rows and losses(question) is None:
        yield (
            f"the column {LOST} is not read: right would be a share from 0 to below 1, the same in "
            "all rows of a system."
        )


def with_losses(ratings: RatingTable, study: CampaignRecord | None) -> RatingTable:
    """Return the ratings with what a campaign's record tells was lost of each system's seats."""
    seats = pd.DataFrame() if study is None else _seats(study)
    if LOST in ratings or not len(seats):
        return ratings
    if False not in seats:
        return RatingTable(ratings.assign(**{LOST: 0.0}))
    shares = (seats[False] / seats.sum(axis=1)).to_dict()
    found = ratings["system"].astype(str).map(shares).astype(float)
    return RatingTable(ratings.assign(**{LOST: found.where(found < 1, 0.0)}))


def losses(question: QuestionRatings) -> pd.Series | None:
    """Return the share that was lost of each system, in order of name; None where not known."""
    if LOST not in question.rows:
        return None
    return question.once("losses", lambda: _losses(question))


def _losses(question: QuestionRatings) -> pd.Series | None:
    cells = pd.to_numeric(question.rows[LOST], errors="coerce")
    by_system = cells.groupby(question.rows["system"].astype(str))
    found = by_system.min()
    if cells.isna().any() or found.lt(0).any() or by_system.max().ge(1).any():
        return None
    return found if (by_system.max() == found).all() else None


def allowed_losses(question: QuestionRatings) -> tuple[pd.Series, bool] | None:
    """Return losses by system that intervals have to allow for, and whether these are unequal.

    They are where some system lost a fifth or more, or shares differ by more than chance. Of turns
    that only the table tells to be missing a fifth of all is asked for.
    """
    shares = losses(question)
    most = 0.0 if shares is None else float(shares.max())
    if LOST not in question.rows:
        shares = missed_turns(question)
        most = 0.0 if shares is None else float(shares.mean())
    if shares is None:
        return None
    is_unequal = _differ(question, shares)
    return (shares, is_unequal) if is_unequal or most >= MANY_LOST else None


def missed_turns(question: QuestionRatings) -> pd.Series | None:
    """Return the share of each system's turns that has no rating; None where no turns are seen.

    Turns are seen where each conversation has one rater and a system was had equally often by most
    raters, and more often by none: the others then missed some of it. Where all raters have equally
    many, each may have been meant to have some of the systems.
    """
    return question.once("missed turns", lambda: _missed_turns(question))


def _missed_turns(question: QuestionRatings) -> pd.Series | None:
    unit = _unit(question.rows)
    of_unit, rater = (pd.factorize(question.rows[name])[0] for name in (unit, "rater"))
    one = np.empty(of_unit.max() + 1, dtype=rater.dtype)
    one[of_unit] = rater
    if (one[of_unit] != rater).any():  # seen without making texts of a large table
        return None
    names = ["system", "rater", unit]
    had = question.rows[names].drop_duplicates().astype(str)
    if had[unit].duplicated().any():
        return None
    turns = pd.crosstab(had["rater"], had["system"])
    most, per_rater = int(turns.to_numpy().max()), turns.sum(axis=1)
    is_usual = (turns == most).mean().max() > USUAL
    if turns.shape[1] < 2 or len(turns) < FEWEST or not is_usual or per_rater.nunique() < 2:
        return None
    return 1 - turns.mean() / most


def _differ(question: QuestionRatings, shares: pd.Series) -> bool:
    """Say whether shares lost differ by more than chance."""
    if len(shares) < 2 or not shares.max() > 0:
        return False
    unit = _unit(question.rows)
    kept = _distinct(question, unit)["system"].value_counts().reindex(shares.index)
    fewest, p = _independence(
        pd.DataFrame({True: kept, False: (kept * shares / (1 - shares)).round()})
    )
    return fewest >= FEWEST and p < UNLIKELY


def lost(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution about losses that the table itself tells; of a record `of_study` does."""
    found = allowed_losses(question)
    if found is None:
        return
    shares, is_unequal = found
    start = "unequal shares" if is_unequal else "a part"
    what, more = "of what systems were given brought no answer", ""
    if LOST not in question.rows:
        what, more = "of the turns that raters had with systems has no rating", f" {IF_PLANNED}"
    yield f"{start} {what} ({_shares(shares)}). {WIDER if is_unequal else IF_POOR}{more}"


def unequal(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where systems have so different numbers of items that chance hardly did it.

    Without the plan, or what was lost, each is taken to have been meant to have the same.
    """
    if losses(question) is not None or allowed_losses(question) is not None:
        return
    unit = _unit(question.rows)
    counts = _distinct(question, unit)["system"].value_counts().sort_index()
    if len(counts) < 2 or counts.mean() < FEWEST:
        return
    p = _chi_square(((counts - counts.mean()) ** 2 / counts.mean()).to_numpy(), len(counts) - 1)
    if p < UNLIKELY:
        yield (
            f"systems have different numbers of {unit}s ({_listed(counts)}; were they meant to "
            f"have the same, p {_p(p)} by chi-square). If {unit}s were lost, or added, depending "
            "on how good a system is, means and intervals are biased. The share lost of each "
            f"system, in a column “{LOST}” (0 where none was), widens them by what that can do."
        )


def of_study(study: CampaignRecord) -> Iterator[str]:
    """Yield a caution where assigned seats gave no results, unequally by system or in number."""
    seats = _seats(study)
    if False not in seats or not len(seats):
        return
    shares = seats[False] / seats.sum(axis=1)
    fewest, p = _independence(seats) if seats.shape[1] == 2 else (0.0, 1.0)
    if len(seats) > 1 and fewest >= FEWEST and p < UNLIKELY:
        yield (
            f"of the assigned seats unequal shares gave no result ({_shares(shares)}; p "
            f"{_p(p)} by chi-square). {WIDER}"
        )
    elif shares.max() >= MANY_LOST:
        yield f"of the assigned seats a part gave no result ({_shares(shares)}). {IF_POOR}"


def _shares(shares: pd.Series) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in shares.items())


def _independence(table: pd.DataFrame) -> tuple[float, float]:
    """Return the least expected count of a cell, and p, were rows and columns independent.

    A row or column without a count says nothing of either.
    """
    counts = table.to_numpy(dtype=float)
    if not (counts.any(axis=0).all() and counts.any(axis=1).all()):
        return 0.0, 1.0
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
    if not any(kept):  # those who were seated rate nobody: others judge what they said
        return pd.DataFrame()
    found = pd.crosstab(seats["system"].to_numpy(), np.array(kept, dtype=bool))
    return found.drop(index=_half_rated(study), errors="ignore")


def _half_rated(study: CampaignRecord) -> list[str]:
    """Return the systems of people of whom by the plan one rates the other."""
    if not any(each.get("sides") == "one" for each in study.rates):
        return []
    people = [str(each["name"]) for each in study.systems if each["bot"] == PEOPLE]
    return [HUMAN, *people] if people else []


def _lone_raters(question: QuestionRatings) -> Iterator[str]:
    pairs = _pairs(question.rows, "system", "rater")
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
    pairs = _pairs(rows, "item", "conversation")
    is_within = len(pairs) == pairs["item"].nunique()
    return "conversation" if is_within and pairs["conversation"].nunique() < len(pairs) else "item"


def _distinct(question: QuestionRatings, unit: str) -> pd.DataFrame:
    return _pairs(question.rows, "system", unit)


def _pairs(rows: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """Return each pair of names once, as texts."""
    # Few are made texts: of a large table that alone would take longer than telling them apart.
    found = rows[[one, other]].drop_duplicates()
    named = found.astype(str)
    # Categories of text are as different as their texts.
    return named if _are_categories(found) else named.drop_duplicates()


def _are_categories(rows: pd.DataFrame) -> bool:
    """Tell whether all columns are categories of text."""
    kinds = [rows[name].dtype for name in rows]
    return all(
        isinstance(kind, pd.CategoricalDtype) and isinstance(kind.categories.dtype, pd.StringDtype)
        for kind in kinds
    )


def _over_time(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where the second half of what was given is of other systems."""
    rows = question.rows
    if TIME_COLUMN not in rows.columns:
        return
    unit = _unit(rows)
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


def follows_scores(question: QuestionRatings) -> bool:
    """Say whether, beyond chance, those who were ahead were given more and the others no more.

    Who is given no more once behind was behind in part by bad luck, which nothing then evens out:
    means of such systems are too low, and differences from them too large (Nie, Tian, Taylor & Zou
    2018, AISTATS, "Why adaptively collected data have negative bias and how to correct for it").
    """
    return question.once("follows scores", lambda: _follows(question))


def _follows(question: QuestionRatings) -> bool:
    """Compare the systems that were given less with the rest: when, and how their first ones did.

    How many were given by Pearson's chi-square, when by the rank sum test (Mann & Whitney 1947,
    Annals of Mathematical Statistics 18, 50-60). As many first ones count of each system as that
    has which was given least.
    """
    rows, unit = question.rows, _unit(question.rows)
    has_numbers = question.level != "nominal" or question.is_yes_no
    if TIME_COLUMN not in rows.columns or not has_numbers:
        return False
    keys = rows["system"].astype(str).rename("system"), rows[unit].astype(str).rename("unit")
    units = pd.DataFrame({"at": _times(rows[TIME_COLUMN]), "value": question.values})
    units = units.groupby(list(keys)).agg({"at": "min", "value": "mean"}).reset_index()
    counts = units["system"].value_counts().sort_index()
    mean = counts.mean()
    p = _chi_square(((counts - mean) ** 2 / mean).to_numpy(), len(counts) - 1)
    if units["at"].isna().any() or mean < FEWEST or not p < UNLIKELY:
        return False
    units = units.sort_values("at", kind="stable")
    is_less = units["system"].isin(counts.index[counts < mean])
    first = units.groupby("system").head(int(counts.min()))
    behind, ahead = (first["value"][is_less == less].mean() for less in (True, False))
    did_worse = behind > ahead if question.better == "low" else behind < ahead
    return bool(did_worse and _earlier(units["at"], is_less) < UNLIKELY)


def _earlier(at: pd.Series, marked: pd.Series) -> float:
    """Return the one-sided p of the marked being as late as the others, by their mean rank."""
    less, rest = int(marked.sum()), int((~marked).sum())
    whole = less + rest
    gap = float(at.rank()[marked].mean()) - (whole + 1) / 2
    return float(special.ndtr(gap / np.sqrt((whole + 1) * rest / (12 * less))))


def _followed(question: QuestionRatings) -> Iterator[str]:
    """Yield a caution where what was given followed the scores."""
    if follows_scores(question):
        unit = _unit(question.rows)
        counts = _distinct(question, unit)["system"].value_counts().sort_index()
        yield (
            f"later {unit}s went to the systems that were ahead ({_listed(counts)}): {TOO_LARGE}, "
            f"and means are biased. Errors of differences are {LOOKS:g} times as wide, as for two "
            "looks (Pocock 1977)."
        )


def _times(cells: pd.Series) -> pd.Series:
    """Return times, or numbers where all are, as numbers; NaN where a cell is neither."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.notna().all():
        return numbers.astype(float)
    return cell_values.seconds(cells)


def _listed(counts: pd.Series) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _p(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")
