"""Power and interval width of a comparison of systems, by simulation of whole campaigns.

Each rater judges every system on the items that they get, or `judges` of them in a balanced order:
of a pair then only who judged both counts, and with one system each the raters of a system are
others than those of the next (Welch's t on clustered means). The test is Student's t with
Satterthwaite's degrees of freedom and variances of raters and items; beside it stands what the
procedure of Card et al. (2020, EMNLP, "With Little Power Comes Great Responsibility") claims for
the same numbers: t > 1.96 with maximum likelihood variances, and two systems coded as -1 and +1, so
that a difference that is put in is half of the one that is simulated.

Crossed designs, in which all raters judge all items, need no single ratings: sums of squares are
drawn from their distribution (Searle et al. 1992, Variance Components, ch. 4). Apart because
notebooks plan without a command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy import special

from analysis.planning.components import ClusteredMean, ClusterSums, OwnRaters, clustered_mean
from analysis.planning.variances import Variances
from analysis.stats.intervals import LEVEL, Floats
from analysis.tables.options import BadOption

SIMULATED_AS = ("paired mean",)

CLAIM = 1.96
# Until maximum likelihood stands still, in all of Card et al.'s table to the sixth digit.
ROUNDS = 200
# No variance of a mean is a smaller part of its clusters' than this while the solution is sought.
TINY = 1e-9
MOST_ITEMS = 2000
MOST_RATERS = 400
CAMPAIGNS = 10_000  # that a power is of: half a point of standard error at most
FEW = 1_000  # that tell where to look
NEAR = (0.8, 0.9, 1.0, 1.1, 1.25)  # times a first guess, where the line is drawn
# Ratings that are drawn at once.
PIECE = 4_000_000


@dataclass(frozen=True)
class RatingPlan:
    """A design: `items` items, or conversations per system, of which each gets `votes` raters.

    The raters take turns, so that all get equally many items but for one. Each `judges` so many of
    the systems, 0 for all, and every pair of systems has as many raters who judge both.

    Raises:
        BadOption: a number that no campaign can have.
    """

    items: int
    raters: int
    votes: int
    systems: int = 2
    judges: int = 0

    def __post_init__(self) -> None:
        right = (
            ("items", self.items >= 2, "2 or more"),
            ("raters", self.raters >= 2, "2 or more"),
            ("votes", 1 <= self.votes <= self.raters, f"1 to {self.raters}, as there are raters"),
            ("systems", self.systems >= 2, "2 or more"),
            ("judges", 0 <= self.judges <= self.systems, f"1 to {self.systems}, the systems"),
            ("raters", self.of_pair >= max(2, self.judges == 1 and self.votes), self._more()),
        )
        for name, holds, what in right:
            if not holds:
                raise BadOption(name, str(getattr(self, name)), what)

    @property
    def all_judged(self) -> bool:
        """Whether each rater judges every system."""
        return self.judges in (0, self.systems)

    @property
    def of_pair(self) -> int:
        """How many raters judge both systems of a pair; of one system, where each judges one."""
        if self.all_judged:
            return self.raters
        if self.judges == 1:
            return self.raters // self.systems
        return self.raters * self.judges * (self.judges - 1) // (self.systems * (self.systems - 1))

    @property
    def judged(self) -> int:
        """How many systems each rater judges."""
        return self.judges or self.systems

    @property
    def fewest(self) -> int:
        """How many raters there must be at least."""
        return fewest_raters(self.votes, self.systems, self.judges)

    def _more(self) -> str:
        what = "of each system" if self.judges == 1 else "who judge both systems of a pair"
        return f"more: {self.of_pair} {what} are too few"

    @property
    def tested(self) -> RatingPlan:
        """What the test of one pair rests on, as a plan in which its raters judge both."""
        if self.all_judged:
            return self
        share = 1.0 if self.judges == 1 else (self.judges - 1) / (self.systems - 1)
        votes = min(max(1, round(self.votes * share)), self.of_pair)
        items = max(2, int(self.items * self.votes * share / votes))
        return replace(self, items=items, votes=votes, raters=self.of_pair, judges=0)

    @property
    def pairs(self) -> int:
        """How many pairs of systems are compared."""
        return self.systems * (self.systems - 1) // 2

    @property
    def ratings(self) -> int:
        """How many ratings there are of all systems together."""
        return self.items * self.votes * self.systems


def fewest_raters(votes: int, systems: int, judges: int = 0) -> int:
    """Return how many raters a plan must have at least: two who judge both systems of a pair.

    With one system each, two of every system, or as many as an item has `votes`.
    """
    if judges == 1:
        return systems * max(2, votes)
    judged = judges or systems
    return max(votes, -(-2 * systems * (systems - 1) // (judged * (judged - 1))))


@dataclass(frozen=True)
class CampaignPower:
    """The shares of campaigns in which a difference is found, and the interval's mean width.

    `false` is the share of campaigns of equal systems in which one is found; `claimed` and
    `claimed_false` are those of the published procedure, None where it is not defined.
    """

    power: float
    false: float
    width: float
    claimed: float | None
    claimed_false: float | None
    campaigns: int

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the power."""
        return float(np.sqrt(max(self.power * (1 - self.power), 0.0) / self.campaigns))


