"""Simulated people: how they differ, and how the planted quality of a partner becomes an answer.

A rating is round(quality + severity + noise), clipped to the scale: the model that calibration
assumes (Kulikov et al. 2018, section 4), with integers for what a form can take. Everything about a
person follows from a seed, so that a run can be repeated.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Quality = Mapping[
    str, float
]  # question to a scale point, or to the chance of yes or of being right


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How people differ: SDs, shares of all people, and seconds before each thing they do."""

    severity: float = 0.3
    noise: float = 0.5
    spam: float = 0.03
    dropout: float = 0.06
    slow: float = 0.1
    pause: float = 0.05
    slow_pause: float = 0.5
    reading: float = 0.0  # seconds to take in the partner's message
    letter: float = 0.0  # seconds to type one character
    answering: float = 0.0  # seconds for one question of a form
    careless: float = 0.05  # the chance that a message breaks a rule at first
    plain: float = 0.1  # whose network has no websockets
    twice: float = 0.05  # the chance that something is sent twice
    flaky: float = 0.0  # the chance that the line breaks once a message is on its way


@dataclass(frozen=True, kw_only=True)
class Person:
    """One simulated person; `name` is their id on the panel they come from."""

    name: str
    seed: int
    severity: float = 0.0
    noise: float = 0.0
    spammer: bool = False
    drops_after: int | None = None  # own messages after which they walk off
    pause: float = 0.0
    reading: float = 0.0
    letter: float = 0.0
    answering: float = 0.0
    careless: float = 0.0
    plain: bool = False
    twice: float = 0.0
    flaky: float = 0.0

    def writing(self, text: str) -> float:
        """Return the seconds from the partner's message to one's own."""
        return self.pause + self.reading + self.letter * len(text)

    def chance(self, *about: object) -> random.Random:
        """Return a source of chance for one purpose, always the same for the same purpose."""
        return random.Random(":".join(map(str, (self.seed, self.name, *about))))  # noqa: S311 (to repeat)


def draw_people(count: int, *, seed: int, mix: Mix, prefix: str = "sim") -> list[Person]:
    """Return `count` people; who they are depends on the seed and their number only."""
    return [_draw(f"{prefix}-{seed}-{number}", seed, mix) for number in range(count)]


def _draw(name: str, seed: int, mix: Mix) -> Person:
    chance = Person(name=name, seed=seed).chance("person")
    fate = chance.random()
    spammer = fate < mix.spam
    return Person(
        name=name,
        seed=seed,
        severity=chance.gauss(0, mix.severity),
        noise=mix.noise,
        spammer=spammer,
        drops_after=chance.randint(0, 4) if 0 <= fate - mix.spam < mix.dropout else None,
        pause=mix.slow_pause if chance.random() < mix.slow else mix.pause,
        reading=0.0 if spammer else mix.reading,  # who does not care reads nothing
        letter=0.0 if spammer else mix.letter,
        answering=0.0 if spammer else mix.answering,
        careless=mix.careless,
        plain=chance.random() < mix.plain,
        twice=mix.twice,
        flaky=mix.flaky,
    )


def scale_point(person: Person, quality: float, points: Sequence[int], *about: object) -> int:
    """Return the point that a person gives on a scale."""
    chance = person.chance("scale", *about)
    if person.spammer:
        return chance.choice(list(points))
    felt = quality + person.severity + chance.gauss(0, person.noise)
    return min(max(math.floor(felt + 0.5), min(points)), max(points))


def scale_position(
    person: Person, quality: float, low: float, high: float, *about: object
) -> float:
    """Return where a person puts a slider.

    Severity and noise count in quarters of its length, as they do on a scale of five points.
    """
    chance = person.chance("position", *about)
    if person.spammer:
        return chance.uniform(low, high)
    unit = (high - low) / 4
    felt = quality + unit * (person.severity + chance.gauss(0, person.noise))
    return min(max(felt, low), high)


def felt(person: Person, share: float, *about: object) -> float:
    """Return how good a person finds something of a planted quality from 0 to 1.

    Noise counts in quarters, as on a scale of five points; severity is alike for all that stands
    on a page.
    """
    chance = person.chance("felt", *about)
    return chance.random() if person.spammer else share + chance.gauss(0, person.noise) / 4


def agrees(person: Person, probability: float, *about: object) -> bool:
    """Return a person's yes or no."""
    return person.chance("yes", *about).random() < (0.5 if person.spammer else probability)


def picks(
    person: Person, probability: float, right: str, options: Sequence[str], *about: object
) -> str:
    """Return an option: the right one with `probability`, else one of the others."""
    chance = person.chance("pick", *about)
    wrong = [option for option in options if option != right]
    if person.spammer or not wrong or right not in options:
        return chance.choice(list(options))
    return right if chance.random() < probability else chance.choice(wrong)
