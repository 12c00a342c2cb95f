"""Asking and answering over the turns of a conversation, and questions already answered (ConvAI2).

Dinan et al. 2019, sections 3.2.3 and 5, name both and print no figures; definitions in
`analysis/metrics/asking.py`.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations.asking import asking_sides, by_turn
from analysis.conversations.transcripts import OWN
from analysis.metrics.asking import asking
from analysis.output.paper_layouts import SIDES
from analysis.report import Chart, Report, Section
from analysis.tables.schema import MessageTable

COLUMNS = {
    "asking_balance": "balance",
    "distance_to_people": "distance to people",
    "already_answered": "already answered",
}
FEWEST = 5  # conversations that a turn is told of
NOTE = (
    "Balance: turns that ask by turns that ask or answer; 1 only asks, 0 only answers. Distance: "
    "1-Wasserstein, between the balances of single conversations. Already answered: share of "
    "questions whose answer the other side had given. English rules of our own."
)


def convai2_asking(messages: MessageTable) -> Report:
    """Return the figures of each side, and asking by turn with its chart."""
    wide = _wide(asking(messages))
    finding = _finding(wide)
    turns = by_turn(asking_sides(messages))
    turns = turns[turns["conversations"] >= min(FEWEST, turns["conversations"].max())]
    found = [Section(finding, wide, NOTE), _by_turn(turns.assign(side=turns["side"].map(SIDES)))]
    return Report(
        name="convai2_asking",
        title="Asking and answering, and questions already answered",
        findings=(finding,),
        sections=tuple(each for each in found if len(each.frame)),
    )


def _wide(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (system, side), part in found.groupby(["system", "question"], sort=True):
        known = part.set_index("metric")
        row: dict[str, object] = {"system": system, "side": SIDES[str(side)]}
        row |= {name: known.loc[metric, "estimate"] for metric, name in COLUMNS.items()}
        row |= {end: known.loc["asking_balance", end] for end in ("low", "high")}
        rows.append(row | {"questions": known.loc["already_answered", "n"]})
    return pd.DataFrame(rows)


def _finding(wide: pd.DataFrame) -> str:
    own = wide[wide["side"] == SIDES[OWN]] if len(wide) else wide
    known = own.dropna(subset=["distance to people"]) if len(own) else own
    if known.empty:
        return "No conversation has a system that asks or answers beside people who do."
    far = known.sort_values(["distance to people", "system"], ascending=[False, True]).iloc[0]
    what = "asks more" if far["balance"] > 0.5 else "answers more"
    return (
        f"{far['system']} is furthest from how people ask and answer, by "
        f"{far['distance to people']:.2f}: it {what} (balance {far['balance']:.2f})."
    )


def _by_turn(turns: pd.DataFrame) -> Section:
    rows = [
        {"series": f"{row['system']}, {row['side']}", "name": "", "x": row["turn"]}
        | {"y": row["asks"], "joined": True}
        for row in turns.to_dict("records")
    ]
    drawn = Chart(kind="plane", rows=rows, axis="turn of the side", upright="share that ask")
    note = f"Shares of turns; turns that fewer than {FEWEST} conversations reached are left out."
    return Section("Asking and answering by turn", turns.reset_index(drop=True), note, chart=drawn)
