"""Ranking of the systems on one question by the crossed model, and what it can tell.

Apart because the rule for ranks and ties is tested without a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.output import measured
from analysis.report import Chart, chance, many
from analysis.scores.allocation import TOO_LARGE

KEYS = ["protocol", "question"]
SCORE, PAIR = "system_score", "system_difference"
# Questions of yes and no whose shares have sections of their own.
OWN_SECTION = ("persona_detection", "human_accuracy", "sensibleness", "specificity")
# Scores less raw means that are told as an adjustment.
MOVED = 0.005
LOST_MUCH = "Of what systems were given a part brought no answer"
FOLLOWED = "Later items went to systems that were ahead"
DIRECTIONS = {"high": "", "low": "; low is better", "none": "; neither end is better"}
EFFECTS = {
    "rater_sd": "raters",
    "item_sd": "items",
    "context_sd": "contexts",
    "conversation_sd": "conversations",
    "rater_by_system_sd": "raters' tastes for single systems",
    "item_by_system_sd": "single replies",
}


@dataclass(frozen=True, eq=False)
class SystemRanking:
    """Systems from best to worst by score; `reason` is why they cannot be ordered, if so.

    `effects` are the random effects of the model whose variance is above 0, `variances` how these
    were estimated, and `control` is a system that is set apart.
    """

    protocol: str
    question: str
    frame: pd.DataFrame
    scale: str
    ends: tuple[float, float]
    effects: tuple[str, ...] = ()
    variances: str = ""
    reason: str | None = None
    control: str | None = None
    better: str = "high"
    alone: bool = True
    measured: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """Say who is first, or who cannot be told apart from the highest."""
        best, size = self.frame.iloc[0], len(self.frame)
        if size == 1:
            return f"{self.capital}: {best['system']} has {best['score']:.2f}"
        if self.reason is not None:
            return f"{self.capital}: {size} systems cannot be ordered: {self.reason}"
        if len(self.top) == 1 and self.better == "none":
            return f"{self.capital}: {best['system']} is highest with {best['score']:.2f}"
        if len(self.top) == 1:
            second = self.frame.iloc[1]["system"]
            start = f"{self.capital}: {best['system']} is first with {best['score']:.2f}"
            return f"{start}, above {second} with probability {chance(best['beats next'])}"
        if len(self.top) == size:
            named = "both systems" if size == 2 else many(size, "system")
            return f"{self.capital}: {named} cannot be told apart"
        *others, last = self.top
        end = "lowest" if self.better == "low" else "highest"
        return f"{self.capital}: {', '.join(others)} and {last} are {end}, not told apart"

    @property
    def top(self) -> list[str]:
        """The highest system and those that cannot be told apart from it, highest first."""
        if self.reason is not None:
            return []
        best = set(self.frame.iloc[0]["group"])
        rows = zip(self.frame["system"], self.frame["group"], strict=True)
        return [str(system) for system, letters in rows if best & set(letters)]

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
        return self.frame.set_index("system")["score"]

    @property
    def severity_removed(self) -> bool:
        """Whether scores differ from raw means for who rated which system."""
        gaps = (self.frame["score"] - self.frame["mean"]).abs()
        return "raters" in self.effects and bool((gaps > MOVED).any())

    def published(self, results: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the published calibration, the highest first; maybe none."""
        rows = _of(results, self.protocol, self.question)
        rows = rows[(rows["metric"] == "calibrated_score") & rows["estimate"].notna()]
        ordered = rows.sort_values(["estimate", "system"], ascending=[False, True])
        return ordered.reset_index(drop=True)

    @property
    def note(self) -> str:
        """Say which model the scores are of."""
        if self.reason is not None:
            start = f"Raw means; no interval: {self.reason}. Scale {self.scale}."
            return " ".join([start, *self.measured])
        return " ".join(self._notes())

    def _notes(self) -> Iterator[str]:
        of = f" with random effects of {listed(self.effects)}" if self.effects else ""
        yield f"Scores are of a linear model{of}, its variances by {self.variances}."
        if self.severity_removed:
            yield "Rater severity is removed between systems that different raters saw."
        if len(self.frame) > 1:
            yield "Systems of one group cannot be told apart (Holm, 5 % over all pairs)."
            yield "“beats next” is the probability to be above the next row."
        if self.control is not None:
            yield f"The control, {self.control}, is set apart."
        yield f"Scale {self.scale}{DIRECTIONS[self.better]}."
        yield from self.measured

    @property
    def chart(self) -> Chart:
        """Return the score of each system with its interval."""
        rows = [
            {"system": str(row["system"]), "series": "score", **_interval(row)}
            for row in self.frame.to_dict("records")
        ]
        low, high = self.ends
        axis = f"{self.question}, {low:g} to {high:g}"
        return Chart(kind="intervals", rows=rows, axis=axis, domain=self.ends)

    def matrix(self, results: pd.DataFrame) -> pd.DataFrame:
        """Return P(row beats column), in the order of the ranking."""
        order = [str(name) for name in self.frame["system"]]
        wins = _wins(_of(results, self.protocol, self.question))
        rows = [[None if a == b else wins.get((a, b)) for b in order] for a in order]
        table = pd.DataFrame(rows, columns=order, dtype=object)
        table.insert(0, "system", order)
        return table


