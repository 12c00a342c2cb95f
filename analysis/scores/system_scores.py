"""System scores of one question by the crossed model: means, differences, ranks, or why not.

The model behind the headline of scales and of yes and no (`analysis.scores.crossed`). Answers of
yes and no are a linear probability model with each system's own binomial spread: its answers are
divided by sqrt(p (1 - p)), fitted, and multiplied again. Differences have no
smaller errors than shares with half a yes and half a no more would have (Brown & Li 2005, J.
Statistical Planning and Inference 130, 359-375): with 20 answers per system, nine tenths of them
yes, intervals held .92 without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores import crossed
from analysis.scores.allocation import LOOKS, allowed_losses, follows_scores
from analysis.scores.crossed import CrossedFit
from analysis.scores.differences import Difference
from analysis.scores.incidence import (
    Incidence,
    Ints,
    distinct,
    identified,
    of_identified,
)
from analysis.scores.question_ratings import QuestionRatings, declared_ends
from analysis.scores.rater_design import SEVERITY_BY
from analysis.stats.intervals import LEVEL, NONE, Floats, Interval, t_interval
from analysis.stats.letters import letters
from analysis.stats.significance import holm

SIMULATED_AS = ("system_score", "system_difference")

RATER, ITEM = "rater", "item"
TASTE, REPLY = "rater by system", "item by system"
MIXED = {TASTE: RATER, REPLY: ITEM}
COLUMNS = (RATER, ITEM, "context", "conversation")
DRAWS = 20_000
SCORED_DESIGN = "scored design"
NO_RESIDUAL = "systems, raters and items explain every rating, so no interval"
ONE_RATER = (
    "all ratings are one rater's, so what this rater likes cannot be told from quality; "
    "a second rater of all systems would tell"
)
ONE_RATER_EACH = (
    "all ratings of a system are one rater's, so a severe rater cannot be told from a poor system; "
    f"{SEVERITY_BY} them apart"
)
ONE_EACH = (
    "all ratings of a system are of one {}, so a hard {} cannot be told from a poor system; "
    "several for each system would tell"
)


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One question's systems in order of name; without a `fit` there is a `reason`.

    `ends` are those of the scale, where they are known; a `control` is in the fit and in no
    comparison. `widened` and `widened_pairs` (systems x systems) multiply standard errors of scores
    and of differences, where the self-test found these too small for the design. `off` is how far
    what was lost of a system may have moved its score, and differences where `are_pairs_off`.
    `looks` multiplies errors of differences where what was given followed the scores.
    """

    systems: tuple[str, ...]
    n: Ints
    raw: Floats
    ends: tuple[float, float] | None
    fit: CrossedFit | None
    reason: str | None
    control: str | None = None
    widened: Floats | None = None
    widened_pairs: Floats | None = None
    off: Floats | None = None
    are_pairs_off: bool = False
    looks: float = 1.0

    def without(self, control: str | None) -> SystemScores:
        """Return the same with this system set apart."""
        return self if control is None else replace(self, control=control)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The systems that are compared."""
        return tuple(name for name in self.systems if name != self.control)

    @cached_property
    def _order(self) -> list[int]:
        """Systems compared, the highest first; a tie is not broken by the last digit."""
        kept = [self.systems.index(name) for name in self.ranked]
        return sorted(kept, key=lambda k: (-round(float(self.means[k]), 9), k))

    @property
    def means(self) -> Floats:
        """Scores of the fit, else raw means."""
        return self.raw if self.fit is None else self.fit.mean

    def interval(self, system: int) -> Interval:
        """Return a score's 95 % interval: Student's, on the log odds of its way along the scale.

        Of a scale whose ends nobody declared it is Student's as it is. A score at an end counts as
        half an answer off it. What was lost moves either end.
        """
        if self.fit is None:
            return NONE
        found, off = self._interval(system), self._off(system)
        low, high = self.ends or (-np.inf, np.inf)
        return Interval(max(found.low - off, low), min(found.high + off, high)) if off else found

    def _off(self, system: int) -> float:
        return 0.0 if self.off is None else float(self.off[system])

    def _interval(self, system: int) -> Interval:
        if self.fit is None:
            return NONE
        mean, df = float(self.fit.mean[system]), self.fit.df(self.fit.one(system))
        if self.ends is None:
            return t_interval(mean, self.se(system), df)
        middle, slope = self._odds(system)
        low, high = self.ends
        found = t_interval(middle, self.se(system) * slope, df)
        ends = (low + (high - low) * float(special.expit(x)) for x in found)
        return Interval(*(pick(end, mean) for pick, end in zip((min, max), ends, strict=True)))

    def _odds(self, system: int) -> tuple[float, float]:
        """Return a score's log odds of its way along the scale, and how fast they change."""
        low, high = self.ends or (0.0, 1.0)
        n, way = float(self.n[system]), (float(self.means[system]) - low) / (high - low)
        way = float(np.clip(way, 0.5 / (n + 1), (n + 0.5) / (n + 1)))
        return float(special.logit(way)), 1 / (high - low) / (way * (1 - way))

    def miss(self, system: int, truth: float) -> float:
        """Return how far the truth is from a score, in half widths of its interval."""
        if self.fit is None:
            return float("nan")
        half = float(special.stdtrit(self.fit.df(self.fit.one(system)), 0.5 + LEVEL / 2))
        half *= self.se(system)
        if self.ends is None:
            return abs(truth - float(self.means[system])) / half
        middle, slope = self._odds(system)
        low, high = self.ends
        odds = float(special.logit((truth - low) / (high - low)))
        return abs(odds - middle) / (half * slope)

    def se(self, system: int) -> float:
        """Return a score's standard error; NaN without a fit."""
        if self.fit is None:
            return float("nan")
        factor = 1.0 if self.widened is None else float(self.widened[system])
        return self.fit.se(self.fit.one(system)) * factor

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every pair of systems, the better first; none without a fit."""
        fit = self.fit
        if fit is None:
            return ()
        order = self._order
        return tuple(
            self._difference(fit, a, b) for i, a in enumerate(order) for b in order[i + 1 :]
        )

    def _difference(self, fit: CrossedFit, a: int, b: int) -> Difference:
        contrast = fit.pair(a, b)
        estimate = float(contrast @ fit.mean)
        factor = 1.0 if self.widened_pairs is None else float(self.widened_pairs[a, b])
        return Difference(
            self.systems[a], self.systems[b], int(self.n[a] + self.n[b]), estimate,
            fit.se(contrast) * factor * self.looks, fit.df(contrast), estimate / fit.spread,
            np.inf if self.ends is None else self.ends[1] - self.ends[0],
            # Who is missing of either would have rated by as much lower, or higher.
            abs(self._off(a) - self._off(b)) if self.are_pairs_off else 0.0,
        )  # fmt: skip

    @cached_property
    def adjusted(self) -> tuple[float, ...]:
        """Holm's p of each difference over all of them (Holm 1979, Scandinavian J. Stat. 6)."""
        return tuple(holm([each.p for each in self.differences]))

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letters of each system: two share one where they cannot be told apart (Holm, 5 %)."""
        apart = {
            frozenset((each.system, each.other))
            for each, p in zip(self.differences, self.adjusted, strict=True)
            if p < 1 - LEVEL
        }
        return letters([self.systems[k] for k in self._order], apart)

    def rank_shares(self, seed: int) -> Floats | None:
        """Return P(rank) of each system compared (systems x ranks), rank 1 the highest score.

        By 20,000 draws of a multivariate t with the fit's covariance and the median degrees of
        freedom of the differences; Monte Carlo error .004 at most. None without a fit.
        """
        if self.fit is None:
            return None
        size, chance = len(self._order), np.random.default_rng(seed)
        if size < 2:
            return np.ones((size, size))
        df = float(np.median([each.df for each in self.differences]))
        # In order of score, so that the draws do not depend on names.
        root = np.linalg.cholesky(self.fit.covariance[np.ix_(self._order, self._order)])
        gaps = chance.standard_normal((DRAWS, size)) @ root.T
        gaps *= 1.0 if self.widened_pairs is None else float(self.widened_pairs.max())
        gaps *= self.fit.raised * self.looks
        if self.off is not None and self.are_pairs_off:
            gaps += chance.uniform(-1, 1, (DRAWS, 1)) * self.off[self._order]
        drawn = self.fit.mean[self._order] + gaps / np.sqrt(chance.chisquare(df, (DRAWS, 1)) / df)
        ranks = (-drawn).argsort(axis=1).argsort(axis=1)
        counts = np.array([np.bincount(ranks[:, k], minlength=size) for k in range(size)])
        return np.asarray(counts[np.argsort(self._order)] / DRAWS)


@dataclass(frozen=True, eq=False)
class ScoredDesign:
    """A question's systems and incidence, prepared once for as many vectors of ratings as come.

    `known` has the codes of every column that the table has of an effect, identified or not. As
    many `draws` tell errors of variances as pay for a design that is fitted often, or once; `forms`
    gives those of a design that several questions share.
    """

    systems: tuple[str, ...]
    incidence: Incidence
    known: Mapping[str, Ints]
    ends: tuple[float, float] | None
    is_yes_no: bool
    reason: str | None
    draws: int = crossed.DRAWS
    forms: Callable[[], Floats] | None = None

    @cached_property
    def _crossed(self) -> crossed.CrossedDesign:
        return crossed.CrossedDesign(self.incidence, self.draws, self.forms)

    def scores(self, values: Floats) -> SystemScores:
        """Return the scores of these ratings, in the order of the incidence."""
        n = np.bincount(self.incidence.system)
        raw = np.bincount(self.incidence.system, values) / n
        reason, fit = self.reason, None
        if reason is None:
            fit = self._of_shares(values, raw) if self.is_yes_no else self._crossed.fit(values)
            reason = NO_RESIDUAL if fit is None else None
        return SystemScores(self.systems, n, raw, self.ends, fit, reason)

    def _of_shares(self, values: Floats, raw: Floats) -> CrossedFit | None:
        """Return the fit of answers 0 and 1; a share has (k + 1) / (n + 2) for its spread."""
        n = self.incidence.n
        share = (raw * n + 1) / (n + 2)
        sd = np.sqrt(share * (1 - share))
        found = self._crossed.fit(values / sd[self.incidence.system])
        if found is None:
            return None
        found, share = found.times(sd), (raw * n + 0.5) / (n + 1)
        least = float(np.sqrt((n @ (share * (1 - share))) / n.sum()))
        return replace(found, raised=max(1.0, least / found.spread) if found.spread > 0 else 1.0)


def system_scores(question: QuestionRatings) -> SystemScores:
    """Return the scores of a scale, or of a question of yes and no."""
    return question.once("system scores", lambda: _scores(question))


def _scores(question: QuestionRatings) -> SystemScores:
    design, values = scored_design(question)
    found, allowed = design.scores(values), allowed_losses(question)
    if follows_scores(question):
        found = replace(found, looks=LOOKS)
    if allowed is None or len(values) < 2:
        return found
    shares, is_unequal = allowed
    off = shares.reindex(list(found.systems)).to_numpy(dtype=float) * values.std(ddof=1)
    return replace(found, off=off, are_pairs_off=is_unequal)


def scored_design(question: QuestionRatings) -> tuple[ScoredDesign, Floats]:
    """Return the design of a question, and its ratings in the order of the incidence."""
    return question.once(SCORED_DESIGN, lambda: _design(question))


def _design(question: QuestionRatings) -> tuple[ScoredDesign, Floats]:
    system, names = pd.factorize(question.rows["system"], sort=True)
    by_name = question.once_of_design("effects", lambda: _effects(question))
    mixed = question.once_of_design("effects by system", lambda: with_systems(system, by_name))
    every = by_name | mixed
    known = question.once_of_design("identified", lambda: identified(system, every))

    def forms() -> Floats:
        of_rows = of_identified(system, every, known)
        return question.once_of_design("drawn forms", lambda: crossed.drawn_forms(of_rows))

    # In order of value, so that sums do not depend on the order of rows even in the last digit.
    order = np.argsort(question.values, kind="stable")
    values = question.values[order]
    effects = {name: codes[order] for name, codes in by_name.items()}
    kept = {name: codes[order] for name, codes in mixed.items() if name in known.effects}
    found = of_identified(system[order], effects | kept, known)
    ends = (0.0, 1.0) if question.is_yes_no else declared_ends(question.rows)
    design = ScoredDesign(
        tuple(map(str, names)), found, effects, ends, question.is_yes_no, withheld(found),
        forms=forms,
    )  # fmt: skip
    return design, values


def _effects(question: QuestionRatings) -> dict[str, Ints]:
    known = [
        name for name in COLUMNS if name in question.rows and question.rows[name].notna().all()
    ]
    return {
        name: pd.factorize(question.rows[name], sort=True)[0].astype(np.int32) for name in known
    }


def with_systems(system: Ints, effects: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return what raters like of single systems, and replies that several raters judged.

    Numbered in an order that does not depend on that of the rows.
    """
    systems = int(system.max()) + 1
    return {
        name: distinct(effects[one].astype(np.int64) * systems + system)[1].astype(np.int32)
        for name, one in MIXED.items()
        if one in effects
    }


def withheld(design: Incidence) -> str | None:
    """Return why no score has an interval, if none has."""
    if RATER in design.confounded:
        return ONE_RATER_EACH
    if TASTE in design.confounded:
        return ONE_RATER
    for name in design.confounded:
        what = name.split(" ")[0]
        return ONE_EACH.format(what, what)
    return None
