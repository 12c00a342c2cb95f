"""Answers about single messages by turn: the first message of a system in a conversation, and on.

An answer is about a message where the columns `conversation` and `message_seq`, which exports have,
name one: the message's place in the log of its conversation. Turns are counted over the messages of
the system that were judged, whatever else stood in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.clustering import Codes, codes, error_of_mean, share_intervals
from analysis.groups import Asked, questions
from analysis.intervals import t_interval
from analysis.report import Chart, Section
from analysis.tables import Level, RatingTable

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
SEQ = "message_seq"
FEWEST = 5  # conversations that a turn is told of
COLUMNS = ["system", "turn", "estimate", "low", "high", "n", "conversations"]
SURE = 0.05


def of_messages(asked: Asked) -> pd.DataFrame:
    """Return the answers about messages: system, rater, talk, value, and turn, from 1.

    None, where no more than one message of a conversation was judged, or answers are categories.
    """
    return asked.once("answers about messages", lambda: _of_messages(asked))


def _of_messages(asked: Asked) -> pd.DataFrame:
    rows = asked.rows
    is_category = asked.level == "nominal" and not asked.is_yes_no
    if not {"conversation", SEQ} <= set(rows) or is_category:
        return pd.DataFrame()
    seq = pd.to_numeric(rows[SEQ].astype("object"), errors="coerce").to_numpy(dtype=float)
    known = np.isfinite(seq)
    if not known.any():
        return pd.DataFrame()
    campaign, talk = (codes(rows[name]) for name in ("campaign", "conversation"))
    every = pd.DataFrame(
        {
            "system": codes(rows["system"]),
            "rater": codes(rows["rater"]),
            "talk": talk * (int(campaign.max()) + 1) + campaign,  # numbers of two may be the same
            "value": asked.values,
            "turn": seq,
        }
    )
    found = every[known].copy()
    found["turn"] = found.groupby(["talk", "system"])["turn"].rank("dense").astype(int)
    if found["turn"].max() == 1:
        return pd.DataFrame()
    names = pd.factorize(rows["system"])[1].astype("str")
    found["system"] = names.to_numpy()[found["system"]]
    return pd.DataFrame(found.reset_index(drop=True))


def clusters(rows: pd.DataFrame) -> list[Codes]:
    """Return what answers depend on each other by: conversations, and raters where several."""
    raters = codes(rows["rater"])
    return [codes(rows["talk"]), *([raters] if raters.max(initial=0) > 0 else [])]


def sections(ratings: RatingTable, results: pd.DataFrame) -> Iterator[Section]:
    """Yield a table and a chart by turn of each question that is asked about messages."""
    trends = results[results["metric"] == "turn_effect"]
    for asked in questions(ratings, *LEVELS):
        rows = of_messages(asked)
        found = pd.DataFrame(_by_turn(rows, asked)) if len(rows) else rows
        if len(found) and found["turn"].nunique() > 1:
            about = (trends["protocol"] == asked.protocol) & (trends["question"] == asked.question)
            yield _section(asked, found, trends[about])


def _by_turn(rows: pd.DataFrame, asked: Asked) -> Iterator[dict[str, object]]:
    parts = [
        (system, turn, part)
        for (system, turn), part in rows.groupby(["system", "turn"], sort=True)
        if part["talk"].nunique() >= FEWEST
    ]
    values = [part["value"].to_numpy(dtype=float) for _, _, part in parts]
    by = [clusters(part) for _, _, part in parts]
    if asked.is_yes_no:
        ends = share_intervals(list(zip(values, by, strict=True)))
    else:
        errors = [error_of_mean(one, *of) for one, of in zip(values, by, strict=True)]
        ends = [
            t_interval(float(one.mean()), error.se, error.df)
            for one, error in zip(values, errors, strict=True)
        ]
    for (system, turn, part), value, (low, high) in zip(parts, values, ends, strict=True):
        talks = part["talk"].nunique()
        known = (system, turn, float(value.mean()), low, high, len(part), talks)
        yield dict(zip(COLUMNS, known, strict=True))


def _section(asked: Asked, found: pd.DataFrame, trends: pd.DataFrame) -> Section:
    unit = "share of yes" if asked.is_yes_no else "mean"
    drawn = [
        {"series": row["system"], "name": "", "x": row["turn"], "y": row["estimate"],
         "joined": True}
        for row in found.to_dict("records")
    ]  # fmt: skip
    return Section(
        _finding(asked, trends),
        found.rename(columns={"estimate": unit}),
        f"Turns that at least {FEWEST} conversations reached; later ones have fewer conversations, "
        "and other ones. The change per turn is within conversations (metric turn_effect).",
        key=f"turns-{asked.protocol}-{asked.question}",
        chart=Chart(kind="plane", rows=drawn, axis="turn", upright=f"{asked.question}, {unit}"),
        appendix=True,
    )


def _finding(asked: Asked, trends: pd.DataFrame) -> str:
    """Say who changes most over the turns, of those of whom it can be told (Holm)."""
    capital = asked.question[:1].upper() + asked.question[1:]
    sure = trends[trends["p_holm"] < SURE] if "p_holm" in trends else trends[:0]
    if sure.empty:
        return f"{capital} by turn: of no system it can be told that it changes"
    most = sure.iloc[int(sure["estimate"].abs().to_numpy().argmax())]
    way = "rises" if most["estimate"] > 0 else "falls"
    by = abs(float(most["estimate"]))
    size = f"{100 * by:.1f} points" if asked.is_yes_no else f"{by:.2f}"
    return f"{capital} by turn: that of {most['system']} {way} by {size} a turn"
