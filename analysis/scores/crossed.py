"""Crossed model: fixed systems; random raters, items, conversations and tastes, fitted by REML.

y = X m + sum_k Z_k u_k + e, u_k ~ N(0, v_k), e ~ N(0, v_0); restricted maximum likelihood
(Patterson & Thompson 1971, Biometrika 58) by Fisher scoring (Searle, Casella & McCulloch 1992,
Variance Components, sections 6.6 and 8.3). All ratings are reduced to the span of X and Z, so that
an iteration costs the cube of the number of levels whatever the number of ratings; with more than
`MOST` levels variances are by moments (MINQUE with all weight on the residual, Rao 1971: the first
scoring step), scores are raw means, and the error of the variances is drawn.

A variance that fits best at 0 leaves the model, and degrees of freedom are Satterthwaite's for the
others (Giesbrecht & Burns 1985, Biometrics 41, 477-486; Kuznetsova et al. 2017, J. Statistical
Software 82). Variances below 0 would be exact in balanced designs, but where a few raters gave most
ratings equal systems were then called different in 11 % of campaigns, and so in 3 %.

Apart because the self-test and planning fit the same model to ratings that they draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

from analysis.freed_memory import give_back
from analysis.scores.incidence import RESIDUAL, Incidence, Ints, crossed
from analysis.stats.intervals import Floats

MOST = 400  # levels of all effects, for which likelihoods are computed
STEPS = 60
HALVINGS = 30
PRECISE = 1e-9
ROUNDING = 1e-12
VANISHED = 1e-7  # of the variance within systems: a residual below it is none
BALANCED = 1e-9  # the sum of a difference's weights
FEWEST, DRAWS = 16, 80
DRAWN = 4_000_000  # ratings, when there are many
TOGETHER = 1_000_000  # numbers drawn together at most: more need not be held at once


@dataclass(frozen=True, eq=False)
class CrossedFit:
    """Scores of the systems and all that their errors rest on.

    `is_likelihood` tells restricted maximum likelihood from moments; `parts[k]` is what a unit of
    variance k adds to the covariance of the scores, the residual first; `errors` is the covariance
    of the variances' estimates. `raised` multiplies errors of differences.
    """

    names: tuple[str, ...]
    variances: Floats
    mean: Floats
    covariance: Floats
    parts: Floats
    errors: Floats
    n: Floats
    is_likelihood: bool
    raised: float = 1.0

    @cached_property
    def sds(self) -> dict[str, float]:
        """SD of each effect and of the residual; 0 where the variance is not above rounding."""
        some = self.variances > ROUNDING * self.variances.sum()
        roots = np.sqrt(np.where(some, self.variances, 0.0))
        return dict(zip(self.names, roots.tolist(), strict=True))

    @property
    def spread(self) -> float:
        """SD of a rating of a system by a rater drawn at random."""
        return float(np.sqrt(max(float(self.variances.sum()), 0.0)))

    def se(self, contrast: Floats) -> float:
        """Return the standard error of a sum of scores so weighted."""
        factor = self.raised if abs(float(contrast.sum())) < BALANCED else 1.0
        return factor * float(np.sqrt(max(float(contrast @ self.covariance @ contrast), 0.0)))

    def df(self, contrast: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of the same, as many as n at most."""
        slope = np.einsum("i,kij,j->k", contrast, self.parts, contrast)
        spread = float(slope @ self.errors @ slope)
        most = float(self.n.sum())
        if spread <= 0:
            return most
        return float(np.clip(2 * (contrast @ self.covariance @ contrast) ** 2 / spread, 1.0, most))

    def of_pairs(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """Return `se` and `df` of many pairs of systems at once."""

        def between(matrix: Floats) -> Floats:
            own = np.diagonal(matrix, axis1=-2, axis2=-1)
            across = matrix[..., first, second] + matrix[..., second, first]
            return np.asarray(own[..., first] + own[..., second] - across)

        variance, slopes = between(self.covariance), between(self.parts)
        spread = np.einsum("kp,kl,lp->p", slopes, self.errors, slopes)
        most = float(self.n.sum())
        some = np.where(spread > 0, spread, 1.0)
        df = np.where(spread > 0, np.clip(2 * variance**2 / some, 1.0, most), most)
        return self.raised * np.sqrt(np.maximum(variance, 0.0)), df

    def times(self, factors: Floats) -> CrossedFit:
        """Return the fit of ratings that were each divided by their system's factor."""
        both = np.outer(factors, factors)
        # SDs are those of a system of medium factor.
        middle = float((self.n @ factors**2) / self.n.sum())
        return replace(
            self,
            variances=self.variances * middle,
            mean=self.mean * factors,
            covariance=self.covariance * both,
            parts=self.parts * both / middle,
            errors=self.errors * middle**2,
        )

    def one(self, system: int) -> Floats:
        """Return the contrast that is a system's own score."""
        return np.asarray(np.eye(len(self.mean))[system])

    def pair(self, system: int, other: int) -> Floats:
        """Return the contrast of one system less another."""
        return self.one(system) - self.one(other)


class CrossedDesign:
    """An incidence prepared once, for as many vectors of ratings as there are.

    Of many levels at most so many `draws` tell the errors of the variances, or the `forms` that
    were drawn of the same ratings in another order.
    """

    def __init__(
        self,
        incidence: Incidence,
        draws: int = DRAWS,
        forms: Callable[[], Floats] | None = None,
    ) -> None:
        self.incidence, self.draws, self._forms = incidence, draws, forms
        self.names = (RESIDUAL, *incidence.effects)
        self.levels = sum(incidence.levels)
        self._reduced = _Reduced(incidence) if self.levels <= MOST else None

    def fit(self, values: Floats) -> CrossedFit | None:
        """Return the fit; None where systems and levels explain all that varies."""
        own = self.incidence.n
        means = np.bincount(self.incidence.system, values) / own
        left = values - means[self.incidence.system]
        free = len(values) - len(own)
        scale = float(left @ left)
        if free < 1 or scale <= ROUNDING * (1 + float(values @ values)):
            return None
        scale /= free
        found = (
            self._moments(left / np.sqrt(scale))
            if self._reduced is None
            else self._reduced.fit(left / np.sqrt(scale))
        )
        if found is None:
            return None
        variances, gaps, parts, errors = found
        covariance = np.einsum("k,kij->ij", variances, parts)
        return CrossedFit(self.names, variances * scale, means + gaps * np.sqrt(scale),
                   covariance * scale, parts, errors * scale**2, own,
                   self._reduced is not None)  # fmt: skip

    def expected(self, variances: Floats) -> CrossedFit:
        """Return errors and degrees of freedom of scores where these are the true variances."""
        of = self.incidence
        if self._reduced is None:
            parts, errors = self._parts, self._errors(variances)
        else:
            size = self._reduced.x.shape[0]
            state = _State(self._reduced, variances, np.zeros(size), 0.0)
            _, _, parts, errors = state.found()
        covariance = np.einsum("k,kij->ij", variances, parts)
        return CrossedFit(self.names, variances, np.zeros(of.systems), covariance, parts, errors,
                   of.n, self._reduced is not None)  # fmt: skip

    # --- many levels --------------------------------------------------------------------------

    def _moments(self, left: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        variances = self._solved(left)
        gaps = np.zeros(self.incidence.systems)
        return variances, gaps, self._parts, self._errors(np.maximum(variances, 0))

    def _errors(self, variances: Floats) -> Floats:
        """Return the covariance of variances that are estimated where these are true."""
        roots = np.sqrt(variances)
        drawn = np.einsum("i,fijd,j->fd", roots, self._drawn, roots)
        return np.cov(self._variances(drawn))

    @cached_property
    def _parts(self) -> Floats:
        parts = [np.diag(1 / self.incidence.n)]
        for counts in self.incidence.by_system:
            share = counts / self.incidence.n
            parts.append(np.asarray((share.T @ share).todense()))
        return np.array(parts)

    def _solved(self, left: Floats) -> Floats:
        codes = self.incidence.effects.values()
        forms = [left @ left, *(float((np.bincount(one, left) ** 2).sum()) for one in codes)]
        return self._variances(np.array(forms))

    def _variances(self, forms: Floats) -> Floats:
        """Return the variances that quadratic forms of residuals come from, none below 0."""
        found = np.linalg.solve(self.incidence.equations, forms)
        return np.asarray(np.concatenate([found[:1], np.maximum(found[1:], 0.0)]))

    @cached_property
    def _drawn(self) -> Floats:
        return drawn_forms(self.incidence, self.draws) if self._forms is None else self._forms()


def drawn_forms(of: Incidence, most: int = DRAWS) -> Floats:
    """Return quadratic forms of residuals drawn with unit variances: form, effect, effect, draw.

    Forms of ratings with other variances are these, times both effects' SDs; so the ratings of a
    design are drawn once, however often it is fitted. There are as many draws as `most`, and fewer
    of many ratings.
    """
    give_back(of.ratings)
    chance = np.random.default_rng(0)
    draws = int(np.clip(DRAWN // of.ratings, FEWEST, most))
    forms, each = _Forms(of), max(1, TOGETHER // of.ratings)
    pieces = (min(each, draws - done) for done in range(0, draws, each))
    found = np.concatenate([forms.of(piece, chance) for piece in pieces], axis=-1)
    del forms
    give_back(of.ratings)
    return found


class _Forms:
    """Quadratic forms of residuals of noise and of what levels felt, a column per draw.

    Residuals are of systems' means. The first form is the sum of their squares, the others are
    those of sums by level; what is asked of noise and levels is small beside the ratings.
    """

    def __init__(self, of: Incidence) -> None:
        self.of_ratings, self.n, self.counts = of, of.n, of.by_system
        codes = list(of.effects.values())
        self.met = [
            [crossed(one, codes[m], of.levels[m]).astype(np.float32) for m in range(k + 1)]
            for k, one in enumerate(codes)
        ]

    def of(self, draws: int, chance: np.random.Generator) -> Floats:
        """Return the forms of so many draws of normal noise and of what each level felt."""
        of, n, counts = self.of_ratings, self.n, self.counts
        by = [(of.system, of.systems), *zip(of.effects.values(), of.levels, strict=True)]
        squares = np.empty(draws)
        sums_of_noise = [np.empty((size, draws)) for _, size in by]
        felt = [np.empty((size, draws)) for size in of.levels]
        for draw in range(draws):
            noise = chance.standard_normal(of.ratings)
            squares[draw] = noise @ noise
            for (codes, size), found in zip(by, sums_of_noise, strict=True):
                found[:, draw] = np.bincount(codes, noise, size)
            for values in felt:
                values[:, draw] = chance.standard_normal(len(values))
        of_noise = sums_of_noise[0] / n[:, None]
        of_felt = [one.T @ values / n[:, None] for one, values in zip(counts, felt, strict=True)]
        sums = [[one - own @ of_noise] for one, own in zip(sums_of_noise[1:], counts, strict=True)]
        for k, own in enumerate(counts):
            for m, both in enumerate(self.met[k]):
                sums[k].append(both @ felt[m] - own @ of_felt[m])
                if m < k:
                    sums[m].append(both.T @ felt[k] - counts[m] @ of_felt[k])
        whole = np.empty((len(felt) + 1, len(felt) + 1, draws))
        whole[0, 0] = squares - n @ of_noise**2
        for k, values in enumerate(felt):
            whole[k + 1] = [np.einsum("ld,ld->d", values, each) for each in sums[k]]
            whole[0, k + 1] = whole[k + 1, 0]
        of_levels = (
            [[np.einsum("ld,ld->d", one, other) for other in each] for one in each] for each in sums
        )
        return np.array([whole, *of_levels])


class _Reduced:
    """Ratings in an orthonormal basis of the span of systems and levels.

    With T = [X, Z] and T'T = U L U', the basis is T U / sqrt(L); then Z in it is sqrt(L) U'.
    """

    def __init__(self, of: Incidence) -> None:
        self.of = of
        blocks = [of.system, *of.effects.values()]
        columns = [_indicators(codes) for codes in blocks]
        self.whole = sparse.hstack(columns).tocsr()
        gram = np.asarray((self.whole.T @ self.whole).todense())
        values, vectors = scipy.linalg.eigh(gram)
        kept = values > 1e-9 * values[-1]
        roots = np.sqrt(values[kept])
        self.basis = vectors[:, kept] / roots
        inside = (vectors[:, kept] * roots).T
        self.x = inside[:, : of.systems]
        self.z = inside[:, of.systems :]
        self.starts = np.concatenate([[0], np.cumsum(of.levels)[:-1]]).astype(int)
        self.outside = of.ratings - len(roots)
        ends = [*self.starts[1:], self.z.shape[1]]
        self.blocks = [slice(a, b) for a, b in zip(self.starts, ends, strict=True)]
        self.products = [self.z[:, block] @ self.z[:, block].T for block in self.blocks]
        if not of.effects:
            self.blocks, self.products = [], []

    def fit(self, left: Floats) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Return variances, scores, what variances add to their covariance, and errors.

        None where no residual is left: its variance then goes to 0, and the likelihood has no end.
        """
        inside = self.basis.T @ (self.whole.T @ left)
        beyond = max(float(left @ left - inside @ inside), 0.0)
        at = np.zeros(len(self.blocks) + 1)
        at[0] = 1.0
        state = _State(self, at, inside, beyond)
        for _ in range(STEPS):
            moved = self._moved(state, inside, beyond)
            gain = moved.likelihood - state.likelihood
            state = moved
            if state.at[0] < VANISHED:
                return None
            if gain < PRECISE:
                break
        return state.found()

    def _moved(self, state: _State, inside: Floats, beyond: float) -> _State:
        """Return the state after a step of scoring, halved until the likelihood is no less.

        A variance that would fall below 0 stays there, as long as its score is not above 0.
        """
        free = state.free
        step = np.zeros(len(free))
        step[free] = np.linalg.solve(state.information[np.ix_(free, free)], state.score[free])
        for _ in range(HALVINGS):
            at = np.maximum(state.at + step, 0.0)
            if at[0] > state.at[0] / 10:
                moved = _State(self, at, inside, beyond)
                if moved.likelihood >= state.likelihood:
                    return moved
            step = step / 2
        return state


class _State:
    """Likelihood, score and expected information at given variances."""

    def __init__(self, of: _Reduced, at: Floats, inside: Floats, beyond: float) -> None:
        self.of, self.at, self.beyond = of, at, beyond
        whole = at[0] * np.eye(len(inside))
        for variance, product in zip(at[1:], of.products, strict=True):
            if variance > 0:
                whole += variance * product
        root = scipy.linalg.cholesky(whole, lower=True, check_finite=False)
        self.inverse = scipy.linalg.cho_solve((root, True), np.eye(len(inside)))
        self.weighted = self.inverse @ of.x
        self.covariance = np.linalg.inv(of.x.T @ self.weighted)
        self.mean = self.covariance @ (self.weighted.T @ inside)
        self.left = self.inverse @ inside - self.weighted @ self.mean
        information = np.linalg.slogdet(self.covariance)[1]
        self.likelihood = -0.5 * float(
            of.outside * np.log(at[0]) + beyond / at[0] + 2 * np.log(np.diag(root)).sum()
            - information + inside @ self.left
        )  # fmt: skip

    @cached_property
    def _projected(self) -> Floats:
        return np.asarray(self.inverse - self.weighted @ self.covariance @ self.weighted.T)

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        reached = self._projected @ self.of.z
        return reached, self.of.z.T @ reached

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Tell which variances are above 0, or want to be."""
        return np.asarray((self.at > 0) | (self.score > 0))

    @cached_property
    def score(self) -> Floats:
        noise, of, left = self.at[0], self.of, self.left
        first = (
            np.trace(self._projected) + of.outside / noise - left @ left - self.beyond / noise**2
        )
        found = [first]
        moved, diagonal = of.z.T @ left, np.diag(self._spread[1])
        found += [float((diagonal[b] - moved[b] ** 2).sum()) for b in of.blocks]
        return -0.5 * np.array(found)

    @cached_property
    def information(self) -> Floats:
        of, size = self.of, len(self.at)
        matrix = np.zeros((size, size))
        matrix[0, 0] = (self._projected**2).sum() + of.outside / self.at[0] ** 2
        reached, inner = self._spread
        for k, one in enumerate(of.blocks):
            matrix[0, k + 1] = matrix[k + 1, 0] = (reached[:, one] ** 2).sum()
            for m, other in enumerate(of.blocks[: k + 1]):
                matrix[k + 1, m + 1] = matrix[m + 1, k + 1] = (inner[one, other] ** 2).sum()
        return 0.5 * matrix

    def found(self) -> tuple[Floats, Floats, Floats, Floats]:
        weights = self.weighted @ self.covariance
        parts = [weights.T @ weights]
        parts += [weights.T @ product @ weights for product in self.of.products]
        errors = np.zeros_like(self.information)
        some = np.ix_(self.at > 0, self.at > 0)
        errors[some] = np.linalg.inv(self.information[some])
        return self.at, self.mean, np.array(parts), errors


def _indicators(codes: np.ndarray) -> sparse.csr_array:
    count = len(codes)
    shape = (count, int(codes.max()) + 1)
    return sparse.csr_array((np.ones(count), codes, np.arange(count + 1)), shape=shape)
