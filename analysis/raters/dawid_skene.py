"""Dawid-Skene: true labels and each rater's errors, by EM (1979, Applied Statistics 28, 20-28).

Item i has the true category k with probability p_k; rater j then says l with probability e_jkl.
Started from the shares of votes, as in the paper, section 4; the E step is in logarithms, so that
items with many labels are no smaller than a number can be. Our own, because crowd-kit, the oracle
of the tests, needs transformers and nltk at run time. Apart because it is one published model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.raters.nominal_labels import Labels
from analysis.stats.intervals import Floats

MOST_STEPS = 2000
# EM stops when no probability of an item moves by more than this.
STILL = 1e-10
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """A fitted model: its parameters and each item's probabilities."""

    prevalence: Floats
    errors: Floats
    """raters × true category × category given; a row is 0 where a rater met no such item."""
    truth: Floats
    """items × categories: the probability that each is the true one."""
    log_likelihood: float
    steps: int

    @property
    def accuracy(self) -> Floats:
        """Return the probability that each rater's label is right, over the prevalence."""
        right = np.diagonal(self.errors, axis1=1, axis2=2)
        return np.asarray(right @ self.prevalence)


def dawid_skene(labels: Labels, most_steps: int = MOST_STEPS) -> DawidSkene:
    """Return the maximum likelihood fit that EM reaches from the shares of votes."""
    truth = labels.shares
    step = 0
    while step < most_steps:
        step += 1
        prevalence, errors = _maximized(labels, truth)
        before = truth
        truth, likelihood = _expected(labels, prevalence, errors)
        if np.abs(truth - before).max() < STILL:
            break
    return DawidSkene(prevalence, errors, truth, likelihood, step)


def _maximized(labels: Labels, truth: Floats) -> tuple[Floats, Floats]:
    size = labels.categories
    cells = labels.rater * size + labels.label
    columns = [
        np.bincount(cells, weights=truth[labels.item, k], minlength=labels.raters * size)
        for k in range(size)
    ]
    counts = np.stack(columns, axis=1).reshape(labels.raters, size, size).transpose(0, 2, 1)
    total = counts.sum(axis=2, keepdims=True)
    errors = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return truth.mean(axis=0), errors


def _expected(labels: Labels, prevalence: Floats, errors: Floats) -> tuple[Floats, float]:
    log_errors = np.log(np.maximum(errors[labels.rater, :, labels.label], SMALLEST))
    joint = labels.by_item(log_errors) + np.log(np.maximum(prevalence, SMALLEST))
    whole = special.logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - whole), float(whole.sum())
