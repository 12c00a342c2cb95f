"""LambdaMART: boosted regression trees whose gradients count swaps by what they cost in nDCG.

Source: Burges 2010 ("From RankNet to LambdaRank to LambdaMART"), section 7; here each group has one
right candidate, its first, so that the ideal DCG is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor

Floats = np.ndarray


@dataclass(frozen=True)
class Trees:
    """Trees of one depth as arrays (tree, node); a leaf points to itself."""

    feature: np.ndarray
    threshold: Floats
    left: np.ndarray
    right: np.ndarray
    value: Floats

    def score(self, rows: Floats) -> Floats:
        """Return the sum of all trees' values for each row of features."""
        found = np.zeros(len(rows))
        everyone = np.arange(len(rows))
        for tree in range(len(self.feature)):
            found += self.value[tree][self.leaves(tree, rows, everyone)]
        return found

    def leaves(self, tree: int, rows: Floats, everyone: np.ndarray) -> np.ndarray:
        """Return the node at which each row ends."""
        nodes = np.zeros(len(rows), dtype=np.int64)
        while True:
            values = rows[everyone, self.feature[tree][nodes]]
            lower = values <= self.threshold[tree][nodes]
            following = np.where(lower, self.left[tree][nodes], self.right[tree][nodes])
            if (following == nodes).all():
                return nodes
            nodes = following

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all, to be saved."""
        return {f"trees.{name}": value for name, value in vars(self).items()}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Trees:
        """Return the inverse of `arrays`."""
        names = ("feature", "threshold", "left", "right", "value")
        return cls(*(arrays[f"trees.{name}"] for name in names))


@dataclass(frozen=True)
class Growth:
    """Number of trees, their depth, and the share of each that counts."""

    trees: int
    depth: int
    rate: float
    least: int = 5  # rows in a leaf


def fit(groups: Floats, growth: Growth, seed: int) -> Trees:
    """Learn from features (group, candidate, feature); the first of each group is right."""
    rows = groups.reshape(-1, groups.shape[2]).astype(np.float32)
    scores = np.zeros(groups.shape[:2])
    grown = []
    for _ in range(growth.trees):
        gradients, curvatures = lambdas(scores)
        tree = DecisionTreeRegressor(
            max_depth=growth.depth, min_samples_leaf=growth.least, random_state=seed
        )
        tree.fit(rows, gradients.ravel())
        leaves = tree.apply(rows)
        sums = np.bincount(leaves, gradients.ravel(), tree.tree_.node_count)
        values = growth.rate * sums / (np.bincount(leaves, curvatures.ravel(), len(sums)) + 1e-6)
        scores += values[leaves].reshape(scores.shape)
        grown.append((tree.tree_, values))
    return _stack(grown)


def lambdas(scores: Floats) -> tuple[Floats, Floats]:
    """Return each candidate's gradient and curvature: those of its swaps with the right one."""
    order = np.argsort(-scores, axis=1, kind="stable")
    indices = np.empty_like(order)
    np.put_along_axis(indices, order, np.arange(scores.shape[1])[None, :], axis=1)
    gains = 1 / np.log2(2 + indices)
    wrong = expit(scores[:, 1:] - scores[:, :1])
    cost = np.abs(gains[:, 1:] - gains[:, :1])
    pulls, curves = wrong * cost, wrong * (1 - wrong) * cost
    gradients = np.concatenate((pulls.sum(axis=1, keepdims=True), -pulls), axis=1)
    return gradients, np.concatenate((curves.sum(axis=1, keepdims=True), curves), axis=1)


def _stack(grown: list[tuple[object, Floats]]) -> Trees:
    most = max((len(values) for _, values in grown), default=1)
    shape = (len(grown), most)
    itself = np.tile(np.arange(most), (len(grown), 1))
    found = Trees(
        np.zeros(shape, np.int64), np.zeros(shape), itself.copy(), itself.copy(), np.zeros(shape)
    )
    for row, (tree, values) in enumerate(grown):
        inner = np.asarray(tree.children_left) >= 0  # type: ignore[attr-defined]
        nodes = np.flatnonzero(inner)
        found.feature[row, nodes] = tree.feature[inner]  # type: ignore[attr-defined]
        found.threshold[row, nodes] = tree.threshold[inner]  # type: ignore[attr-defined]
        found.left[row, nodes] = tree.children_left[inner]  # type: ignore[attr-defined]
        found.right[row, nodes] = tree.children_right[inner]  # type: ignore[attr-defined]
        found.value[row, : len(values)] = values
    return found
