"""Tests that single reports print, on tables where there is nothing to find.

A control that nobody rates lower, blind judges who agree with the people who chatted, equal systems
of which the two lowest are compared, and scores that have nothing to do with ratings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.correlation import Correlation, pearson, spearman
from analysis.rehearsed.panels import severities
from analysis.rehearsed.trials import Truth
from analysis.reports.convai2_blind import convai2_blind
from analysis.significance import t_test
from analysis.simulated import Design, table
from analysis.standardizing import control_tests, standardized
from analysis.tables import RatingTable
from analysis.tidy import ALL, tidy

QUESTIONS = 5
EACH = 12


def asked_much(design: Design, chance: Generator) -> RatingTable:
    """Draw raters of twelve conversations each, of all systems, with five answers on each."""
    total = design.systems * design.conversations
    talk = np.arange(total)
    rater, system = talk // EACH, talk % design.systems
    bias = severities(design, chance, int(rater.max()) + 1)
    felt = 3 + bias[rater] + chance.normal(0, design.talk, total)
    parts = []
    for question in range(QUESTIONS):
        value = np.clip(np.round(felt + chance.normal(0, design.noise, total)), 1, 5)
        who = {"system": system, "rater": rater, "conversation": talk, "place": talk * 0}
        drawn = table(who, value, design, chance, level="ordinal", scale_low=1.0, scale_high=5.0)
        parts.append(drawn.assign(question=f"q{question}"))
    return RatingTable(pd.concat(parts, ignore_index=True))


def of_control(given: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return each rater's p of the control, read off one question and off all."""
    scored = standardized(given)
    control = str(given["system"].iloc[0])
    ways: dict[str, tuple[list[str], bool]] = {
        "one question": (["q0"], False),
        "five questions": ([], False),
        "five questions, by item": ([], True),
    }
    rows = [
        {"metric": said, "system": rater, "p": p}
        for said, (asked, by_item) in ways.items()
        for rater, p in control_tests(scored, control, asked, by_item=by_item).items()
    ]
    return tidy("", rows)


def twice(design: Design, chance: Generator) -> RatingTable:
    """Draw scores of people who chatted, and of two blind judges of the same conversations."""
    total = design.systems * design.conversations
    talk = np.arange(total)
    good = 3 + design.scores[talk // design.conversations] + chance.normal(0, design.talk, total)
    judges = {"chat": [f"w{k}" for k in talk], "blind": ["a"] * total, "blind 2": ["b"] * total}
    parts = []
    for protocol, rater in judges.items():
        value = np.clip(np.round(good + chance.normal(0, design.noise, total)), 1, 4)
        who = {"system": talk // design.conversations, "rater": talk, "conversation": talk}
        drawn = table({**who, "place": talk * 0}, value, design, chance, level="ordinal")
        parts.append(drawn.assign(protocol=protocol, rater=rater, question="engaging"))
    return RatingTable(pd.concat(parts, ignore_index=True))


def of_blind(given: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p of each system that the report convai2_blind prints."""
    frame = convai2_blind(RatingTable(given)).sections[1].frame
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


def of_lowest(given: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p of the two lowest systems' means, as the report thred_metrics has it."""
    parts = sorted((part["x"].to_numpy() for _, part in given.groupby("system")), key=np.mean)
    found = t_test(parts[0], parts[1])
    return tidy("lowest of four", [{"system": ALL, "p": found.p}])


def of_scorers(given: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p values that the report learned_metric adjusts."""
    columns = (given["x"], given["y"], given["item"])
    found = {"pearson": pearson(*columns), "spearman": spearman(*columns)}
    return tidy("", (_row(name, one) for name, one in found.items()))


def _row(name: str, found: Correlation) -> dict[str, object]:
    low, high = found.interval
    row = {"metric": name, "system": ALL, "question": "", "estimate": found.estimate}
    return {**row, "low": low, "high": high, "p": found.p}


def _pairs(frame: pd.DataFrame, name: str) -> list[tuple[str, float]]:
    return list(zip(frame[name].astype(str), frame["p"].astype(float), strict=True))
