"""Votes of several raters about each context, whose sizes do not follow from conversations.

A design has so many contexts for each pair of systems and so many raters of a pool for each
context; a rater likes systems (SD `taste`) and a context helps one of its two (`conversation_sd`),
both in log odds. A vote in seven is a tie, and order is by lot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import special

from analysis.comparisons import board_probes as probes
from analysis.comparisons.board import Board, board
from analysis.comparisons.bradley_terry import undefined
from analysis.comparisons.preferences import compared
from analysis.scores.question_ratings import questions
from analysis.simulation.campaigns import Design, table
from analysis.simulation.trials import Estimator, Truth
from analysis.simulation.truths import Even
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL, tidy

TIED = 0.15


@dataclass(frozen=True)
class Voting:
    """Votes about `conversations` contexts of each pair by `votes` raters of a pool each."""

    pool: int

    def __call__(self, design: Design, chance: Generator) -> RatingTable:
        pairs = np.array(list(combinations(range(design.systems), 2)))
        pair = np.repeat(pairs, design.conversations, axis=0)
        contexts = len(pair)
        rater = np.argsort(chance.random((contexts, self.pool)), axis=1)[:, : design.votes].ravel()
        context = np.repeat(np.arange(contexts), design.votes)
        likes = design.scores + chance.normal(0, design.taste, (self.pool, design.systems))
        one, two = pair[context].T
        odds = likes[rater, one] - likes[rater, two]
        odds = odds + chance.normal(0, design.conversation_sd, contexts)[context]
        won = chance.random(len(odds)) < special.expit(odds)
        value = np.column_stack([np.where(won, 1.0, 2.0), np.where(won, 2.0, 1.0)])
        value[chance.random(len(odds)) < TIED] = 1.0
        turned = (chance.random(len(odds)) < 0.5).astype(int)
        who = {
            "system": np.column_stack([one, two]).ravel(),
            "rater": np.repeat(rater, 2),
            "conversation": np.repeat(np.arange(len(odds)), 2),
            "item": np.repeat(context, 2),
            "place": np.column_stack([turned, 1 - turned]).ravel(),
        }
        return table(who, value.ravel(), design, chance, level="rank")


EQUAL = Design(gap=0.0, taste=0.3, conversation_sd=0.0)
DESIGNS: dict[str, tuple[Voting, Design]] = {
    "20 contexts a pair, 1 vote, 12 raters": (
        Voting(12), replace(EQUAL, conversations=20, votes=1)),
    "8 contexts a pair, 10 of 30 raters": (
        Voting(30), replace(EQUAL, conversations=8, votes=10)),
    "8 contexts a pair of SD 1, 10 of 30 raters": (
        Voting(30), replace(EQUAL, conversations=8, votes=10, conversation_sd=1.0)),
    "2 systems, 20 contexts of SD 1, 20 of 40 raters": (
        Voting(40), replace(EQUAL, systems=2, conversations=20, votes=20, conversation_sd=1.0)),
    "10 contexts a pair, the same 5 raters, taste .8": (
        Voting(5), replace(EQUAL, conversations=10, votes=5, taste=0.8)),
    "20 contexts a pair of SD .5, the same 4 raters, taste .5": (
        Voting(4), replace(EQUAL, conversations=20, votes=4, taste=0.5, conversation_sd=0.5)),
    "2 systems, 5 contexts of SD 1, 20 of 40 raters": (
        Voting(40), replace(EQUAL, systems=2, conversations=5, votes=20, conversation_sd=1.0)),
}  # fmt: skip
RANKED = replace(EQUAL, systems=6, conversations=8, votes=5, conversation_sd=0.5)
NULLS = {"win_rate": 0.5, "bradley_terry": 0.0, "plackett_luce": 0.0}


def intervals() -> Iterator[Estimator]:
    """Yield the intervals of preferences for each design, and those of ranks."""
    for scenario, (draw, design) in DESIGNS.items():
        for name, null in NULLS.items():
            yield Estimator(name, scenario, draw, design, Even(name, null), null=null)
    for gap in (0.1, 0.5):
        yield Estimator("board ranks", f"6 systems {gap} apart, 5 of 20 raters", Voting(20),
                        replace(RANKED, gap=gap), ranks_of, measure=_ranks)  # fmt: skip


def tests() -> Iterator[Estimator]:
    """Yield neighbors of equal systems, and the probes of a board with nothing to find."""
    for scenario, (draw, design) in DESIGNS.items():
        if design.systems > 2:
            yield Estimator("board neighbors", f"equal systems, {scenario}", draw, design,
                            tests=("p",), measure=_neighbors)  # fmt: skip
    clean = replace(RANKED, gap=0.3, taste=0.0, conversation_sd=0.0)
    yield Estimator("board probes", "nothing to find, 5 of 20 raters", Voting(20), clean,
                    tests=("p",), measure=_probes)  # fmt: skip


def ranks_of(design: Design) -> Truth:
    """Return the place of each system, 1 the best."""
    return {("board ranks", name): design.systems - k for k, name in enumerate(design.names)}


def _boards(drawn: pd.DataFrame, seed: int) -> Iterator[Board]:
    for question in questions(RatingTable(drawn), "rank"):
        pairs = compared(question)
        if pairs is not None and undefined(pairs.counts()) is None:
            yield board(pairs, order=True, seed=seed)


def _ranks(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    found = [each.ranks() for each in _boards(drawn, seed)]
    rows = (row for each in found for row in each.to_dict("records"))
    return tidy("board ranks", ({**_of(str(row["system"])), "estimate": row["rank"],
                "low": row["low"], "high": row["high"]} for row in rows))  # fmt: skip


def _neighbors(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the least p of all neighbors, which is what holds for all of them at once."""
    least = (float(each.neighbors()["p"].min()) for each in _boards(drawn, seed))
    return tidy("board neighbors", ({**_of(ALL), "p": p} for p in least))


def _probes(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    parts = []
    tested: tuple[Callable[[Board], probes.Probe], ...] = (
        probes.first_shown,
        probes.circles,
        lambda made: probes.rigged(made)[0],
        lambda made: _clustered(made, "rater", made.found.rater),
        lambda made: _clustered(made, "context", made.found.context),
    )
    for made in _boards(drawn, seed):
        for probe in (test(made) for test in tested):
            parts.append(tidy(f"board probes, {probe.name}", [{**_of(ALL), "p": probe.p}]))
    return pd.concat(parts, ignore_index=True)


def _clustered(made: Board, name: str, codes: np.ndarray) -> probes.Probe:
    return probes.clusters(made, name, codes, np.zeros(len(codes), dtype=bool))


def _of(system: str) -> dict[str, object]:
    return {"system": system, "question": ""}
