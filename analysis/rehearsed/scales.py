"""Scales with a degraded control that good raters rate lower, and with careless raters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from analysis.rehearsed.panels import severities
from analysis.simulated import Design, assigned, table
from analysis.tables import RatingTable

CONTROL = "system 0"
WORSE = 1.5
CARELESS = 0.3


def with_control(design: Design, chance: Generator) -> RatingTable:
    """Draw ratings of which the first system's are far lower, but for raters who do not care."""
    who = assigned(design, chance)
    raters = int(who["rater"].max()) + 1
    careless = chance.random(raters) < CARELESS
    score = design.scores - WORSE * (np.arange(design.systems) == 0)
    felt = 3 + np.where(careless[who["rater"]], 0.0, score[who["system"]])
    felt = felt + severities(design, chance, raters)[who["rater"]]
    felt = felt + chance.normal(0, design.noise, len(felt))
    ends = {"scale_low": 1.0, "scale_high": 5.0}
    return table(who, np.clip(np.round(felt), 1, 5), design, chance, level="ordinal", **ends)


def uneven(design: Design, chance: Generator) -> RatingTable:
    """Draw one rating for every conversation, raters having some systems far more than others.

    Each rater has a system of their own, with half of their conversations; the others are drawn.
    """
    total = design.systems * design.conversations
    rater = np.arange(total) // design.each
    raters = int(rater.max()) + 1
    favorite = chance.permutation(np.arange(raters) % design.systems)[rater]
    drawn = chance.integers(0, design.systems, total)
    system = np.where(chance.random(total) < 0.5, favorite, drawn)
    felt = 3 + design.scores[system] + severities(design, chance, raters)[rater]
    value = np.clip(np.round(felt + chance.normal(0, design.noise, total)), 1, 5)
    who = {"system": system, "rater": rater, "conversation": np.arange(total)}
    who["place"] = np.arange(total) % design.each
    ends = {"scale_low": 1.0, "scale_high": 5.0}
    return table(who, value, replace(design, missing=0.0), chance, level="ordinal", **ends)
