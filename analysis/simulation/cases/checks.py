"""Tests of single reports, on tables where there is nothing to find.

A control that nobody rates lower, blind judges who agree with the people who chatted, equal systems
of which the two lowest are compared, and scores that have nothing to do with ratings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.reports.convai2_blind import convai2_blind
from analysis.scores.standardizing import control_tests, standardized
from analysis.simulation.campaigns import Design, table
from analysis.simulation.panels import severities
from analysis.simulation.trials import Truth
from analysis.stats.correlation import Correlation, pearson, spearman
from analysis.stats.significance import t_test
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL, tidy

QUESTIONS = 5
EACH = 12


def many_questions(design: Design, chance: Generator) -> RatingTable:
    """Draw raters of twelve conversations each, of all systems, with five answers on each."""
    total = design.systems * design.conversations
    number = np.arange(total)
    rater, system = number // EACH, number % design.systems
    bias = severities(design, chance, int(rater.max()) + 1)
    felt = 3 + bias[rater] + chance.normal(0, design.conversation_sd, total)
    parts = []
    for question in range(QUESTIONS):
        value = np.clip(np.round(felt + chance.normal(0, design.noise, total)), 1, 5)
        who = {
            "system": system,
            "rater": rater,
            "conversation": number,
            "place": number * 0,
        }
        drawn = table(who, value, design, chance, level="ordinal", scale_low=1.0, scale_high=5.0)
        parts.append(drawn.assign(question=f"q{question}"))
    return RatingTable(pd.concat(parts, ignore_index=True))


def of_control(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return each rater's p of the control, read off one question and off all."""
    scored = standardized(drawn)
    control = str(drawn["system"].iloc[0])
    ways: dict[str, tuple[list[str], bool]] = {
        "one question": (["q0"], False),
        "five questions": ([], False),
        "five questions, by item": ([], True),
    }
    rows = [
        {"metric": way, "system": rater, "p": p}
        for way, (names, by_item) in ways.items()
        for rater, p in control_tests(scored, control, names, by_item=by_item).items()
    ]
    return tidy("", rows)


def twice(design: Design, chance: Generator) -> RatingTable:
    """Draw scores of people who chatted, and of two blind judges of the same conversations."""
    total = design.systems * design.conversations
    number = np.arange(total)
    good = (
        3
        + design.scores[number // design.conversations]
        + chance.normal(0, design.conversation_sd, total)
    )
    judges = {
        "chat": [f"w{k}" for k in number],
        "blind": ["a"] * total,
        "blind 2": ["b"] * total,
    }
    parts = []
    for protocol, rater in judges.items():
        value = np.clip(np.round(good + chance.normal(0, design.noise, total)), 1, 4)
        who = {
            "system": number // design.conversations,
            "rater": number,
            "conversation": number,
        }
        drawn = table({**who, "place": number * 0}, value, design, chance, level="ordinal")
        parts.append(drawn.assign(protocol=protocol, rater=rater, question="engaging"))
    return RatingTable(pd.concat(parts, ignore_index=True))


def of_blind(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p of each system that the report convai2_blind prints."""
    frame = convai2_blind(RatingTable(drawn)).sections[1].frame
    return tidy("convai2_blind", [{"system": one, "p": p} for one, p in _pairs(frame, "system")])


@dataclass(frozen=True)
class Scored:
    """Draws scores and ratings of all systems' replies to the same examples, with what they share.

    `related` is the correlation of examples' parts of both, which are half of either.
    """

    related: float = 0.0

    def __call__(self, design: Design, chance: Generator) -> pd.DataFrame:
        total = design.systems * design.conversations
        example = np.arange(total) // design.systems
        drawn = {"item": example.astype(str), "system": np.tile(design.names, design.conversations)}
        one, other = chance.normal(0, 1, (2, design.conversations))
        other = self.related * one + np.sqrt(1 - self.related**2) * other
        for name, common in (("x", one), ("y", other)):
            drawn[name] = common[example] + chance.normal(0, 1, total)
        return pd.DataFrame(drawn)

    def truth(self, design: Design) -> Truth:
        """Return both coefficients of normal pairs, as in `functions.truth_of_pairs`."""
        r = self.related / 2
        return {("pearson", ALL): r, ("spearman", ALL): 6 / np.pi * float(np.arcsin(r / 2))}


def of_lowest(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p of the two lowest systems' means, as the report thred_metrics has it."""
    parts = sorted((part["x"].to_numpy() for _, part in drawn.groupby("system")), key=np.mean)
    found = t_test(parts[0], parts[1])
    return tidy("lowest of four", [{"system": ALL, "p": found.p}])


def of_scorers(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p values that the report learned_metric adjusts."""
    columns = (drawn["x"], drawn["y"], drawn["item"])
    found = {"pearson": pearson(*columns), "spearman": spearman(*columns)}
    return tidy("", (_row(name, one) for name, one in found.items()))


def _row(name: str, found: Correlation) -> dict[str, object]:
    low, high = found.interval
    row = {"metric": name, "system": ALL, "question": "", "estimate": found.estimate}
    return {**row, "low": low, "high": high, "p": found.p}


def _pairs(frame: pd.DataFrame, name: str) -> list[tuple[str, float]]:
    return list(zip(frame[name].astype(str), frame["p"].astype(float), strict=True))
