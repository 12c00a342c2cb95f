"""Coverage measured for the design at hand, and what the report does with it.

Where intervals of this design hold the truth in fewer campaigns than .93, beyond Monte Carlo
error, or equal systems are told apart in more than .06, errors are widened by the factor that
would have covered 95 %. Intervals that are too wide are left so, and that is said. Of a large table
a part is simulated (`analysis.self_test.thinned`) unless a number of campaigns was asked for, so
that a self-test never costs more than that of a table of usual size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from analysis.scores.question_ratings import QuestionRatings
from analysis.scores.system_scores import (
    SCORED_DESIGN,
    ScoredDesign,
    SystemScores,
    scored_design,
    system_scores,
)
from analysis.self_test.enlarged import MOST_RATINGS, needed
from analysis.self_test.fitted import population, variants
from analysis.self_test.population import Floats, Population
from analysis.self_test.thinned import SimulatedPart, thinned
from analysis.self_test.trials import Needs, needs, pairs_of
from analysis.stats.intervals import LEVEL
from analysis.tables.options import BadOption

SIMULATED_AS = ("system_score", "system_difference")

TOO_LARGE = (
    "Coverage was not measured for this design: simulating campaigns of its size takes more than "
    "some seconds (--simulate 500 does it)."
)
QUICK = -1  # as many campaigns as take some seconds
LEAST, MOST_WRONG = 0.93, 0.06
USUAL, FEWEST = 500, 40
# Cost of a campaign in milliseconds on one core of 2026: at least, per level squared, by moments.
FIXED, PER_LEVEL, BY_MOMENTS = 1.0, 1e-3, 25.0
BUDGET = 6000.0
MANY_RATINGS = 20_000
# Campaigns of each variant, as a part of all.
OF_VARIANT = 10
KEPT = 256
_KNOWN: dict[str, Measured] = {}  # measurements of this process by digest


@dataclass(frozen=True)
class Measured:
    """Coverage in `campaigns` simulated ones, before widening, and the factors of widening.

    `scores` has a value per system, `pairs` one per pair; `false` is the share of campaigns of
    equal systems in which some Holm p was below .05, after widening. `worst` names the variant in
    which scores and differences are held least often, after widening, and how often. Campaigns
    had the `part` of the ratings.
    """

    campaigns: int
    scores: tuple[float, ...]
    pairs: tuple[float, ...]
    false: float
    widened: tuple[float, ...]
    widened_pairs: tuple[float, ...]
    worst: tuple[str, float]
    worst_pairs: tuple[str, float]
    of_variant: int
    part: float = 1.0

    def error(self, share: float) -> float:
        """Return the Monte Carlo standard error of a share."""
        return monte_carlo(share, self.campaigns)

    def matrix(self, values: tuple[float, ...]) -> Floats:
        """Return values of pairs as a symmetric matrix with a diagonal of ones."""
        size = len(self.scores)
        found = np.eye(size)
        first, second = pairs_of(size)
        found[first, second] = found[second, first] = values
        return found


@dataclass(frozen=True)
class TestedScores:
    """Scores as they are to be printed, what was measured of them, and what would be needed."""

    scores: SystemScores
    measured: Measured | None
    needed: str | None

    def of_score(self, system: int) -> dict[str, object]:
        """Return the columns of a score's row; none where nothing was measured."""
        found = self.measured
        if found is None:
            return {"needed": self.needed} if self.needed else {}
        share, (name, worst) = found.scores[system], found.worst
        return {
            **self._columns(found, share, found.widened[system], name, worst),
            "needed": self.needed,
        }

    def of_pair(self, system: str, other: str) -> dict[str, object]:
        """Return the columns of a difference's row; none where nothing was measured."""
        found = self.measured
        if found is None:
            return {}
        a, b = (self.scores.systems.index(name) for name in (system, other))
        share = float(found.matrix(found.pairs)[a, b])
        factor = float(found.matrix(found.widened_pairs)[a, b])
        return {
            **self._columns(found, share, factor, *found.worst_pairs),
            "measured_false": found.false,
        }

    @staticmethod
    def _columns(
        found: Measured, share: float, factor: float, name: str, worst: float
    ) -> dict[str, object]:
        return {
            "measured_coverage": share,
            "measured_error": found.error(share),
            "measured_worst": worst,
            "measured_worst_in": name,
            "widened_by": factor,
            "simulated_campaigns": found.campaigns,
            "simulated_part": found.part,
        }


