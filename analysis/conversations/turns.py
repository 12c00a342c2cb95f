"""Answers by turn: from the first message of a system in a conversation to its last.

An answer is about a message where the columns `conversation` and `message_seq`, which exports have,
name one: the message's place in the log of its conversation. Turns are counted over the messages of
the system that were judged, whatever else stood in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.report import Chart, Section
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.clustering import Codes, codes, error_of_mean, share_intervals
from analysis.stats.intervals import t_interval
from analysis.tables.schema import Level, RatingTable

SIMULATED_AS = ("ssa", "likert")

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
SEQ = "message_seq"
FEWEST = 5  # conversations that a turn is told of
COLUMNS = ["system", "turn", "estimate", "low", "high", "n", "conversations"]
SURE = 0.05


def of_messages(question: QuestionRatings) -> pd.DataFrame:
    """Return the answers about messages: system, rater, talk, value, and turn, from 1.

    None, where no more than one message of a conversation was judged, or answers are categories.
    """
    return question.once("answers about messages", lambda: _of_messages(question))


def _of_messages(question: QuestionRatings) -> pd.DataFrame:
    rows = question.rows
    is_category = question.level == "nominal" and not question.is_yes_no
    if not {"conversation", SEQ} <= set(rows) or is_category:
        return pd.DataFrame()
    seq = pd.to_numeric(rows[SEQ].astype("object"), errors="coerce").to_numpy(dtype=float)
    known = np.isfinite(seq)
    if not known.any():
        return pd.DataFrame()
    campaign, conversation = (codes(rows[name]) for name in ("campaign", "conversation"))
    every = pd.DataFrame(
        {
            "system": codes(rows["system"]),
            "rater": codes(rows["rater"]),
            "conversation": conversation * (int(campaign.max()) + 1)
            + campaign,  # numbers of two may be the same
            "value": question.values,
            "turn": seq,
        }
    )
    found = every[known].copy()
    found["turn"] = found.groupby(["conversation", "system"])["turn"].rank("dense").astype(int)
    if found["turn"].max() == 1:
        return pd.DataFrame()
    names = pd.factorize(rows["system"])[1].astype("str")
    found["system"] = names.to_numpy()[found["system"]]
    return pd.DataFrame(found.reset_index(drop=True))


def clusters(rows: pd.DataFrame) -> list[Codes]:
    """Return what answers depend on each other by: conversations, and raters where several."""
    raters = codes(rows["rater"])
    return [codes(rows["conversation"]), *([raters] if raters.max(initial=0) > 0 else [])]


def sections(ratings: RatingTable, results: pd.DataFrame) -> Iterator[Section]:
    """Yield a table and a chart by turn of each question that is asked about messages."""
    trends = results[results["metric"] == "turn_effect"]
    for question in questions(ratings, *LEVELS):
        rows = of_messages(question)
        found = pd.DataFrame(_by_turn(rows, question)) if len(rows) else rows
        if len(found) and found["turn"].nunique() > 1:
            about = (trends["protocol"] == question.protocol) & (
                trends["question"] == question.question
            )
            yield _section(question, found, trends[about])


def _by_turn(rows: pd.DataFrame, question: QuestionRatings) -> Iterator[dict[str, object]]:
    parts = [
        (system, turn, part)
        for (system, turn), part in rows.groupby(["system", "turn"], sort=True)
        if part["conversation"].nunique() >= FEWEST
    ]
    values = [part["value"].to_numpy(dtype=float) for _, _, part in parts]
    by = [clusters(part) for _, _, part in parts]
    if question.is_yes_no:
        ends = share_intervals(list(zip(values, by, strict=True)))
    else:
        errors = [error_of_mean(one, *of) for one, of in zip(values, by, strict=True)]
        ends = [
            t_interval(float(one.mean()), error.se, error.df)
            for one, error in zip(values, errors, strict=True)
        ]
    for (system, turn, part), value, (low, high) in zip(parts, values, ends, strict=True):
        conversations = part["conversation"].nunique()
        known = (system, turn, float(value.mean()), low, high, len(part), conversations)
        yield dict(zip(COLUMNS, known, strict=True))


def _section(question: QuestionRatings, found: pd.DataFrame, trends: pd.DataFrame) -> Section:
    unit = "share of yes" if question.is_yes_no else "mean"
    drawn = [
        {"series": row["system"], "name": "", "x": row["turn"], "y": row["estimate"],
         "joined": True}
        for row in found.to_dict("records")
    ]  # fmt: skip
    return Section(
        _finding(question, trends),
        found.rename(columns={"estimate": unit}),
        f"Turns that at least {FEWEST} conversations reached; later ones have fewer conversations, "
        "and other ones. The change per turn is within conversations (metric turn_effect).",
        key=f"turns-{question.protocol}-{question.question}",
        chart=Chart(kind="plane", rows=drawn, axis="turn", upright=f"{question.question}, {unit}"),
        appendix=True,
    )


def _finding(question: QuestionRatings, trends: pd.DataFrame) -> str:
    """Say who changes most over the turns, of those of whom it can be told (Holm)."""
    capital = question.question[:1].upper() + question.question[1:]
    sure = trends[trends["p_holm"] < SURE] if "p_holm" in trends else trends[:0]
    if sure.empty:
        return f"{capital} by turn: no system changes detectably"
    most = sure.iloc[int(sure["estimate"].abs().to_numpy().argmax())]
    way = "rises" if most["estimate"] > 0 else "falls"
    by = abs(float(most["estimate"]))
    size = f"{100 * by:.1f} points" if question.is_yes_no else f"{by:.2f}"
    return f"{capital} by turn: that of {most['system']} {way} by {size} a turn"
