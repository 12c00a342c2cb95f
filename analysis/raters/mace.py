"""MACE: competence of raters who know or guess (Hovy et al. 2013, NAACL-HLT), by variational Bayes.

Rater j copies an item's true label with probability θ_j, and otherwise guesses by a strategy ξ_j
that does not look at the item. Priors are those of the authors' program: Beta(.5, .5) on θ, and a
symmetric Dirichlet(10) on ξ. The first start trusts all raters alike and guesses by the shares of
what they say; others are drawn from the seed, and the best likelihood is kept. Our own, because
crowd-kit, the oracle of the tests, needs transformers and nltk at run time. Apart because it is one
published model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.raters.nominal_labels import Labels
from analysis.stats.intervals import Floats

KNOWING_PRIOR = 0.5
STRATEGY_PRIOR = 10.0
STARTS = 5
MOST_STEPS = 500
STILL = 1e-10


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Each rater's assumed competence and guessing strategy; not normalized, as in VB."""

    knows: Floats
    guesses: Floats
    strategy: Floats
    """raters × categories."""


@dataclass(frozen=True, eq=False)
class Mace:
    """A fitted model: each rater's competence and each item's probabilities."""

    competence: Floats
    """The posterior mean of θ: how often a rater knows, between 0 and 1."""
    truth: Floats
    log_likelihood: float
    steps: int


def mace(labels: Labels, *, seed: int = 0, starts: int = STARTS) -> Mace:
    """Return the best of several fits."""
    rng = np.random.default_rng(seed)
    begun = [_common(labels), *(_drawn(labels, rng) for _ in range(starts - 1))]
    return max((fitted(labels, start) for start in begun), key=lambda fit: fit.log_likelihood)


def fitted(labels: Labels, start: Beliefs, steps: int = MOST_STEPS) -> Mace:
    """Return the fit that is reached from one start, after so many steps at most."""
    step, (truth, knowing, guessing, likelihood) = 0, _expected(labels, start)
    while step < steps:
        step, before = step + 1, truth
        truth, knowing, guessing, likelihood = _expected(labels, _updated(knowing, guessing))
        if np.abs(truth - before).max() < STILL:
            break
    known = knowing + KNOWING_PRIOR
    competence = known / (known + guessing.sum(axis=1) + KNOWING_PRIOR)
    return Mace(competence, truth, likelihood, step)


def _common(labels: Labels) -> Beliefs:
    shares = np.bincount(labels.label, minlength=labels.categories) / len(labels.label)
    half = np.full(labels.raters, 0.5)
    return Beliefs(half, half, np.tile(shares, (labels.raters, 1)))


def _drawn(labels: Labels, rng: np.random.Generator) -> Beliefs:
    knows = rng.uniform(0.3, 0.7, size=labels.raters)
    strategy = rng.dirichlet(np.full(labels.categories, STRATEGY_PRIOR), size=labels.raters)
    return Beliefs(knows, 1 - knows, strategy)


def _updated(knowing: Floats, guessing: Floats) -> Beliefs:
    guessed = guessing.sum(axis=1)
    total = special.digamma(knowing + guessed + 2 * KNOWING_PRIOR)
    all_guesses = special.digamma((guessing + STRATEGY_PRIOR).sum(axis=1))
    return Beliefs(
        np.exp(special.digamma(knowing + KNOWING_PRIOR) - total),
        np.exp(special.digamma(guessed + KNOWING_PRIOR) - total),
        np.exp(special.digamma(guessing + STRATEGY_PRIOR) - all_guesses[:, None]),
    )


def _expected(labels: Labels, now: Beliefs) -> tuple[Floats, Floats, Floats, float]:
    """Return items' probabilities, and how often each rater knew, and guessed each category."""
    guess = now.guesses[labels.rater] * now.strategy[labels.rater, labels.label]
    knows = now.knows[labels.rater]
    likelihood = np.repeat(np.log(guess)[:, None], labels.categories, axis=1)
    rows = np.arange(len(guess))
    likelihood[rows, labels.label] = np.log(guess + knows)
    joint = labels.by_item(likelihood) - np.log(labels.categories)
    whole = special.logsumexp(joint, axis=1, keepdims=True)
    truth = np.exp(joint - whole)
    # A label that is not the truth was guessed; one that is may have been either.
    knew = truth[labels.item, labels.label] * knows / (guess + knows)
    knowing = np.bincount(labels.rater, weights=knew).astype(float)
    cells = labels.rater * labels.categories + labels.label
    guessing = np.bincount(cells, weights=1 - knew, minlength=labels.raters * labels.categories)
    by_rater = guessing.astype(float).reshape(labels.raters, labels.categories)
    return truth, knowing, by_rater, float(whole.sum())