@dataclass(frozen=True)
class SelfTest:
    """Options: campaigns to simulate, `QUICK` for what takes seconds over all `questions`.

    `cache` is a folder in which measurements are kept by the digest of what they are made of.

    Raises:
        BadOption: `campaigns` is no number of campaigns.
    """

    campaigns: int = 0
    seed: int = 0
    control: str | None = None
    questions: int = 1
    cache: Path | None = None

    def __post_init__(self) -> None:
        if self.campaigns < QUICK or 0 < self.campaigns < FEWEST:
            right = f"{FEWEST} campaigns or more, or 0 for none"
            raise BadOption("simulate", str(self.campaigns), right)


def tested(question: QuestionRatings, options: SelfTest) -> TestedScores:
    """Return a question's scores as they are to be printed, tried on campaigns where asked."""
    scores = system_scores(question)
    found = (
        TestedScores(scores.without(options.control), None, None)
        if options.campaigns == 0 or len(scores.systems) < 2
        else question.once(f"self-test {options}", lambda: _tested(question, options))
    )
    # As large as the table, and what rests on it is kept.
    question.forget(SCORED_DESIGN)
    return found


def _quick(design: ScoredDesign, questions: int) -> int:
    """Return as many campaigns as the time of a question allows, 0 where that is too few."""
    levels = sum(design.incidence.levels)
    few = levels <= 400
    cost = FIXED + (PER_LEVEL * levels**2 if few else BY_MOMENTS)
    cost += len(design.incidence.system) * BY_MOMENTS / MANY_RATINGS
    draws = int(BUDGET / questions / cost / (1 + 5 / OF_VARIANT))
    return 0 if draws < FEWEST else min(draws, USUAL)


def _tested(question: QuestionRatings, options: SelfTest) -> TestedScores:
    draws, seed = options.campaigns, options.seed
    design, values = scored_design(question)
    part = thinned(design, seed) if draws == QUICK else None
    if draws == QUICK:
        draws = 0 if part is None else _quick(part.design, options.questions)
    scores, found = system_scores(question), None
    if scores.fit is not None and draws:
        found = measure(design, values, scores, draws, seed, options.cache, part)
        scores = replace(
            scores,
            widened=np.array(found.widened),
            widened_pairs=found.matrix(found.widened_pairs),
        )
    scores = scores.without(options.control)
    enough = None if draws else TOO_LARGE
    if draws and design.incidence.ratings <= MOST_RATINGS:
        enough = needed(design, values, scores)
    return TestedScores(scores, found, enough)


def measure(
    design: ScoredDesign,
    values: Floats,
    scores: SystemScores,
    draws: int,
    seed: int,
    cache: Path | None = None,
    part: SimulatedPart | None = None,
) -> Measured:
    """Return the coverage of this design, computed once for the same incidence and settings.

    Where there is a `part` of the design, campaigns are of that.
    """
    if scores.fit is None:
        raise ValueError("scores without a fit have no interval to measure")
    of, share = population(design, values, scores.fit), 1.0
    if part is not None:
        design, of, share = part.design, part.of(of), part.share
    digest = _digest(design, of, draws, seed)
    if digest in _KNOWN:
        return _KNOWN[digest]
    file = None if cache is None else cache / f"{digest}.json"
    if file is not None and file.is_file():
        return _read(json.loads(file.read_text(encoding="utf-8")))
    while len(_KNOWN) >= KEPT:
        _KNOWN.pop(next(iter(_KNOWN)))
    found = _KNOWN[digest] = replace(_measured(design, of, draws, seed), part=share)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(found)), encoding="utf-8")
    return found


