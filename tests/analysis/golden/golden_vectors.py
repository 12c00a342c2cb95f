"""The test vectors of metrics.md outside section 7: automatic and persona metrics, aggregates.

What stands in `bots` and in `analysis` is shown for both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.conversations.descriptions import alpha
from analysis.conversations.salience import salience
from analysis.metrics.auc import auc
from analysis.metrics.distinct import distinct
from analysis.metrics.entropy import entropy
from analysis.metrics.likert import likert
from analysis.metrics.rank_score import rank_score
from analysis.metrics.repetition_rate import repetition_rate
from analysis.metrics.ssa import ssa
from analysis.metrics.word_f1 import word_f1
from analysis.stats.between_runs import over_repeats
from analysis.text import overlap
from analysis.text.semantic import distance, penalty
from bots.zoo.generative_profile_memory import salience as of_bots
from tests.analysis.examples import cell, labels, triples
from tests.analysis.golden.figures import Compared, printed
from tests.analysis.prediction_tables import estimate, predictions, said
from tests.analysis.preferring import preferring

TOY = "i am you to do and your is like"


def compared() -> Iterator[Compared]:
    """Yield every vector in the order of the file."""
    yield from _overlap()
    yield from _roc()
    yield from _diversity()
    yield from _personas()
    yield from _aggregates()


def _overlap() -> Iterator[Compared]:
    for one, other, expected in (
        (TOY, "I like to ski, and you?", 0.6667),
        ("the cat", "a cat", 1.0),
    ):
        ours = estimate(word_f1(said((one, other))), "word_f1")
        yield printed("metrics.md 1.2", f"F1 of {other!r}", expected, ours)
        ours = overlap.word_f1(one, [other])
        yield printed("metrics.md 1.2", f"F1 of {other!r}, the function", expected, ours)


def _roc() -> Iterator[Compared]:
    rows = [
        {"gold": "g", "response": "", "candidates": ["g", "a", "b"], "scores": [0.9, 0.8, 0.3]},
        {"gold": "h", "response": "", "candidates": ["h", "c", "d"], "scores": [0.4, 0.2, 0.1]},
    ]
    found = auc(predictions(rows), shares=(0.25, 0.5))
    for metric, expected in (("auc", 0.875), ("auc@0.25", 0.5), ("auc@0.5", 0.75)):
        yield Compared("metrics.md 1.4", metric, expected, estimate(found, metric), 1e-12)


def _diversity() -> Iterator[Compared]:
    two = said(("a b a", None), ("a b c", None))
    found = distinct(two)
    for metric, expected in (("distinct_1", 0.5), ("distinct_2", 0.5), ("of_ngrams", 0.75)):
        name = metric if metric != "of_ngrams" else "distinct_2_of_ngrams"
        yield Compared("metrics.md 3", name, expected, estimate(found, name), 1e-12)
    yield printed("metrics.md 3", "ent-2", 1.0397, estimate(entropy(two), "ent_2"))
    for reply, expected in (("a a b", 2.0), ("a b c", 1.0)):
        ours = estimate(repetition_rate(said((reply, "a b c"))), "repetition_rate")
        yield Compared("metrics.md 3", f"repetition rate of {reply!r}", expected, ours, 1e-12)
    one, other = np.array([1.0, 0.0]), np.array([0.3, np.sqrt(1 - 0.3**2)])
    ours = distance(one, other, penalty(4, 1))
    yield printed("metrics.md 3", "SS of L'=4, L''=1, cos=.3", 1.1852, ours)


def _personas() -> Iterator[Compared]:
    for rank, expected in ((1, 0.0675), (100, 0.10113), (1000, 0.13467)):
        yield Compared("metrics.md 5", f"alpha of rank {rank}", expected, alpha(rank), 5.1e-6)
        ours = of_bots.alpha(rank)
        yield Compared("metrics.md 5", f"alpha of rank {rank}, bots", expected, ours, 5.1e-6)
    table = salience({"A": ["i am here", "i am ok"], "B": ["you are here"]})
    for persona, expected in (("A", 0.51986), ("B", 0)):
        ours = table.score("i am here", persona)
        yield Compared("metrics.md 5", f"PTSal of {persona}", expected, ours, 5.1e-6)


def _aggregates() -> Iterator[Compared]:
    """Shares that print as 68 and 45 and a mean of 56; the SD of a share; rank scores."""
    votes = [("s", f"i{k}", "r", int(k < 68), int(k < 45)) for k in range(100)]
    found = {row["metric"]: row["estimate"] for row in ssa(labels(votes)).to_dict("records")}
    ours = float(found["ssa"])
    yield Compared("metrics.md 6", "SSA of .68 and .45, unrounded", 0.565, ours, 1e-12)
    flags = triples([(0, k, int(k < 95)) for k in range(100)])
    ours = float(likert(flags)["sd_population"].iloc[0])
    yield printed("metrics.md 6", "SD of a share of .95", 0.22, ours)
    orders = [(f"i{k}", f"j{j}", "ab", (1, 2) if j < 2 else (2, 1)) for k in range(200)
              for j in range(3)]  # fmt: skip
    scores = rank_score(preferring(orders)).set_index("system")
    yield printed("metrics.md 6", "largest SE of a rank score", 0.041, cell(scores, "a", "se"))
    four = [("x", "j", "abcd", (1, 2, 3, 4)), ("x", "k", "abcd", (4, 2, 1, 3))]
    total = float(rank_score(preferring(four))["estimate"].sum())
    yield Compared("metrics.md 6", "rank scores of 4 models add up to", 2.0, total, 1e-12)
    ours = over_repeats([1.0, 2.0, 3.0]).sd
    yield Compared("metrics.md 7.7", "sample SD over repeats of 1, 2, 3", 1.0, ours, 1e-12)
