"""Preferences among systems shown together: who wins, by how much, and whether the model fits.

Win rates with ties; abilities of Bradley & Terry (1952), with Davidson's (1970) parameter of ties
and the advantage of being shown first (Davidson & Beaver 1977); Plackett-Luce where more than two
were ranked; hredGAN's normalized rank score with its formula's error and L2E's normalized rank; and
the circles that no order of systems can explain, counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special

from analysis.comparisons import bradley_terry as model
from analysis.comparisons import preference_cycles
from analysis.comparisons.preferences import Compared, compared, positions
from analysis.metrics.bradley_terry import bradley_terry
from analysis.metrics.explanation_rank import explanation_rank
from analysis.metrics.plackett_luce import plackett_luce
from analysis.metrics.rank_score import rank_score
from analysis.metrics.win_rate import win_rate
from analysis.report import Chart, Report, Section, dots
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("shown_first",)

CLUSTERED = "95 % intervals are clustered by rater and by context"
MATRIX_MOST = 12
ALPHA = 0.05
NONE = "No question in this table asks people to rank or choose among systems shown together."


def preferences(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return the report of every question of level "rank"."""
    found: list[Section] = []
    leads: list[str] = []
    for question in questions(ratings, "rank"):
        pairs = compared(question)
        if pairs is not None:
            sections = list(_sections(question, pairs, seed))
            found += sections
            leads += [f"{each.title}." for each in sections if each.key.split("-")[0] in LEADS]
    return Report(
        name="preferences",
        title="Preferences among systems shown together",
        findings=tuple(leads) or (NONE,),
        sections=tuple(found),
        cautions=cautions(ratings),
    )


LEADS = ("wins", "abilities", "order", "circles")


def _sections(question: QuestionRatings, pairs: Compared, seed: int) -> Iterator[Section]:
    alone = RatingTable(question.rows)
    yield _wins(question, win_rate(alone))
    yield from _abilities(question, pairs, bradley_terry(alone))
    yield preference_cycles.section(question.question, pairs)
    yield from _matrix(question, pairs)
    if (positions(question)["of"] > 2).any():
        yield _worths(question, plackett_luce(alone))
    yield _ranks(question, rank_score(alone), explanation_rank(alone, seed=seed))


# --- wins -------------------------------------------------------------------------------------


def _wins(question: QuestionRatings, rates: pd.DataFrame) -> Section:
    ordered = _best_first(rates)
    best = ordered.iloc[0]
    frame = ordered[["system", "estimate", "low", "high", "won", "tied", "lost", "n"]]
    columns = {"estimate": "win rate", "won": "wins", "tied": "ties", "lost": "losses"}
    tied = float((ordered["tied"] * ordered["n"]).sum() / ordered["n"].sum())
    return Section(
        f"{_capital(question)}: {best['system']} wins {best['estimate']:.0%} of its {best['n']} "
        f"comparisons; {tied:.0%} of all are ties",
        frame.rename(columns=columns),
        f"Win rate counts a tie as half a win; {CLUSTERED}; wins, ties and losses are shares of n "
        "comparisons." + _withheld(ordered),
        key=f"wins-{question.question}",
        chart=_dots(ordered, "win rate", "share of comparisons won, ties half", (0.0, 1.0), 0.5),
    )


def _matrix(question: QuestionRatings, pairs: Compared) -> Iterator[Section]:
    counts = pairs.counts()
    size = counts.systems
    met = counts.wins + counts.wins.T
    if not 2 < size <= MATRIX_MOST:
        return
    order = np.argsort(-counts.wins.sum(axis=1) / np.maximum(met.sum(axis=1), 1), kind="stable")
    names = [pairs.systems[k] for k in order]
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = (counts.wins / met)[np.ix_(order, order)]
    rows = [
        {"system": names[a], "other": names[b], "p": float(rates[a, b])}
        for a in range(size)
        for b in range(size)
        if a != b and not np.isnan(rates[a, b])
    ]
    frame = pd.DataFrame(rates, columns=names)
    frame.insert(0, "system", names)
    times = met[~np.eye(size, dtype=bool)].astype(int)
    fewest, most = int(times.min(initial=0)), int(times.max(initial=0))
    often = f"{fewest} to {most} times" if fewest < most else f"{most} times"
    yield Section(
        f"{_capital(question)}: each pair was compared {often}",
        frame,
        "Share of comparisons that the row's system won against the column's, ties half.",
        key=f"pairs-{question.question}",
        chart=Chart(kind="matrix", rows=rows, axis="share lost to the system on the left"),
    )


# --- abilities --------------------------------------------------------------------------------


