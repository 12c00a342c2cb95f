"""Simulated campaigns whose truth is known: scores, severities, clusters and gaps.

Truth here is what a metric estimates: the mean rating that raters of this kind would give, or the
share of yes, with severities and conversations integrated out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import special

from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable

NODES = 61


@dataclass(frozen=True)
class Design:
    """A campaign: every rater has `each` conversations, with systems in turn.

    `severity`, `noise` and `conversation_sd` are SDs: of raters, of answers, of what a whole
    conversation shares. `missing` is the share of answers that are not there. `gap` lies between
    neighbors in the order of systems, around `base`. `taste` is the SD of a rater's liking of
    single systems. `raters_of_one` gives all of a rater's conversations to one system.
    """

    systems: int = 4
    conversations: int = 20
    each: int = 4
    severity: float = 0.7
    noise: float = 0.8
    conversation_sd: float = 0.5
    missing: float = 0.0
    gap: float = 0.3
    drift: float = 0.0
    labels: int = 8
    votes: int = 5
    base: float = 0.0
    taste: float = 0.0
    raters_of_one: bool = False

    @property
    def names(self) -> list[str]:
        """The systems, worst first."""
        return [f"system {k}" for k in range(self.systems)]

    @property
    def scores(self) -> Floats:
        """The systems' latent scores, around the base."""
        steps = np.arange(self.systems, dtype=float)
        return np.asarray(self.base + self.gap * (steps - steps.mean()), dtype=float)


POINTS = np.arange(1, 6)


def scale_truth(design: Design) -> dict[str, float]:
    """Return each system's mean rating on the scale of 1 to 5, rounding and ends included."""
    spread = float(np.hypot(design.severity, design.noise))
    edges = POINTS[:-1] + 0.5
    above = special.ndtr((3 + design.scores[:, None] - edges) / spread)
    return dict(zip(design.names, (1 + above.sum(axis=1)).tolist(), strict=True))


def share_truth(design: Design) -> dict[str, float]:
    """Return each system's share of yes among all raters and conversations."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    spread = float(np.hypot(design.severity, design.conversation_sd))
    shares = special.expit(design.scores[:, None] + spread * nodes) @ weights / weights.sum()
    return dict(zip(design.names, shares.tolist(), strict=True))


def scale(design: Design, chance: Generator) -> RatingTable:
    """Draw one rating of 1 to 5 for every conversation."""
    who = assigned(design, chance)
    bias = chance.normal(0, design.severity, int(who["rater"].max()) + 1)
    felt = 3 + design.scores[who["system"]] + bias[who["rater"]] + design.drift * who["place"]
    felt = felt + chance.normal(0, design.noise, len(felt))
    value = np.clip(np.round(felt), 1, 5)
    return table(who, value, design, chance, level="ordinal", scale_low=1.0, scale_high=5.0)


def labels(design: Design, chance: Generator) -> RatingTable:
    """Draw a yes or no for each of the messages of every conversation, by its one rater."""
    who = assigned(design, chance)
    bias = chance.normal(0, design.severity, int(who["rater"].max()) + 1)
    odds = design.scores[who["system"]] + bias[who["rater"]]
    odds = np.repeat(odds + chance.normal(0, design.conversation_sd, len(odds)), design.labels)
    value = (chance.random(len(odds)) < special.expit(odds)).astype(float)
    judged = {name: np.repeat(column, design.labels) for name, column in who.items()}
    judged["place"] = np.tile(np.arange(design.labels), len(who["system"]))
    return table(judged, value, design, chance, level="nominal")


def votes(design: Design, chance: Generator) -> RatingTable:
    """Draw votes of several raters for each of the systems' replies (a static evaluation)."""
    items = design.systems * design.conversations
    system = np.repeat(np.arange(design.systems), design.conversations * design.votes)
    item = np.repeat(np.arange(items), design.votes)
    pool = max(design.votes, items // 4)
    rater = np.concatenate([chance.choice(pool, design.votes, False) for _ in range(items)])
    bias = chance.normal(0, design.severity, pool)
    reply = chance.normal(0, design.conversation_sd, items)
    odds = design.scores[system] + bias[rater] + reply[item]
    value = (chance.random(len(odds)) < special.expit(odds)).astype(float)
    who = {"system": system, "rater": rater, "conversation": item, "place": item * 0}
    return table(who, value, design, chance, level="nominal")


def assigned(design: Design, chance: Generator) -> dict[str, np.ndarray]:
    """Return who talks with what: `conversations` of each system, `each` of each rater."""
    total = design.systems * design.conversations
    order = np.arange(total)
    if design.raters_of_one:
        system = order // design.conversations
        rater = order // design.each
        place = order % design.each
    else:
        rounds = -(-total // design.systems)
        system = np.concatenate([chance.permutation(design.systems) for _ in range(rounds)])
        rater = order // design.each
        place = order % design.each
    return {"system": system, "rater": rater, "conversation": order, "place": place}


def table(
    who: Mapping[str, np.ndarray],
    value: Floats,
    design: Design,
    chance: Generator,
    **common: object,
) -> RatingTable:
    """Return a rating table of who answered what, less the answers that are missing."""
    count = len(value)
    names = np.array(design.names)
    frame = pd.DataFrame(
        {
            "answer": np.arange(count).astype(str),
            "campaign": "simulation",
            "protocol": "simulation",
            "question": "q",
            "item": who["item"].astype(str) if "item" in who else _items(who),
            "system": names[who["system"]],
            "rater": np.char.add("r", who["rater"].astype(str)),
            "conversation": np.char.add("c", who["conversation"].astype(str)),
            "value": value,
            "place": who["place"],
            **common,
        }
    )
    kept = chance.random(count) >= design.missing
    return RatingTable(frame[kept].reset_index(drop=True))


def _items(who: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return what is judged: a conversation, or a message of one."""
    conversation = who["conversation"].astype(str)
    once = len(np.unique(who["conversation"])) == len(conversation)
    several = len(np.unique(who["rater"])) > 1 and (who["place"] == 0).all()
    return (
        conversation
        if once or several
        else np.char.add(np.char.add(conversation, "."), who["place"].astype(str))
    )
