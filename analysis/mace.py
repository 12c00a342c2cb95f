"""Who knows and who guesses: MACE (Hovy et al. 2013, NAACL-HLT, 1120-1130), by variational Bayes.

Rater j copies an item's true label with probability θ_j, and otherwise guesses by a strategy ξ_j
that does not look at the item. Priors are those of the authors' program: Beta(.5, .5) on θ, and a
symmetric Dirichlet(10) on ξ. The first start trusts all raters alike and guesses by the shares of
what they say; others are drawn from the seed, and the best likelihood is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.intervals import Floats
from analysis.labels import Labels

KNOWING_PRIOR = 0.5
STRATEGY_PRIOR = 10.0
STARTS = 5
MOST_STEPS = 500
STILL = 1e-10


@dataclass(frozen=True, eq=False)
class Beliefs:
    """How far each rater is taken to know, and how each guesses; not normalized, as in VB."""

    knows: Floats
    guesses: Floats
    strategy: Floats
    """raters × categories."""


@dataclass(frozen=True, eq=False)
class Mace:
    """What was found: each rater's competence and each item's probabilities."""

    competence: Floats
    """The posterior mean of θ: how often a rater knows, between 0 and 1."""
    truth: Floats
    log_likelihood: float
    steps: int


def mace(given: Labels, *, seed: int = 0, starts: int = STARTS) -> Mace:
    """Return the best of several fits."""
    rng = np.random.default_rng(seed)
    begun = [_common(given), *(_drawn(given, rng) for _ in range(starts - 1))]
    return max((fitted(given, start) for start in begun), key=lambda fit: fit.log_likelihood)


def fitted(given: Labels, start: Beliefs, steps: int = MOST_STEPS) -> Mace:
    """Return the fit that is reached from one start, after so many steps at most."""
    step, (truth, knowing, guessing, likelihood) = 0, _expected(given, start)
    while step < steps:
        step, before = step + 1, truth
        truth, knowing, guessing, likelihood = _expected(given, _updated(knowing, guessing))
        if np.abs(truth - before).max() < STILL:
            break
    known = knowing + KNOWING_PRIOR
    competence = known / (known + guessing.sum(axis=1) + KNOWING_PRIOR)
    return Mace(competence, truth, likelihood, step)


def _common(given: Labels) -> Beliefs:
    shares = np.bincount(given.label, minlength=given.categories) / len(given.label)
    half = np.full(given.raters, 0.5)
    return Beliefs(half, half, np.tile(shares, (given.raters, 1)))


def _drawn(given: Labels, rng: np.random.Generator) -> Beliefs:
    knows = rng.uniform(0.3, 0.7, size=given.raters)
    strategy = rng.dirichlet(np.full(given.categories, STRATEGY_PRIOR), size=given.raters)
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


def _expected(given: Labels, now: Beliefs) -> tuple[Floats, Floats, Floats, float]:
    """Return items' probabilities, and how often each rater knew, and guessed each category."""
    guess = now.guesses[given.rater] * now.strategy[given.rater, given.label]
    knows = now.knows[given.rater]
    said = np.repeat(np.log(guess)[:, None], given.categories, axis=1)
    rows = np.arange(len(guess))
    said[rows, given.label] = np.log(guess + knows)
    joint = given.by_item(said) - np.log(given.categories)
    whole = special.logsumexp(joint, axis=1, keepdims=True)
    truth = np.exp(joint - whole)
    # A label that is not the truth was guessed; one that is may have been either.
    knew = truth[given.item, given.label] * knows / (guess + knows)
    knowing = np.bincount(given.rater, weights=knew).astype(float)
    cells = given.rater * given.categories + given.label
    guessing = np.bincount(cells, weights=1 - knew, minlength=given.raters * given.categories)
    by_rater = guessing.astype(float).reshape(given.raters, given.categories)
    return truth, knowing, by_rater, float(whole.sum())
