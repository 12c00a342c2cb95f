"""Campaigns of ratings whose truth is known, drawn by numpy alone.

A feeling is the base, the system's quality, and what the rater, the rater's taste, the item and
the rest add; the answer is the feeling rounded to the scale and clipped at its ends. A system's
truth is the mean answer of a new rater about a new item. Nothing of `analysis` is used here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

Ints = np.ndarray
Codes = Mapping[str, Ints]
TRUTH_DRAWS = 400_000
PRESENT = {"rater", "item", "context", "conversation"}


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """A design of ratings; SDs are in points of the scale, `gap` is between neighboring systems.

    `who` makes the incidence of `items` per system, `raters`, and `votes` per item. `noises` are of
    each system where they differ; every other rater's noise is `unlike` times the others'. Of the
    raters `odd` answer at random. `lost` is the slope by which poor ratings go missing, which the
    table tells where it is `told`; intervals that `allows` for it may be too wide. `biased` names
    what no table can tell to be wrong, `abstains` is a design that allows no interval, and of one
    that is `cautioned` it is counted how often the report warns.
    """

    name: str
    who: Callable[[Ratings, Generator], dict[str, Ints]]
    low: float = 1
    high: float = 5
    systems: int = 4
    items: int = 20
    raters: int = 20
    votes: int = 1
    base: float = 3
    gap: float = 0
    rater: float = 0.7
    taste: float = 0
    item: float = 0
    reply: float = 0
    context: float = 0
    conversation: float = 0
    noise: float = 0.8
    noises: tuple[float, ...] = ()
    unlike: float = 1
    odd: float = 0
    skewed: bool = False
    missing: float = 0
    lost: float = 0
    told: bool = False
    abstains: bool = False
    biased: tuple[str, ...] = ()
    allows: bool = False
    cautioned: bool = False

    @property
    def is_yes_no(self) -> bool:
        return (self.low, self.high) == (0, 1)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A campaign: codes and answer of each rating, each system's truth, and what it lost."""

    codes: Codes
    value: np.ndarray
    truth: np.ndarray
    lost: np.ndarray


def draw(of: Ratings, chance: Generator) -> Drawn:
    """Draw a campaign; ratings that were lost, or never allocated, are not in it."""
    codes = of.who(of, chance)
    value, felt = _answers(of, codes, chance)
    kept = chance.random(len(value)) >= of.missing
    if of.lost:
        kept &= chance.random(len(value)) < 1 / (1 + np.exp(-(1 + of.lost * (felt - of.base))))
    if of.who is adaptive:
        kept &= _allocated(of, codes, value)
    left = {name: each[kept] for name, each in codes.items()}
    given, there = (
        np.bincount(each, minlength=of.systems) for each in (codes["system"], left["system"])
    )
    return Drawn(left, value[kept], truth(of), 1 - there / given)


@cache
def truth(of: Ratings) -> np.ndarray:
    """Return the mean answer that each system deserves, by the same new raters and items."""
    found = []
    for system in range(of.systems):
        chance = np.random.default_rng(zlib.crc32(of.name.encode()))
        everyone = np.arange(TRUTH_DRAWS)
        codes = dict.fromkeys(PRESENT, everyone)
        codes["system"] = np.full(TRUTH_DRAWS, system)
        found.append(_answers(of, codes, chance)[0].mean())
    return np.array(found)


