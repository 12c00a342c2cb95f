"""Bradley-Terry on votes: counted by pair and solved by Newton, against a logistic regression.

    python -m tests.benchmarks.bradley_terry [--ratings 10000 100000 1000000] [--rounds 3]

20 systems, 200 raters, no ties, which a logistic regression has no place for. scikit-learn is given
its sparse rows ready made, without a penalty and with a tolerance at which it is as exact; choix
its list of pairs. Ours starts from the votes. Asked: 50 times scikit-learn, equal to 1e-6.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from analysis.comparisons.bradley_terry import fit
from analysis.comparisons.preferences import Compared
from tests.benchmarks.side_by_side import Answer, Pair, Task, main

SYSTEMS, RATERS = 20, 200
NAMES = tuple(f"s{k:02}" for k in range(SYSTEMS))
Votes = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def votes(count: int) -> Votes:
    """Return who was shown first and second, whether the first won, and who says so."""
    chance = np.random.default_rng(0)
    merit = np.linspace(-1, 1, SYSTEMS)
    first = chance.integers(SYSTEMS, size=count)
    second = (first + chance.integers(1, SYSTEMS, size=count)) % SYSTEMS
    won = chance.random(count) < 1 / (1 + np.exp(merit[second] - merit[first]))
    return first, second, won, chance.integers(RATERS, size=count)


def ours(count: int) -> Task:
    first, second, won, rater = votes(count)

    def task() -> Answer:
        found = Compared(NAMES, first, second, won.view(np.int8) * np.int8(2), rater, rater)
        return {"abilities": fit(found.counts()).mean.tolist()}

    return task


def scikit_learn(count: int) -> Task:
    from sklearn.linear_model import LogisticRegression

    first, second, won, _ = votes(count)
    row, one = np.arange(count), np.ones(count)
    entries = np.concatenate([one, -one]), (np.tile(row, 2), np.concatenate([first, second]))
    design = sparse.csr_matrix(entries, shape=(count, SYSTEMS))

    def task() -> Answer:
        model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000)
        found = model.fit(design, won).coef_[0]
        return {"abilities": (found - found.mean()).tolist()}

    return task


def choix(count: int) -> Task:
    import choix as package

    first, second, won, _ = votes(count)
    data = np.where(won[:, None], np.stack([first, second], 1), np.stack([second, first], 1))
    pairs = [tuple(pair) for pair in data.tolist()]

    def task() -> Answer:
        found = package.ilsr_pairwise(SYSTEMS, pairs, tol=1e-10)
        return {"abilities": (found - found.mean()).tolist()}

    return task


def apart(one: Answer, other: Answer) -> str:
    gap = np.abs(np.array(one["abilities"]) - np.array(other["abilities"])).max()
    return f"abilities {gap:.1e} apart"


PAIRS = {
    "Bradley-Terry": Pair(ours, scikit_learn, "scikit-learn", apart),
    "Bradley-Terry again": Pair(ours, choix, "choix", apart),
}

if __name__ == "__main__":
    main(__spec__.name, PAIRS, __doc__)
