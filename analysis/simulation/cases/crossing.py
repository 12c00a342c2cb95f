"""Crossed designs: who rates which items of which systems, and what raters and items share.

One row per design in which differences that leave out items, tastes or raters do not hold: panels
and pools on replies, contexts shared by all systems, few raters with tastes, raters of one system,
wide scales, yes and no. Truth is the mean of the rounded, clipped normal of the total SD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy import special

from analysis.simulation.campaigns import Design, table
from analysis.simulation.trials import Estimator, Truth
from analysis.tables.schema import RatingTable

SCORE, DIFFERENCE = "system_score", "system_difference"
# System, rater and item of each rating.
Who = tuple[np.ndarray, np.ndarray, np.ndarray]


def everyone(design: Design, chance: Generator) -> Who:
    """`each` raters have as many conversations with every system."""
    system, number = np.divmod(np.arange(design.systems * design.conversations),
                               design.conversations)  # fmt: skip
    return system, number % design.each, np.arange(len(system))


def of_one(design: Design, chance: Generator) -> Who:
    """`each` raters for every system, who rate no other."""
    system, rater, item = everyone(design, chance)
    return system, system * design.each + rater, item


def uneven(design: Design, chance: Generator) -> Who:
    """One of `each` raters gives half of all ratings, the others the rest at random."""
    system, _, item = everyone(design, chance)
    other = 1 + chance.integers(0, design.each - 1, len(system))
    return system, np.where(chance.random(len(system)) < 0.5, 0, other), item


def replies(design: Design, chance: Generator) -> Who:
    """`votes` of `each` raters judge each of a system's replies."""
    items = design.systems * design.conversations
    item = np.repeat(np.arange(items), design.votes)
    rater = np.concatenate([chance.choice(design.each, design.votes, False) for _ in range(items)])
    return item // design.conversations, rater, item


def contexts(design: Design, chance: Generator) -> Who:
    """`votes` of `each` raters judge every system's reply to the same context."""
    drawn = [chance.choice(design.each, design.votes, False) for _ in range(design.conversations)]
    item = np.repeat(np.arange(design.conversations), design.systems * design.votes)
    system = np.tile(np.repeat(np.arange(design.systems), design.votes), design.conversations)
    return system, np.concatenate([np.tile(one, design.systems) for one in drawn]), item


@dataclass(frozen=True)
class Crossing:
    """Ratings from `low` to `high` by whoever `who` says; items' SD is `conversation_sd`."""

    who: Callable[[Design, Generator], Who]
    low: int = 1
    high: int = 5

    def __call__(self, design: Design, chance: Generator) -> RatingTable:
        system, rater, item = self.who(design, chance)
        raters = int(rater.max()) + 1
        felt = (self.low + self.high) / 2 + design.scores[system]
        felt = felt + chance.normal(0, design.severity, raters)[rater]
        felt += chance.normal(0, design.taste, (raters, design.systems))[rater, system]
        felt += chance.normal(0, design.conversation_sd, int(item.max()) + 1)[item]
        felt += chance.normal(0, design.noise, len(felt))
        value = np.clip(np.round(felt), self.low, self.high)
        who = {"system": system, "rater": rater, "item": item, "place": item * 0}
        ends = {"scale_low": float(self.low), "scale_high": float(self.high)}
        level = "nominal" if (self.low, self.high) == (0, 1) else "ordinal"
        return table(who | {"conversation": np.arange(len(item))}, value, design, chance,
                     level=level, **ends)  # fmt: skip

    def truth(self, design: Design) -> Truth:
        """Return each system's mean rating, under the names of score and difference."""
        parts = (design.severity, design.taste, design.conversation_sd, design.noise)
        edges = np.arange(self.low, self.high) + 0.5
        felt = (self.low + self.high) / 2 + design.scores[:, None]
        above = special.ndtr((felt - edges) / float(np.linalg.norm(parts)))
        means = (self.low + above.sum(axis=1)).tolist()
        return {
            (metric, name): mean
            for name, mean in zip(design.names, means, strict=True)
            for metric in (SCORE, DIFFERENCE)
        }


CHAT = {"conversation_sd": 0.0}
WIDE = {"severity": 1.5, "noise": 1.9, **CHAT}
DESIGNS: dict[str, tuple[Crossing, dict[str, float]]] = {
    "20 raters see every system once": (Crossing(everyone), {"each": 20, **CHAT}),
    "20 raters, 10 % missing": (Crossing(everyone), {"each": 20, "missing": 0.1, **CHAT}),
    "20 raters of one system each": (Crossing(of_one), {"each": 5, **CHAT}),
    "3 raters see every system": (Crossing(everyone), {"each": 3, **CHAT}),
    "1 of 20 raters gives half": (Crossing(uneven), {"each": 20, **CHAT}),
    "20 raters at the ceiling": (Crossing(everyone), {"each": 20, "base": 1.5, **CHAT}),
    "the same 5 raters judge all replies": (Crossing(replies), {"each": 5, "votes": 5}),
    "5 of 20 raters judge a reply": (Crossing(replies), {"each": 20, "votes": 5}),
    "the same 3 raters, unlike replies": (
        Crossing(replies), {"each": 3, "votes": 3, "conversation_sd": 0.8}),
    "contexts, 3 of 12 raters judge all replies": (
        Crossing(contexts), {"each": 12, "votes": 3}),
    "3 raters with tastes": (Crossing(everyone), {"each": 3, "taste": 0.5, **CHAT}),
    "5 raters with tastes": (Crossing(everyone), {"each": 5, "taste": 0.5, **CHAT}),
    "10 raters with tastes": (Crossing(everyone), {"each": 10, "taste": 0.5, **CHAT}),
    "one rater per system": (Crossing(of_one), {"each": 1, **CHAT}),
    "two raters per system": (Crossing(of_one), {"each": 2, **CHAT}),
    "7 points": (Crossing(everyone, 1, 7), {"each": 20, "severity": 1.0, "noise": 1.7, **CHAT}),
    "10 points": (Crossing(everyone, 1, 10), {"each": 20, **WIDE}),
    "101 points": (
        Crossing(everyone, 0, 100), {"each": 20, "severity": 15.0, "noise": 20.0, **CHAT}),
    "yes or no, 20 raters": (
        Crossing(everyone, 0, 1), {"each": 20, "severity": 0.4, "noise": 1.0, **CHAT}),
    "yes or no, 5 of 20 raters judge a reply": (
        Crossing(replies, 0, 1), {"each": 20, "votes": 5, "severity": 0.4, "noise": 0.8}),
}  # fmt: skip


def crossing(design: Design) -> Iterator[Estimator]:
    """Yield scores and differences of every design, systems equal; some a gap apart."""
    for scenario, (draw, changes) in DESIGNS.items():
        varied = replace(design, gap=0.0, **changes)  # type: ignore[arg-type]
        for name, found in ((SCORE, ()), (DIFFERENCE, ("p", "p_holm"))):
            yield Estimator(name, f"equal, {scenario}", draw, varied, draw.truth, found)