def _digest(design: ScoredDesign, of: Population, draws: int, seed: int) -> str:
    found = hashlib.sha256(repr((design.systems, of.scale, draws, seed)).encode())
    numbers = [of.system, of.centers, [of.noise], *of.effects.values()]
    numbers += [list(of.variances.values()), list(of.uncertain.values())]
    for each in numbers:
        found.update(np.ascontiguousarray(each).tobytes())
    found.update(repr((list(of.variances), list(of.uncertain))).encode())
    return found.hexdigest()


def _read(stored: dict[str, object]) -> Measured:
    """Return what a file has; JSON knows lists only."""
    return Measured(
        **{k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}  # type: ignore[arg-type]
    )


def _measured(design: ScoredDesign, of: Population, draws: int, seed: int) -> Measured:
    chance = np.random.default_rng(seed)
    found = needs(design, of, draws, chance)
    widened = _factors(found.scores)
    widened_pairs = _factors(found.pairs)
    widened_pairs = widened_pairs * _family_factor(_largest(found.of_equal, widened_pairs))
    least = max(FEWEST // 2, draws // OF_VARIANT)
    tried = {name: needs(design, each, least, chance) for name, each in variants(of).items()}
    tried = {"none": found} | {name: each for name, each in tried.items() if len(each.scores)}
    return Measured(
        campaigns=len(found.scores),
        scores=_held(found.scores),
        pairs=_held(found.pairs),
        false=_share(_largest(found.of_equal, widened_pairs) > 1),
        widened=tuple(widened.tolist()),
        widened_pairs=tuple(widened_pairs.tolist()),
        worst=min(_kept(tried, "scores", widened), key=lambda pair: pair[1]),
        worst_pairs=min(_kept(tried, "pairs", widened_pairs), key=lambda pair: pair[1]),
        of_variant=least,
    )


def _kept(tried: dict[str, Needs], what: str, widened: Floats) -> Iterator[tuple[str, float]]:
    for name, each in tried.items():
        yield name, _share(getattr(each, what) <= widened)


def _held(found: Floats) -> tuple[float, ...]:
    return tuple(_share(column <= 1) for column in found.T)


def _share(which: np.ndarray) -> float:
    return float(np.mean(which)) if which.size else float("nan")


def _largest(of_equal: Floats, widened: Floats) -> Floats:
    return np.asarray((of_equal / widened).max(axis=1, initial=0.0))


def _factors(found: Floats) -> Floats:
    """Return the factor that each column's errors need: 1 where coverage is no less than asked.

    All together are known better than each: none has less than they need.
    """
    size = found.shape[1]
    if not found.size:
        return np.ones(size)
    held = (found <= 1).mean(axis=1)
    error = max(float(held.std()), 1 / len(held)) / np.sqrt(len(held))
    together = float(np.quantile(found, LEVEL)) if held.mean() + 2 * error < LEAST else 1.0
    return np.array([max(1.0, together, _factor(column)) for column in found.T])


def _factor(found: Floats) -> float:
    share = float(np.mean(found <= 1))
    low = share + 2 * monte_carlo(share, len(found)) < LEAST
    return float(np.quantile(found, LEVEL)) if low else 1.0


def _family_factor(found: Floats) -> float:
    """Return the factor at which 5 % of campaigns of equal systems have a Holm p below .05."""
    if not len(found):
        return 1.0
    share = float(np.mean(found > 1))
    if share - 2 * monte_carlo(share, len(found)) <= MOST_WRONG:
        return 1.0
    return max(1.0, float(np.quantile(found, LEVEL)))


def monte_carlo(share: float, campaigns: int) -> float:
    """Return the Monte Carlo standard error of a share, never 0: half a campaign is added."""
    near = (share * campaigns + 0.5) / (campaigns + 1)
    return float(np.sqrt(near * (1 - near) / max(campaigns, 1)))