def power(
    plan: RatingPlan,
    variances: Variances,
    difference: float,
    *,
    seed: int,
    campaigns: int = CAMPAIGNS,
) -> CampaignPower:
    """Return the power for a true `difference` of two systems, both tails, in points of the scale.

    With more than two systems each pair is tested at 5 % over the number of pairs.
    """
    chance = np.random.default_rng(seed)
    tested = plan.tested
    mean, variance, df = _of_pair(plan, variances, chance, campaigns)
    alpha = (1 - LEVEL) / plan.pairs
    half = special.stdtrit(df, 1 - alpha / 2) * np.sqrt(variance)
    both = (difference, 0.0)
    claimed = (
        (None, None) if plan.judges == 1 else _claimed(tested, variances, chance, campaigns, both)
    )
    return CampaignPower(
        power=float((np.abs(mean + difference) > half).mean()),
        false=float((np.abs(mean) > half).mean()),
        width=float(2 * np.median(half)),
        claimed=claimed[0],
        claimed_false=claimed[1],
        campaigns=campaigns,
    )


def items_needed(
    plan: RatingPlan, variances: Variances, difference: float, target: float, *, seed: int
) -> RatingPlan | None:
    """Return the plan with the fewest items that reaches the power; None above 2,000 of them."""
    return _smallest(
        lambda items: replace(plan, items=items),
        2,
        MOST_ITEMS,
        (variances, difference, target, seed),
    )


def raters_needed(
    plan: RatingPlan, variances: Variances, difference: float, target: float, *, seed: int
) -> RatingPlan | None:
    """Return the plan with the fewest raters, for as many items; None above 400 of them."""
    return _smallest(
        lambda raters: replace(plan, raters=raters),
        plan.fewest,
        MOST_RATERS,
        (variances, difference, target, seed),
    )


