"""Bradley-Terry: Agresti's two examples, food, and the 59 models of llmfao; wins and agreement."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons.bradley_terry import PairCounts, fit
from analysis.raters.alpha import alpha
from analysis.raters.votes import of_codes
from tests.analysis.examples import shared
from tests.analysis.golden.figures import Compared, NotOffered, Row, printed
from tests.analysis.matrices import against

OUTCOMES = ("left", "tie", "right")
# Ranking methods of evalica that no row of the specification asks for.
OTHERS = ("average_win_rate", "eigen", "elo", "newman", "pagerank")


def compared() -> Iterator[Row]:
    """Yield log-abilities and standard errors of the book, then the scores of evalica."""
    content = shared("pairwise_golden", "golden.json").read_text(encoding="utf-8")
    baseball, journals = json.loads(content)
    yield from _baseball(baseball)
    yield from _journals(journals)
    food = shared("pairwise_golden", "food.csv"), shared("pairwise_golden", "food_expected.csv")
    yield from _scored("food.csv", *map(pd.read_csv, food))
    votes = pd.read_csv(shared("llmfao_pairwise", "crowd-comparisons.csv"))
    expected = pd.read_csv(shared("llmfao_pairwise", "expected_scores.csv"))
    yield from _votes(votes)
    yield from _scored("llmfao", votes, expected)


def outcomes(votes: pd.DataFrame, names: list[str]) -> PairCounts:
    """Return how often each first system won, tied and lost against each second."""
    place = {name: k for k, name in enumerate(names)}
    tables = np.zeros((3, len(names), len(names)))
    columns = (votes[side].map(place).to_numpy() for side in ("left", "right"))
    np.add.at(tables, (votes["winner"].map(OUTCOMES.index).to_numpy(), *columns), 1)
    return PairCounts(*tables)


def _baseball(example: dict) -> Iterator[Compared]:  # type: ignore[type-arg]
    source = "Agresti 2002, baseball"
    names = sorted({game[0] for game in example["games"]})
    won, lost = np.zeros((7, 7)), np.zeros((7, 7))
    for home, away, wins, losses in example["games"]:
        won[names.index(home), names.index(away)] += wins
        lost[names.index(home), names.index(away)] += losses
    given = PairCounts(won, np.zeros((7, 7)), lost)
    for key in ("no_home", "with_home"):
        found = fit(given, order=key == "with_home")
        mean, se = against(found, names.index("Baltimore"))
        for k, name in enumerate(names):
            for what, ours, at in (("log ability", mean, 0), ("SE", se, 1)):
                value = example["computed"][key][name][at]
                yield Compared(source, f"{what} of {name}, {key}", value, float(ours[k]), 6e-5)
    yield from _at_home(source, example, dict(zip(names, found.shares, strict=True)), found)
    mean = np.sort(against(fit(given), names.index("Baltimore"))[0])
    for value, ours in zip(
        example["published"]["log_ability_vs_Baltimore_no_home_sorted"], mean[1:], strict=True
    ):
        yield printed(source, f"log ability printed as {value}", value, float(ours))


def _at_home(source: str, example: dict, shares: dict, found) -> Iterator[Compared]:  # type: ignore[no-untyped-def,type-arg]
    published, computed = example["published"], example["computed"]
    yield printed(source, "home advantage, published", published["home_advantage"], found.first)
    value, error = computed["home_advantage"]
    yield Compared(source, "home advantage", value, found.first, 6e-5)
    yield Compared(source, "its SE", error, found.first_se, 6e-5)
    for name, value in computed["normalised_abilities_with_home"].items():
        yield Compared(source, f"share of {name} at home", value, float(shares[name]), 6e-5)
    printed_shares = published["normalised_abilities_with_home_sorted"]
    for value, ours in zip(printed_shares, sorted(shares.values()), strict=True):
        yield Compared(source, f"share printed as {value}", value, float(ours), 6e-4)


def _journals(example: dict) -> Iterator[Compared]:  # type: ignore[type-arg]
    source = "Agresti 2002, journals"
    matrix = np.array(example["matrix"], dtype=float)
    np.fill_diagonal(matrix, 0)
    mean, se = against(fit(PairCounts(matrix, np.zeros_like(matrix), np.zeros_like(matrix))), 0)
    for k, name in enumerate(example["journals"]):
        value, error = example["computed"][name]
        yield Compared(source, f"log ability of {name}", value, float(mean[k]), 6e-5)
        yield Compared(source, f"SE of {name}", error, float(se[k]), 6e-5)
        if name in example["published"]["log_ability_vs_Biometrika"]:
            value = example["published"]["log_ability_vs_Biometrika"][name]
            yield Compared(source, f"published, {name}", value, float(mean[k]), 6e-5)


def _scored(source: str, votes: pd.DataFrame, expected: pd.DataFrame) -> Iterator[Row]:
    names = sorted(set(votes["left"]) | set(votes["right"]))
    counts = outcomes(votes, names)
    ours = {"bradley_terry": fit(counts.halved()).shares, "counting": counts.wins.sum(axis=1)}
    for method, found in ours.items():
        scores = expected[expected["algorithm"] == method].set_index("item")["score"]
        for k, name in enumerate(names):
            yield Compared(source, f"{method}, {name}", scores[name], float(found[k]), 1e-9)
    for method in OTHERS:
        rows = int((expected["algorithm"] == method).sum())
        why = "neither the specification nor the issue asks for it"
        yield NotOffered(source, f"{method}, {rows} scores", why)


def _votes(votes: pd.DataFrame) -> Iterator[Compared]:
    source = "llmfao"
    for winner, count in (("left", 2911), ("right", 2549), ("tie", 3471)):
        ours = float((votes["winner"] == winner).sum())
        yield Compared(source, f"votes for {winner}", count, ours, 0)
    unit, code = pd.factorize(votes["id"])[0], votes["winner"].map(OUTCOMES.index).to_numpy()
    ours = alpha(of_codes(unit, code, np.arange(3.0), "nominal"))
    yield printed(source, "alpha of the votes, nominal", 0.2906, ours)
