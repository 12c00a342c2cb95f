"""Ranking of the systems on one question: raw beside calibrated, and how sure each step is.

Apart because the rule for ranks and ties is tested without a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.report import Chart, chance

KEYS = ["protocol", "question"]
SERIES = {
    "calibrated": ("calibrated", "low", "high"),
    "mean": ("mean", "mean low", "mean high"),
}


@dataclass(frozen=True, eq=False)
class SystemRanking:
    """Systems from best to worst by calibrated score, where there is one, else by mean."""

    protocol: str
    question: str
    frame: pd.DataFrame
    calibrated: str | None
    scale: str
    ends: tuple[float, float]
    alone: bool = True

    @property
    def pairs(self) -> str:
        """The metric that compares two systems on the same footing."""
        learned = self.calibrated == "calibrated_score_learned"
        return "win_probability_learned" if learned else "win_probability"

    @property
    def finding(self) -> str:
        """Say who is first, and how sure that is."""
        best = self.frame.iloc[0]
        start = f"{self.capital}: {best['system']} is first with {self.scores.iloc[0]:.2f}"
        if len(self.frame) == 1:
            return start.replace(" is first with ", " has ")
        if pd.isna(best["beats next"]):
            return f"{start} of {len(self.frame)} systems"
        second = self.frame.iloc[1]["system"]
        return f"{start}, above {second} with probability {chance(best['beats next'])}"

    @property
    def capital(self) -> str:
        """The question as a title begins."""
        name = self.question if self.alone else f"{self.protocol}, {self.question}"
        return name[:1].upper() + name[1:]

    @property
    def key(self) -> str:
        """Name of the ranking in addresses and files."""
        return self.question if self.alone else f"{self.protocol}-{self.question}"

    @property
    def scores(self) -> pd.Series:
        """Return the scores that the order is by."""
        name = "mean" if self.calibrated is None else "calibrated"
        return self.frame.set_index("system")[name]

    @property
    def note(self) -> str:
        how = f"Calibrated: rater bias removed ({self.calibrated}). " if self.calibrated else ""
        return f"{how}Scale {self.scale}. “beats next” is the probability to be above the next row."

    @property
    def chart(self) -> Chart:
        """Return both scores of each system with their intervals."""
        rows = [
            {"system": str(row["system"]), "series": name, **_interval(row, columns)}
            for row in self.frame.to_dict("records")
            for name, columns in SERIES.items()
            if pd.notna(row[columns[0]])
        ]
        low, high = self.ends
        axis = f"{self.question}, {low:g} to {high:g}"
        return Chart(kind="intervals", rows=rows, axis=axis, domain=self.ends)

    def matrix(self, results: pd.DataFrame) -> pd.DataFrame:
        """Return P(row beats column), in the order of the ranking."""
        order = [str(name) for name in self.frame["system"]]
        wins = _wins(results, self.pairs, self.protocol, self.question)
        rows = [[None if a == b else wins.get((a, b)) for b in order] for a in order]
        table = pd.DataFrame(rows, columns=order, dtype=object)
        table.insert(0, "system", order)
        return table


def rankings(results: pd.DataFrame) -> tuple[SystemRanking, ...]:
    """Return the ranking of each question that has a mean."""
    means = results[results["metric"] == "likert"]
    alone = means["protocol"].nunique() < 2
    return tuple(
        replace(_ranking(results, str(protocol), str(question), rows), alone=alone)
        for (protocol, question), rows in means.groupby(KEYS, sort=True)
    )


def _ranking(
    results: pd.DataFrame, protocol: str, question: str, means: pd.DataFrame
) -> SystemRanking:
    frame = means[["system", "estimate", "low", "high", "sd", "n"]]
    frame = frame.rename(columns={"estimate": "mean", "low": "mean low", "high": "mean high"})
    calibrated, scores = _calibrated(_of(results, protocol, question))
    frame = frame.merge(scores, on="system", how="left")
    by = "mean" if calibrated is None else "calibrated"
    frame = frame.sort_values([by, "system"], ascending=[False, True], ignore_index=True)
    row = means.iloc[0]
    ends = float(row["scale_low"]), float(row["scale_high"])
    ranking = SystemRanking(protocol, question, frame, calibrated, _scale(row), ends)
    frame["beats next"] = list(_beats_next(results, ranking))
    return ranking


def _scale(row: pd.Series) -> str:
    return f"{row['scale_low']:g} to {row['scale_high']:g}, {row['scale_ends']}"


def _interval(row: Mapping[Any, Any], columns: Sequence[str]) -> dict[str, float | None]:
    values = zip(("estimate", "low", "high"), (row[name] for name in columns), strict=True)
    return {name: None if pd.isna(value) else float(value) for name, value in values}


def _calibrated(rows: pd.DataFrame) -> tuple[str | None, pd.DataFrame]:
    """Return the calibrated scores whose assumptions hold, and the metric they are from."""
    published = rows[(rows["metric"] == "calibrated_score") & rows["estimate"].notna()]
    learned = rows[(rows["metric"] == "calibrated_score_learned") & rows["estimate"].notna()]
    warned = "note" in published and published["note"].notna().any()
    chosen = learned if warned and len(learned) else published
    names = {"estimate": "calibrated", "low": "low", "high": "high"}
    scores = chosen[["system", *names]].rename(columns=names)
    return (str(chosen["metric"].iloc[0]) if len(chosen) else None), scores


def _beats_next(results: pd.DataFrame, ranking: SystemRanking) -> Iterator[float | None]:
    wins = _wins(results, ranking.pairs, ranking.protocol, ranking.question)
    order = [str(name) for name in ranking.frame["system"]]
    for system, following in zip(order, [*order[1:], ""], strict=True):
        yield wins.get((system, following))


def _wins(
    results: pd.DataFrame, metric: str, protocol: str, question: str
) -> dict[tuple[str, str], float]:
    rows = _of(results, protocol, question)
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        return {}
    keys = zip(rows["system"], rows["other_system"], strict=True)
    return dict(zip(keys, rows["estimate"], strict=True))


def _of(results: pd.DataFrame, protocol: str, question: str) -> pd.DataFrame:
    return results[(results["protocol"] == protocol) & (results["question"] == question)]
