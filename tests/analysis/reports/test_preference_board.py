"""The board of preferences: neighbors, ranks, and probes that fire on their own board only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from analysis import Report, get_report, rating_table
from analysis.comparisons.board import board
from analysis.comparisons.board_probes import curl, triples
from analysis.comparisons.preferences import compared
from analysis.scores.question_ratings import questions
from analysis.tables.schema import MessageTable, RatingTable
from tests.analysis.examples import SHARED
from tests.analysis.preferring import preferring

VOTES = SHARED / "llmfao_pairwise" / "crowd-comparisons.csv"
SYSTEMS, ROUND = 6, 5


@dataclass(frozen=True)
class Planted:
    """A board with one thing wrong; `style` has a covariate that may move votes or not.

    The third system ties in `ties` of its votes, and where that is often loses most others; the
    fourth is shown first to everybody where it `leads`.
    """

    votes: int = 3000
    raters: int = 150
    contexts: int = 300
    spread: float = 0.8
    first: float = 0.0
    style: float = 0.0
    circle: float = 0.0
    taste: float = 0.0
    resemblance: float = 0.0
    rigged: int = 0
    thin: bool = False
    uneven: bool = False
    ties: float = 0.1
    leads: bool = False

    def drawn(self, seed: int = 0) -> RatingTable:
        """Return the votes; a context is met by any pair, so that it is no pair's own."""
        chance = np.random.default_rng(seed)
        weight = np.ones(SYSTEMS)
        if self.thin:
            weight[-1] = 0.02
        if self.uneven:
            weight[2:] = 0.04
        merit = np.linspace(self.spread, -self.spread, SYSTEMS)
        likes = merit + chance.normal(0, self.taste, (self.raters, SYSTEMS))
        helps = chance.normal(0, self.resemblance, (self.contexts, SYSTEMS))
        acts, styles = [], []
        for k in range(self.votes):
            rater, context = int(chance.integers(self.raters)), int(chance.integers(self.contexts))
            one, two = chance.choice(SYSTEMS, 2, replace=False, p=weight / weight.sum())
            one, two = (two, one) if self.leads and two == 3 else (one, two)
            style = chance.normal(size=2)
            odds = likes[rater, one] - likes[rater, two] + helps[context, one] - helps[context, two]
            odds += self.first + self.style * (style[0] - style[1])
            if max(one, two) < ROUND:
                odds += self.circle * (1 if (two - one) % ROUND <= ROUND // 2 else -1)
            won = chance.random() < special.expit(odds)
            if k < self.rigged:
                rater, two = self.raters + k % 3, SYSTEMS - 1
                one, won = int(chance.integers(SYSTEMS - 1)), False
            places = self._places(won, (one, two), chance)
            shown = [f"s{one}", f"s{two}"]
            acts.append((f"{k}", f"r{rater}", shown, places))
            styles.append((f"c{context}", *style))
        table = preferring(acts)
        both = np.array([[row[1], row[2]] for row in styles]).ravel()
        named = np.repeat([row[0] for row in styles], 2)
        return RatingTable(table.assign(context=named, style_length=both))

    def _places(
        self, won: bool, pair: tuple[int, int], chance: np.random.Generator
    ) -> tuple[int, int]:
        often = self.ties if 2 in pair else 0.1
        if often > 0.1 and chance.random() < 0.9:
            won = pair[1] == 2
        return (1, 1) if chance.random() < often else (1, 2) if won else (2, 1)


def _frame(report: Report, key: str) -> pd.DataFrame:
    return next(each.frame for each in report.sections if each.key == f"{key}-q")


def _fired(table: RatingTable) -> list[str]:
    probes = _frame(get_report("preference_board")(table), "probes")
    return probes.loc[probes["fires"] == "yes", "probe"].tolist()


@pytest.mark.parametrize(
    ("planted", "fired"),
    [
        (Planted(), []),
        (Planted(first=0.4), ["order"]),
        (Planted(style=0.4), ["style: length"]),
        (Planted(circle=1.2, spread=0.1), ["circles"]),
        (Planted(taste=0.9), ["rater clusters"]),
        (Planted(resemblance=0.9), ["context clusters"]),
        (Planted(rigged=90), ["rigging"]),
        (Planted(thin=True), ["few comparisons"]),
        (Planted(uneven=True), ["uneven comparisons"]),
        (Planted(ties=0.8), ["tie rule"]),
        # What turns round without the order of showing is moved by it, so that both fire.
        (Planted(leads=True, first=2.5, spread=1.0, votes=6000), ["order", "order left out"]),
    ],
    ids=lambda one: "+".join(one) or "clean" if isinstance(one, list) else "",
)
def test_each_probe_fires_on_its_own_board_only(planted: Planted, fired: list[str]) -> None:
    assert _fired(planted.drawn()) == fired


def test_neighbors_far_apart_are_told_apart_and_equal_ones_are_not() -> None:
    report = get_report("preference_board")(Planted(spread=1.5).drawn(1))
    assert (_frame(report, "neighbors")["p"] < 0.05).all()
    ranks = _frame(report, "board")
    assert ranks["rank low"].tolist() == ranks["rank high"].tolist() == [1, 2, 3, 4, 5, 6]
    even = get_report("preference_board")(Planted(spread=0.0).drawn(2))
    assert (_frame(even, "neighbors")["p"] > 0.05).all()
    ranks = _frame(even, "board")
    assert (ranks["low at once"] <= ranks["rank low"]).all()
    assert (ranks["high at once"] >= ranks["rank high"]).all()


def test_circles_of_triples_are_counted_as_one_by_one() -> None:
    chance = np.random.default_rng(3)
    wins = chance.integers(0, 3, (7, 7)).astype(float)
    beats = wins > wins.T
    ways = list(permutations(range(7), 3))
    circles = sum(bool(beats[a, b] and beats[b, c] and beats[c, a]) for a, b, c in ways) / 3
    met = wins != wins.T
    whole = sum(bool(met[a, b] and met[b, c] and met[c, a]) for a, b, c in ways) / 6
    assert [float(each) for each in triples(wins)] == [circles, whole]


def test_the_curl_is_the_sum_over_triples() -> None:
    chance = np.random.default_rng(4)
    wins = np.triu(chance.integers(1, 9, (5, 5)), 1) + np.tril(chance.integers(1, 9, (5, 5)), -1)
    share = (wins - wins.T) / (wins + wins.T + np.eye(5))
    found = sum(
        (share[a, b] + share[b, c] + share[c, a]) ** 2 for a, b, c in combinations(range(5), 3)
    )
    assert float(curl(wins.astype(float))) == pytest.approx(found, rel=1e-5)


def test_words_of_conversations_are_a_style() -> None:
    table = Planted(votes=800).drawn()
    table = RatingTable(table.assign(conversation=[f"c{k}" for k in range(len(table))]))
    long = (table["value"] == 1) & (np.arange(len(table)) % 3 > 0)
    messages = MessageTable(
        pd.DataFrame(
            {
                "conversation": table["conversation"],
                "side": "bot",
                "text": np.where(long, "a much longer reply than that", "short"),
            }
        )
    )
    probes = _frame(get_report("preference_board")(table, messages), "probes").set_index("probe")
    assert probes.loc["style: words", "fires"] == "yes"
    assert probes.loc["style: length", "fires"] == "no"


def test_three_raters_have_no_board_of_intervals() -> None:
    table = Planted(votes=300, raters=3).drawn()
    report = get_report("preference_board")(table)
    assert report.findings[0] == "Q: no two systems can be told apart."
    assert "3 raters and" in report.sections[0].note
    assert "low" not in _frame(report, "board")


def test_who_never_lost_leaves_no_board() -> None:
    report = get_report("preference_board")(preferring([("1", "r", "ab", (1, 2))]))
    assert "there is no board" in report.findings[0]


@pytest.fixture(scope="module")
def llmfao() -> RatingTable:
    if not VOTES.is_file():
        pytest.skip("shared/data/llmfao_pairwise is not here")
    votes = pd.read_csv(VOTES)
    parts = []
    for place, side in enumerate(("left", "right")):
        worse = (votes["winner"] != side) & (votes["winner"] != "tie")
        parts.append(
            pd.DataFrame(
                {
                    "item": votes["id"].astype(str),
                    "rater": votes["worker"].astype(str),
                    "system": votes[side],
                    "value": np.where(worse, 2, 1),
                    "place": place,
                    "answer": votes.index.astype(str) + side,
                    "campaign": "llmfao",
                    "protocol": "llmfao",
                    "question": "q",
                    "level": "rank",
                }
            )
        )
    return rating_table(pd.concat(parts, ignore_index=True))


def test_59_models_on_real_votes(llmfao: RatingTable) -> None:
    """What arenakit 0.1.1 says of the same votes, resampling raters 2,000 times."""
    report = get_report("preference_board")(llmfao)
    neighbors = _frame(report, "neighbors")
    assert ((neighbors["p"] < 0.05).sum(), len(neighbors)) == (0, 58)
    probes = _frame(report, "probes").set_index("probe")
    assert probes.loc["order", "figure"] == pytest.approx(0.091, abs=5e-4)
    assert "the first shown wins 53.3% of decided votes" in str(probes.loc["order", "finding"])
    assert "510 of 5249 decided triples are circles, 9.7%" in str(probes.loc["circles", "finding"])
    assert probes.loc["rater clusters", "figure"] == pytest.approx(1.15, abs=0.02)


def test_ranks_drawn_by_raters_alone_are_as_wide_as_resampled_ones(llmfao: RatingTable) -> None:
    """Percentiles of drawn ranks: arenakit's median is 19; ours leave out what is clearly apart."""
    pairs = compared(next(questions(llmfao, "rank")))
    assert pairs is not None
    alone = board(replace(pairs, context=pairs.rater), order=False, seed=0)
    drawn = np.argsort(np.argsort(-(alone.fitted.mean + alone.drawn), axis=1), axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert np.median(np.ceil(high) - np.floor(low) + 1) == pytest.approx(19, abs=1)