def rankings(results: pd.DataFrame) -> tuple[SystemRanking, ...]:
    """Return the ranking of each question that has scores and no section of its own."""
    scores = results[results["metric"] == SCORE]
    shown = results[results["metric"].isin(OWN_SECTION)]
    own = set(zip(shown["protocol"], shown["question"], strict=True))
    own |= {(p, q) for p in set(_labels(results)) for q in ("sensible", "specific")}
    found = [
        _ranking(_of(results, str(protocol), str(question)), str(protocol), str(question))
        for (protocol, question), _ in scores.groupby(KEYS, sort=True)
        if (protocol, question) not in own
    ]
    alone = len({each.protocol for each in found}) < 2
    # A question may have been asked about the control only.
    return tuple(replace(each, alone=alone) for each in found if len(each.frame))


def _labels(results: pd.DataFrame) -> pd.Series:
    return results.loc[results["metric"] == "ssa", "protocol"]


def _ranking(results: pd.DataFrame, protocol: str, question: str) -> SystemRanking:
    rows = results[results["metric"] == SCORE]
    control = _known(rows, "control")
    frame = rows[rows["system"] != control] if control else rows
    tested = measured.columns(rows)
    wanted = ["system", "estimate", "low", "high", "raw", "letters", "n", *tested]
    names = {"estimate": "score", "raw": "mean", "letters": "group", **tested}
    frame = frame.reindex(columns=wanted).rename(columns=names)
    means = results.loc[results["metric"] == "likert"].reindex(columns=["system", "sd"])
    frame = frame.merge(means, on="system", how="left")
    better = _known(rows, "better") or "high"
    by = [better == "low", True]
    frame = frame.sort_values(["score", "system"], ascending=by, ignore_index=True)
    wins, order = _wins(results), [str(name) for name in frame["system"]]
    frame["beats next"] = [wins.get(pair) for pair in zip(order, [*order[1:], ""], strict=False)]
    row = rows.iloc[0]
    effects = tuple(word for name, word in EFFECTS.items() if name in rows and rows[name].any())
    ends = float(row["scale_low"]), float(row["scale_high"])
    scale = f"{ends[0]:g} to {ends[1]:g}, {row['scale_ends']}"
    reason = _known(rows, "reason")
    variances = _known(rows, "variances") or ""
    return SystemRanking(
        protocol, question, frame, scale, ends, effects, variances, reason, control, better,
        measured=(*measured.notes(rows), *lost_notes(rows)),
    )  # fmt: skip


def lost_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield by how much intervals are wider for what was lost, where that is much or unequal."""
    if "lost_off" in rows and (rows["lost_off"] > 0).any():
        yield (
            f"{LOST_MUCH}, so intervals are wider by up to {rows['lost_off'].max():.2f} at "
            "either end, as what is missing may have been rated by one SD lower, or higher."
        )


def looks_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield by how much errors of differences are wider, where allocation followed the scores."""
    if "looks" in rows and rows["looks"].notna().any():
        yield (
            f"{FOLLOWED}: {TOO_LARGE}, and their errors are "
            f"{rows['looks'].max():g} times as wide, as for two looks (Pocock 1977)."
        )


def _known(rows: pd.DataFrame, column: str) -> str | None:
    values = rows[column].dropna().tolist() if column in rows else []
    return str(values[0]) if values else None


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence has them: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _interval(row: Mapping[Any, Any]) -> dict[str, float | None]:
    values = {"estimate": row["score"], "low": row["low"], "high": row["high"]}
    return {name: None if pd.isna(value) else float(value) for name, value in values.items()}


def _wins(results: pd.DataFrame) -> dict[tuple[str, str], float]:
    rows = results[results["metric"] == PAIR]
    if rows.empty:
        return {}
    keys = list(zip(rows["system"], rows["other_system"], strict=True))
    above = dict(zip(keys, rows["above"].astype(float), strict=True))
    above |= {(b, a): 1 - p for (a, b), p in above.items()}
    low = (results.loc[results["metric"] == SCORE].get("better", pd.Series()) == "low").any()
    return {pair: 1 - p for pair, p in above.items()} if low else above


def _of(results: pd.DataFrame, protocol: str, question: str) -> pd.DataFrame:
    return results[(results["protocol"] == protocol) & (results["question"] == question)]