def _abilities(
    question: QuestionRatings, pairs: Compared, found: pd.DataFrame
) -> Iterator[Section]:
    ordered = _best_first(found)
    counts = pairs.counts()
    if ordered["estimate"].isna().all():
        why = str(ordered["reason"].iloc[0])
        frame = ordered[["system", "n", "reason"]]
        key = f"abilities-{question.question}"
        yield Section(f"{_capital(question)}: abilities are not defined, {why}", frame, key=key)
        return
    shown_first = ordered["shown_first"].iloc[0]
    fitted = model.fit(counts, order=bool(pd.notna(shown_first)))
    davidson = dict(zip(pairs.systems, fitted.mean, strict=True))
    frame = ordered.assign(davidson=ordered["system"].map(davidson))
    wanted = ["system", "estimate", "low", "high", "se", "share", "davidson", "n"]
    names = {"estimate": "log-ability", "davidson": "with ties (Davidson)"}
    if fitted.tie is None:
        wanted.remove("davidson")
    yield Section(
        f"{_capital(question)}: {_first_two(ordered)}",
        frame[wanted].rename(columns=names),
        f"Bradley and Terry, a tie half a win, mean 0; se and {CLUSTERED}; shares add up to 1."
        f"{_withheld(ordered)}{_tie_note(fitted.tie)}",
        key=f"abilities-{question.question}",
        chart=_dots(ordered, "log-ability", "log-ability, with 95 % interval", None, 0.0),
    )
    if pd.notna(shown_first):
        yield _order(question, ordered.iloc[0])


def _first_two(ordered: pd.DataFrame) -> str:
    first, second = ordered.iloc[0], ordered.iloc[1]
    chance = float(special.expit(first["estimate"] - second["estimate"]))
    return (
        f"{first['system']} has the highest ability, and would win {chance:.0%} of comparisons "
        f"with {second['system']}"
    )


def _tie_note(tie: float | None) -> str:
    if tie is None:
        return " No comparison was a tie."
    even = tie / (2 + tie)
    return (
        f" Davidson's model takes ties as an outcome of their own: nu = {tie:.2f}, so that two "
        f"equal systems tie in {even:.0%} of comparisons."
    )


def _order(question: QuestionRatings, fitted: pd.Series) -> Section:
    effect, se, p = (float(fitted[f"shown_first{part}"]) for part in ("", "_se", "_p"))
    chance = float(special.expit(effect))
    sure = "is more often preferred" if effect > 0 else "is less often preferred"
    title = f"{_capital(question)}: being shown first makes no clear difference"
    if p < ALPHA:
        title = f"{_capital(question)}: what is shown first {sure}"
    row = {"log advantage": effect, "se": se, "p": p, "wins of an equal shown first": chance}
    return Section(
        title,
        pd.DataFrame([row]),
        "Davidson and Beaver's order effect; se and the two-sided p of Student's t are clustered "
        "by rater and by context.",
        key=f"order-{question.question}",
    )


def _withheld(rows: pd.DataFrame) -> str:
    """Return why some row has no interval, or nothing."""
    why = rows.loc[rows["low"].isna(), "reason"].dropna()
    return f" No interval: {why.iloc[0]}." if len(why) else ""


def _worths(question: QuestionRatings, found: pd.DataFrame) -> Section:
    ordered = _best_first(found)
    left = int(ordered["tied_left_out"].iloc[0]) if len(ordered) else 0
    known = [
        name
        for name in ("system", "estimate", "low", "high", "n", "reason")
        if name in ordered and ordered[name].notna().any()
    ]
    return Section(
        f"{_capital(question)}: whole rankings, {left} with a tie left out",
        ordered[known].rename(columns={"estimate": "log-worth"}),
        f"Plackett-Luce, mean 0; {CLUSTERED}; n is untied rankings.",
        key=f"worths-{question.question}",
    )


def _ranks(question: QuestionRatings, scores: pd.DataFrame, ranks: pd.DataFrame) -> Section:
    own = scores[["system", "estimate", "low", "high", "se", "n"]]
    other = ranks[["system", "estimate", "low", "high", "n"]]
    frame = own.merge(other, on="system", suffixes=("", " of rank")).sort_values(
        ["estimate", "system"], ascending=[False, True], ignore_index=True
    )
    total = float(frame["estimate"].sum())
    names = {
        "estimate": "rank score",
        "se": "se (hredGAN)",
        "n": "samples",
        "estimate of rank": "rank (L2E)",
        "low of rank": "rank low",
        "high of rank": "rank high",
        "n of rank": "participants",
    }
    return Section(
        f"{_capital(question)}: {frame.iloc[0]['system']} has the highest normalized rank score, "
        f"{frame.iloc[0]['estimate']:.2f}",
        frame.rename(columns=names),
        f"Rank score: 1 for always best, 0 for always last; the scores add up to {total:.2f} (N/2 "
        f"= {len(frame) / 2:g} where all N systems are always ranked). se (hredGAN) is the "
        "paper's formula, of judges only; the interval is a t interval clustered by rater and "
        "sample. Rank (L2E): 0 is the top, with a 95 % t interval over participants; the metric "
        "explanation_rank has the paper's bootstrap too.",
        key=f"ranks-{question.question}",
    )


# --- shared -----------------------------------------------------------------------------------


def _dots(
    rows: pd.DataFrame, series: str, axis: str, domain: tuple[float, float] | None, line: float
) -> Chart:
    return Chart(kind="intervals", rows=dots(rows, series), axis=axis, domain=domain, line=line)


def _best_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["estimate", "system"], ascending=[False, True], ignore_index=True)


def _capital(question: QuestionRatings) -> str:
    return question.question[:1].upper() + question.question[1:]
