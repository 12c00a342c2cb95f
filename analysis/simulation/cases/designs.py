"""Rater designs: what the same number of ratings tells, by who judges which conversations.

One conversation per person; four with one system; four drawn unevenly, as where a link is shared;
each of the systems once, in balanced order; and half as many conversations with two people each, as
where others judge what was said. For each: how far raw and calibrated scores are from the truth,
how often the order is right, and whether agreement and the raters' SD are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.raters.alpha import alpha
from analysis.raters.ballots import ballots
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, sums
from analysis.simulation.campaigns import Design, assigned, scale_truth, table
from analysis.simulation.cases.orders import calibrated, learned, raw, unevenly
from analysis.tables.schema import RatingTable

Assign = Callable[[Design, Generator], dict[str, np.ndarray]]
WAYS = {"raw": raw, "calibrated": calibrated, "learned": learned}


def by_two(design: Design, chance: Generator) -> dict[str, np.ndarray]:
    """Return who judges half as many conversations, each by two raters who see all systems."""
    half = replace(design, conversations=design.conversations // 2)
    first, second = assigned(half, chance), assigned(half, chance)
    order = [np.argsort(who["system"], kind="stable") for who in (first, second)]
    who = {name: np.concatenate([first[name][order[0]], second[name][order[1]]]) for name in first}
    others = int(first["rater"].max()) + 1
    count = len(first["rater"])
    who["rater"] = who["rater"] + others * (np.arange(2 * count) >= count)
    return {**who, "conversation": np.tile(np.arange(count), 2)}


DESIGNS: dict[str, tuple[Assign, dict[str, Any]]] = {
    "one conversation per person": (assigned, {"each": 1}),
    "four with one system": (assigned, {"raters_of_one": True}),
    "four, systems unevenly": (unevenly, {}),
    "four systems, balanced": (assigned, {}),
    "four systems, two people per conversation": (by_two, {}),
}


def drawn(assign: Assign, design: Design, chance: Generator) -> RatingTable:
    """Draw a rating of 1 to 5 for everyone who judges a conversation; conversations differ too."""
    who = assign(design, chance)
    rater, conversation = who["rater"], who["conversation"]
    felt = 3 + design.scores[who["system"]]
    felt = felt + chance.normal(0, design.severity, int(rater.max()) + 1)[rater]
    felt = (
        felt + chance.normal(0, design.conversation_sd, int(conversation.max()) + 1)[conversation]
    )
    value = np.clip(np.round(felt + chance.normal(0, design.noise, len(felt))), 1, 5)
    who["item"] = conversation
    return table(who, value, design, chance, level="ordinal", scale_low=1.0, scale_high=5.0)


def compared(design: Design, campaigns: int, *, seed: int) -> Iterator[dict[str, object]]:
    """Yield a row per rater design: errors, orders, and what is defined."""
    for number, (name, (assign, changes)) in enumerate(DESIGNS.items()):
        one = replace(design, **changes)
        found = [_trial(assign, one, [seed + k, number]) for k in range(campaigns)]
        yield {"raters have": name, "conversations": design.conversations, "campaigns": campaigns,
               **_summary(found)}  # fmt: skip


def _trial(assign: Assign, design: Design, seed: Sequence[int]) -> dict[str, float]:
    ratings = drawn(assign, design, np.random.default_rng(list(seed)))
    (question,) = questions(ratings, "ordinal")
    noise = float(np.hypot(design.noise, design.conversation_sd))
    truth = scale_truth(replace(design, noise=noise))
    errors = {name: _error(way(question), truth) for name, way in WAYS.items()}
    orders = {f"{name} order": _ordered(way(question), design) for name, way in WAYS.items()}
    return {**errors, **orders, **_defined(question)}


def _error(scores: Any, truth: dict[str, float]) -> float:
    """Return the squared error of the systems' scores, each set around its mean."""
    estimates = np.array([scores[name] for name in truth])
    wanted = np.array(list(truth.values()))
    return float(np.mean((estimates - estimates.mean() - wanted + wanted.mean()) ** 2))


def _ordered(scores: Any, design: Design) -> float:
    return float((np.diff([scores[name] for name in design.names]) > 0).all())


def _defined(question: QuestionRatings) -> dict[str, float]:
    votes = ballots(question, question.rows).votes
    fitted = fit(sums(question))
    known = fitted is not None and fitted.separable
    return {
        "alpha": alpha(votes) if votes.undefined is None else float("nan"),
        "raters' SD": fitted.severity if fitted is not None and known else float("nan"),
    }


def _summary(found: Sequence[dict[str, float]]) -> dict[str, object]:
    trials = pd.DataFrame(found)
    row: dict[str, object] = {f"{name} rmse": float(np.sqrt(trials[name].mean())) for name in WAYS}
    row |= {f"{name} order": float(trials[f"{name} order"].mean()) for name in WAYS}
    for name in ("alpha", "raters' SD"):
        row[f"{name} defined"] = float(trials[name].notna().mean())
        row[f"mean {name}"] = float(trials[name].mean())
    return row