def _answers(of: Ratings, codes: Codes, chance: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers, and the feelings behind them."""
    system, rater, size = codes["system"], codes["rater"], len(codes["system"])
    raters = int(rater.max()) + 1
    felt = of.base + of.gap * (system - (of.systems - 1) / 2)
    severity = chance.exponential(of.rater, raters) - of.rater if of.skewed else None
    felt = felt + (chance.normal(0, of.rater, raters) if severity is None else severity)[rater]
    for sd, own in (
        (of.taste, _pairs(rater, system)),
        (of.item, codes["item"]),
        (of.reply, _pairs(codes["item"], system)),
        (of.context, codes.get("context")),
        (of.conversation, codes.get("conversation")),
    ):
        if sd and own is not None:
            felt = felt + chance.normal(0, sd, int(own.max()) + 1)[own]
    noise = np.array(of.noises)[system] if of.noises else of.noise
    noise = noise * np.where(rater % 2, of.unlike, 1.0)
    felt = felt + noise * chance.standard_normal(size)
    answer = np.clip(np.round(felt), of.low, of.high)
    at_random = (chance.random(raters) < of.odd)[rater]
    anything = chance.integers(int(of.low), int(of.high) + 1, size)
    return np.where(at_random, anything, answer), felt


def _pairs(one: Ints, other: Ints) -> Ints:
    return np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]


# --- who rates what ---------------------------------------------------------------------------


def turns(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Every rater has conversations with all systems in turn, and rates each once."""
    system, number = _each(of)
    return {"system": system, "rater": number % of.raters, "item": np.arange(len(system))}


def own_system(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Raters have one system each, `raters` of them every system."""
    found = turns(of, chance)
    return found | {"rater": found["system"] * of.raters + found["rater"]}


def persons(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Every rating is another person's."""
    found = turns(of, chance)
    return found | {"rater": found["item"]}


def one_gives_half(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """One rater gives half of all ratings, the others the rest at random."""
    found = turns(of, chance)
    other = chance.integers(1, of.raters, len(found["item"]))
    return found | {"rater": np.where(chance.random(len(other)) < 0.5, 0, other)}


def crowd(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Whoever comes rates: the k-th rater comes in proportion to 1/k, systems by lot."""
    found = turns(of, chance)
    weights = 1 / np.arange(1, of.raters + 1)
    rater = chance.choice(of.raters, len(found["item"]), p=weights / weights.sum())
    return found | {"rater": rater}


def unequal(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Systems have 6, 12, 24, 48 conversations."""
    counts = 6 * 2 ** np.arange(of.systems)
    system = np.repeat(np.arange(of.systems), counts)
    rater = np.concatenate([chance.permutation(count) for count in counts]) % of.raters
    return {"system": system, "rater": rater, "item": np.arange(len(system))}


def replies(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Each system has replies of its own; `votes` of the raters judge each."""
    system, _ = _each(of)
    item = np.repeat(np.arange(len(system)), of.votes)
    return {"system": system[item], "rater": _panels(of, len(system), chance), "item": item}


def items(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """All systems have the same items; `votes` of the raters judge every system's of an item."""
    panel = _panels(of, of.items, chance).reshape(of.items, 1, of.votes)
    shape = of.items, of.systems, of.votes
    item, system, _ = np.indices(shape)
    rater = np.broadcast_to(panel, shape)
    return {"system": system.ravel(), "rater": rater.ravel(), "item": item.ravel()}


def contexts(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """All systems reply to the same contexts; replies are items of their own."""
    found = items(of, chance)
    reply = _pairs(found["item"], found["system"])
    return found | {"item": reply, "context": found["item"]}


def messages(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """The partner rates `votes` messages of each conversation."""
    found = turns(of, chance)
    long = {name: np.repeat(codes, of.votes) for name, codes in found.items()}
    return long | {"conversation": long["item"], "item": np.arange(len(long["item"]))}


def phases(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """Half of the systems, then the other half, by raters of which nobody is in both."""
    found = turns(of, chance)
    late = found["system"] >= of.systems // 2
    return found | {"rater": found["rater"] + of.raters * late}


def linked_phases(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """All systems but the last, then all but the first, by raters of which nobody is in both."""
    found = turns(of, chance)
    number = found["item"] % of.items
    inner = (found["system"] > 0) & (found["system"] < of.systems - 1)
    late = np.where(inner, number >= of.items // 2, found["system"] > 0)
    return found | {"rater": found["rater"] + of.raters * late}


def adaptive(of: Ratings, chance: Generator) -> dict[str, Ints]:
    """All that could be rated: `items` per system, of which `_allocated` takes a quarter."""
    system, number = np.divmod(np.arange(of.systems * of.items), of.items)
    return {
        "system": system,
        "rater": number // of.systems % of.raters,
        "item": np.arange(len(system)),
        "given_at": number,
    }


def _allocated(of: Ratings, codes: Codes, value: np.ndarray) -> np.ndarray:
    """Return the ratings made: 4 of each system, then one at a time of the two that lead."""
    answers = value.reshape(of.systems, of.items)
    taken = np.zeros(answers.shape, dtype=bool)
    taken[:, 0:16:4] = True
    for turn in range(16, of.items):
        means = (answers * taken).sum(axis=1) / taken.sum(axis=1)
        leading = np.argsort(-means, kind="stable")[:2]
        taken[leading[turn % 2], turn] = True
    return taken.ravel()


def _each(of: Ratings) -> tuple[Ints, Ints]:
    """Return the system of each item, and the item's number within it."""
    return np.divmod(np.arange(of.systems * of.items), of.items)


def _panels(of: Ratings, count: int, chance: Generator) -> Ints:
    """Return the raters of so many items, drawn without one twice."""
    return np.argsort(chance.random((count, of.raters)), axis=1)[:, : of.votes].ravel()
