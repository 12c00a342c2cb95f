"""Boards of a response-selection track (A-DSTC7): DSTC7 task 1, by subtask and test set.

Source: Gunasekara et al. 2019 (NLP4CONVAI), tables 2 to 5 and section 3. A track score is the mean
of Recall@10 and MRR; teams stand by their average rank over the subtasks that they entered. A
dataset is named for its data, subtask and test set: "Advising 1", "Advising 1 initial". The first
Advising set overlaps its training data: an initial set is shown beside the final one and ranks
nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from analysis.metrics.recall import recall
from analysis.output.paper_layouts import printed
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable

INITIAL = "initial"
NAMED = re.compile(r"(?P<data>.+?) (?P<subtask>\d)(?: (?P<version>\S.*))?")
ROUNDED = 0.0011  # each figure has three decimals
RULE = "By the average rank over the subtasks entered; a blank was not entered, and is no rank."
NONE = "This table has no ranking of more than ten candidates."
SCORE = "track_score"


def dstc7_boards(predictions: PredictionTable, *, seed: int = 0) -> Report:
    """Return the board of one's own systems, both test sets, then the paper's and its slips."""
    found = recall(predictions, seed=seed)
    found = found[found["metric"] == SCORE]
    finding = NONE if found.empty else _finding(board(_wide(found)))
    return Report(
        name="dstc7_boards",
        title="Boards by subtask and test set",
        findings=(finding,),
        sections=(*_own(found, finding), *_of_print()),
    )


def board(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row per team, best average rank first; columns of `scores` are datasets.

    Equal scores share the better rank; teams of one average rank stay in their order.
    """
    counted = [name for name in scores.columns if not str(name).endswith(f" {INITIAL}")]
    ranks = scores[counted].rank(ascending=False, method="min")
    table = scores.assign(average=ranks.mean(axis=1)).rename_axis("team").reset_index()
    table = table.rename(columns={"average": "average rank"})
    order = table.sort_values("average rank", kind="stable", ignore_index=True)
    return order[["team", "average rank", *scores.columns]]


def _wide(found: pd.DataFrame) -> pd.DataFrame:
    sizes = found.groupby("protocol")["question"].transform("nunique")
    named = found["protocol"].where(sizes == 1, found["protocol"] + ", " + found["question"])
    return found.assign(named=named).pivot(index="system", columns="named", values="estimate")


def _finding(table: pd.DataFrame) -> str:
    ranked = table.dropna(subset=["average rank"])
    if ranked.empty:
        return "Nobody entered a final test set."
    first = ranked.iloc[0]
    return f"{first['team']} has the best average rank of {len(ranked)}: {first['average rank']:g}."


def _own(found: pd.DataFrame, finding: str) -> Iterator[Section]:
    if found.empty:
        return
    scores = _wide(found)
    yield Section(finding, board(scores).rename_axis(columns=None), RULE)
    versions = pd.DataFrame(list(_versions(scores)))
    if len(versions):
        yield Section(
            "Initial and final test sets", versions, "An initial set may overlap the training data."
        )
    yield Section(
        "Track scores",
        found[["protocol", "question", "system", "estimate", "low", "high", "n"]].rename(
            columns={"protocol": "dataset", "question": "candidates"}
        ),
        "Means over examples of (Recall@10 + reciprocal rank) / 2; intervals of 95 %.",
    )


def _versions(scores: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield a row per subtask and team that has an initial and a final score."""
    for name in map(str, scores.columns):
        named = NAMED.fullmatch(name)
        if named is None or named["version"] != INITIAL:
            continue
        finals = [f"{named['data']} {named['subtask']}{end}" for end in ("", " final")]
        for final in (each for each in finals if each in scores.columns):
            for team, row in scores[[name, final]].dropna().iterrows():
                yield {
                    **{"data": named["data"], "subtask": named["subtask"], "team": team},
                    **{"initial": row[name], "final": row[final], "loss": row[name] - row[final]},
                }


# --- the paper's ------------------------------------------------------------------------------


def _of_print() -> tuple[Section, ...]:
    scores = pd.DataFrame(list(reference("dstc7_boards").rows)).set_index("team")
    ours, slips = board(scores), pd.DataFrame(list(_slips(scores)))
    moved = [
        (before, after) for before, after in zip(scores.index, ours["team"], strict=True)
        if before != after
    ]  # fmt: skip
    order = ", ".join(f"{after} where the print has {before}" for before, after in moved)
    return (
        Section("The same rule on the printed scores", ours, f"{RULE} In the order: {order}."),
        Section(
            f"Printed figures that do not agree: {', '.join(slips['data and team'])}",
            slips,
            "A track score of table 2, and what Recall@10 and MRR of table 3 make of it.",
        ),
        printed("dstc7_boards"),
    )


def _slips(scores: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield the teams whose score in subtask 1 is not the mean of what table 3 prints."""
    for row in pd.DataFrame(list(reference("dstc7_systems").rows)).to_dict("records"):
        data, team = str(row["dataset"]).split()[0], row["team"]
        score, mean = scores[f"{data} 1"].to_dict()[team], (row["R@10"] + row["MRR"]) / 2
        if abs(score - mean) > ROUNDED:
            yield {
                **{"data and team": f"{data} {team}", "printed": score, "mean": mean},
                **{"R@10": row["R@10"], "MRR": row["MRR"], "MRR implied": 2 * score - row["R@10"]},
            }
