"""Answers of yes and no: labels of sensible and specific, personas told apart, votes of likely."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import special

from analysis.simulation.campaigns import Design, assigned, table
from analysis.simulation.panels import Judged, severities
from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable

# A reply that makes sense is less often specific than it is sensible.
SPECIFIC = -0.7


def detected(design: Design, chance: Generator) -> RatingTable:
    """Draw one right-or-wrong answer after every conversation."""
    who = assigned(design, chance)
    bias = severities(design, chance, int(who["rater"].max()) + 1)
    value = _yes(design.scores[who["system"]] + bias[who["rater"]], chance)
    found = table(who, value, design, chance, level="nominal")
    return RatingTable(found.assign(question="persona_detection"))


def likely(design: Design, chance: Generator) -> RatingTable:
    """Draw votes on whether a character (here a system) would say its utterances."""
    found = Judged("pool", "yes")(design, chance)
    return RatingTable(found.assign(question="likely"))


@dataclass(frozen=True)
class Labeled:
    """Draws whether replies are sensible, and specific where they are.

    Either a conversation's own person labels its messages, or five people vote on each reply.
    """

    static: bool

    def __call__(self, design: Design, chance: Generator) -> RatingTable:
        sensible, specific = (_static if self.static else _live)(design, chance)
        sensible = RatingTable(sensible.assign(question="sensible"))
        specific = specific.assign(question="specific", value=specific["value"] * sensible["value"])
        both = pd.concat([sensible, specific], ignore_index=True)
        return RatingTable(both.assign(answer=np.arange(len(both)).astype(str)))


def by_turn(design: Design, chance: Generator) -> RatingTable:
    """Draw yes or no for each message of conversations of 3 messages to `labels`.

    The odds drift with the turn. Every second entry of a log is the other side's.
    """
    who = assigned(design, chance)
    bias = severities(design, chance, int(who["rater"].max()) + 1)
    conversation = chance.normal(0, design.conversation_sd, len(who["system"]))
    length = chance.integers(3, design.labels + 1, len(conversation))
    judged = {name: np.repeat(column, length) for name, column in who.items()}
    turn = np.concatenate([np.arange(each) for each in length])
    odds = design.scores[judged["system"]] + bias[judged["rater"]] + np.repeat(conversation, length)
    judged["item"] = judged["conversation"] * design.labels + turn
    whole = replace(design, missing=0.0)
    value = _yes(odds + design.drift * turn, chance)
    found = table(judged, value, whole, chance, level="nominal")
    return RatingTable(found.assign(message_seq=2 * turn + 2))


def _static(design: Design, chance: Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    state = chance.bit_generator.state
    sensible = Judged("pool", "yes")(replace(design, missing=0.0), chance)
    # The same raters, replies and luck again, so that what is specific is sensible too.
    again = np.random.default_rng()
    again.bit_generator.state = state
    harder = replace(design, base=design.base + SPECIFIC, missing=0.0)
    specific = Judged("pool", "yes")(harder, again)
    return sensible, specific


def _live(design: Design, chance: Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    who = assigned(design, chance)
    bias = severities(design, chance, int(who["rater"].max()) + 1)
    conversation = chance.normal(0, design.conversation_sd, len(who["system"]))
    odds = np.repeat(
        design.scores[who["system"]] + bias[who["rater"]] + conversation, design.labels
    )
    judged = {name: np.repeat(column, design.labels) for name, column in who.items()}
    judged["place"] = np.tile(np.arange(design.labels), len(who["system"]))
    whole = replace(design, missing=0.0)
    sensible, specific = (
        table(judged, _yes(odds + harder, chance), whole, chance, level="nominal")
        for harder in (0.0, SPECIFIC)
    )
    return sensible, specific


def _yes(odds: Floats, chance: Generator) -> Floats:
    return np.asarray(chance.random(len(odds)) < special.expit(odds), dtype=float)