def loaded(plan: RatingPlan, raters: int, each: int) -> RatingPlan:
    """Return the plan with so many raters who give `each` ratings, and the items that are theirs.

    Raises `BadOption` where a rater gives fewer ratings than there are systems to judge.
    """
    if each < plan.judged:
        right = f"{plan.judged} or more, one for each system that a rater judges"
        raise BadOption("each", str(each), right)
    return replace(plan, raters=raters, items=max(2, raters * each // (plan.systems * plan.votes)))


def loaded_raters_needed(
    plan: RatingPlan,
    each: int,
    variances: Variances,
    difference: float,
    target: float,
    *,
    seed: int,
) -> RatingPlan | None:
    """Return the plan with the fewest raters of `each` ratings; None above 2,000 items."""
    most = max(plan.fewest, MOST_ITEMS * plan.systems * plan.votes // each)
    return _smallest(
        lambda raters: loaded(plan, raters, each),
        plan.fewest,
        most,
        (variances, difference, target, seed),
    )


Search = tuple[Variances, float, float, int]


def _smallest(
    made: Callable[[int], RatingPlan], least: int, most: int, search: Search
) -> RatingPlan | None:
    """Return the smallest plan that reaches the power by as many campaigns as are shown of it.

    Few campaigns find the neighborhood: double, then halve the gap. What one number of campaigns
    happens to reach is no answer, so a line through several (probit of the power on the root of the
    number) says where the power is reached, and all campaigns have the last word.
    """
    variances, difference, target, seed = search

    def reached(number: int, campaigns: int) -> float:
        return power(made(number), variances, difference, seed=seed, campaigns=campaigns).power

    low = high = least
    while reached(high, FEW) < target:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle, FEW) >= target else (middle, high)
    near = sorted({min(max(least, round(high * times)), most) for times in NEAR})
    number = _crossing(near, [reached(each, CAMPAIGNS // 2) for each in near], target, high)
    number = min(max(least, number), most)
    while reached(number, CAMPAIGNS) < target:
        if number == most:
            return None
        number = min(number + max(1, number // 200), most)
    return made(number)


def _crossing(numbers: Sequence[int], powers: Sequence[float], target: float, other: int) -> int:
    """Return the number at which a probit line reaches the power; `other` where there is none."""
    share = np.clip(powers, 0.5 / CAMPAIGNS, 1 - 0.5 / CAMPAIGNS)
    probit = special.ndtri(share)
    weight = np.exp(-(probit**2) / 2) / np.sqrt(share * (1 - share))  # of binomial shares
    if len(numbers) < 2 or np.ptp(probit) == 0:
        return other
    slope, start = np.polyfit(np.sqrt(numbers), probit, 1, w=weight)
    root = (special.ndtri(target) - start) / slope if slope > 0 else -1.0
    low, high = numbers[0], numbers[-1]
    return int(np.clip(np.ceil(root**2), low, high)) if root > 0 else other


# --- campaigns of equal systems -----------------------------------------------------------------


def _of_pair(
    plan: RatingPlan, variances: Variances, chance: Generator, campaigns: int
) -> tuple[Floats, Floats, Floats]:
    """Return each campaign's difference of two systems, its variance, and degrees of freedom."""
    if plan.judges != 1:
        found = clustered_mean(_sums(plan.tested, variances, chance, campaigns))
        return found.mean, found.variance, found.df
    of_rater = float(np.hypot(variances.taste, variances.severity))
    # What is drawn is a difference of two ratings, each of which has half of the variance.
    alone = replace(variances, taste=of_rater).times(np.sqrt(0.5))
    both = [clustered_mean(_sums(plan.tested, alone, chance, campaigns)) for _ in range(2)]
    own = OwnRaters(*both)
    return own.mean, own.variance, own.df


def _sums(plan: RatingPlan, variances: Variances, chance: Generator, campaigns: int) -> ClusterSums:
    """Return the sums of campaigns' differences, in points; their true mean is 0."""
    if plan.votes == plan.raters:
        return _crossed(plan, variances, chance, campaigns)
    together = max(1, PIECE // (plan.items * plan.votes))
    parts = [
        _in_turns(plan, variances, chance, min(together, campaigns - done))
        for done in range(0, campaigns, together)
    ]
    return ClusterSums(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _crossed(
    plan: RatingPlan, variances: Variances, chance: Generator, campaigns: int
) -> ClusterSums:
    """Draw the sums of squares of a balanced crossed design, which are independent."""
    raters, items = plan.raters, plan.items
    noise = 2 * variances.noise**2
    by_rater, by_item = (
        noise + 2 * items * variances.taste**2,
        noise + 2 * raters * variances.item**2,
    )
    n = float(raters * items)
    over_raters = by_rater * chance.chisquare(raters - 1, campaigns)
    over_items = by_item * chance.chisquare(items - 1, campaigns)
    rest = noise * chance.chisquare((raters - 1) * (items - 1), campaigns)
    total = chance.normal(0, np.sqrt((by_rater + by_item - noise) * n), campaigns)
    of_mean = total**2 / n
    return ClusterSums(
        n=np.full(campaigns, n),
        raters=np.full(campaigns, float(raters)),
        items=np.full(campaigns, float(items)),
        total=total,
        squares=of_mean + over_raters + over_items + rest,
        of_raters=of_mean + over_raters,
        of_items=of_mean + over_items,
        rater_pairs=np.full(campaigns, n * items),
        item_pairs=np.full(campaigns, n * raters),
    )


def _in_turns(
    plan: RatingPlan, variances: Variances, chance: Generator, campaigns: int
) -> ClusterSums:
    """Draw single differences; the raters take turns, `votes` of them to an item."""
    n = plan.items * plan.votes
    turn = np.arange(n) % plan.raters
    taste = chance.normal(0, variances.taste, (campaigns, plan.raters))[:, turn]
    item = np.repeat(chance.normal(0, variances.item, (campaigns, plan.items)), plan.votes, axis=1)
    noise = chance.normal(0, variances.noise, (campaigns, n))
    value = np.sqrt(2) * (taste + item + noise)
    count = np.bincount(turn, minlength=plan.raters).astype(float)
    rounds = np.zeros((campaigns, -(-n // plan.raters) * plan.raters))
    rounds[:, :n] = value
    of_rater = rounds.reshape(campaigns, -1, plan.raters).sum(axis=1)
    of_item = value.reshape(campaigns, plan.items, plan.votes).sum(axis=2)
    there = count > 0
    return ClusterSums(
        n=np.full(campaigns, float(n)),
        raters=np.full(campaigns, float(there.sum())),
        items=np.full(campaigns, float(plan.items)),
        total=value.sum(axis=1),
        squares=(value**2).sum(axis=1),
        of_raters=(of_rater[:, there] ** 2 / count[there]).sum(axis=1),
        of_items=(of_item**2).sum(axis=1) / plan.votes,
        rater_pairs=np.full(campaigns, (count**2).sum()),
        item_pairs=np.full(campaigns, float(n * plan.votes)),
    )


# --- the published procedure --------------------------------------------------------------------


def claimed_power(
    plan: RatingPlan, variances: Variances, difference: float, *, seed: int, campaigns: int = 2000
) -> float | None:
    """Return the power that Card et al.'s procedure states; None with one vote per item.

    As many workers as an item has votes judge all items. `difference` is what they put in.
    """
    chance = np.random.default_rng(seed)
    return _claimed(plan, variances, chance, campaigns, (difference,))[0]


def _claimed(
    plan: RatingPlan,
    variances: Variances,
    chance: Generator,
    campaigns: int,
    differences: tuple[float, ...],
) -> tuple[float | None, ...]:
    if plan.votes < 2:
        return (None,) * len(differences)
    crossed = replace(plan, raters=plan.votes)
    found = clustered_mean(_crossed(crossed, variances, chance, campaigns))
    # Half a difference is what has the effect b.
    error = np.sqrt(likelihood_variance(found)) / 2
    return tuple(float(((found.mean / 2 + b) / error > CLAIM).mean()) for b in differences)


def likelihood_variance(found: ClusteredMean) -> Floats:
    """Return the variance of the mean at the maximum of the likelihood, of balanced crossed data.

    The likelihood's equations (Searle et al. 1992, ch. 4) are solved by repetition; where a
    component would be below 0 it is 0, and the best of the four solutions counts.
    """
    sums = found.sums
    of_mean = sums.total**2 / sums.n
    by_rater, by_item = sums.of_raters - of_mean, sums.of_items - of_mean
    rest = sums.squares - of_mean - by_rater - by_item
    raters, items = sums.raters, sums.items
    left = (raters - 1) * (items - 1)
    rater, item, noise = by_rater / raters, by_item / items, rest / left
    for _ in range(ROUNDS):
        whole = np.maximum(rater + item - noise, TINY * (rater + item))
        rater = by_rater / (raters - 1 + np.clip(rater / whole, 0, 1))
        item = by_item / (items - 1 + np.clip(item / whole, 0, 1))
        noise = rest / (left - np.clip(noise / whole, 0, 0.99))
    one, other = by_item / items, by_rater / raters
    pooled = ((by_rater + rest) / (sums.n - items), (by_item + rest) / (sums.n - raters))
    none = (by_rater + by_item + rest) / sums.n
    solutions = np.array(
        [
            [rater, item, noise],
            [pooled[0], one, pooled[0]],
            [other, pooled[1], pooled[1]],
            [none] * 3,
        ]
    )
    sizes = solutions[:, 0] + solutions[:, 1]
    whole = np.maximum(sizes - solutions[:, 2], TINY * sizes)
    parts = zip((raters - 1, items - 1, left), (by_rater, by_item, rest), range(3), strict=True)
    deviance = np.log(whole) + sum(
        count * np.log(solutions[:, k]) + squares / solutions[:, k] for count, squares, k in parts
    )
    allowed = (solutions[:, :2] >= solutions[:, 2:] * (1 - 1e-12)).all(axis=1)
    best = np.where(allowed, deviance, np.inf).argmin(axis=0)
    return np.asarray(np.take_along_axis(whole, best[None], axis=0)[0] / sums.n, dtype=float)
