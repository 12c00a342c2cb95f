"""Answers of a simulated person to questions they have never seen: each kind answers for itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.registry import get_kind
from webapp.crowd.page import BrowserPage, PageForm, PageQuestion
from webapp.crowd.people import (
    Person,
    Quality,
    agrees,
    felt,
    picks,
    scale_point,
    scale_position,
)

NOTHING: Mapping[str, Quality] = {}
LETTERS = "bdfgklmnprstvz"
LONGEST_WRITTEN = 12  # words
ALIKE = 0.05  # of a quality from 0 to 1: what is closer is a tie, where there is one


@dataclass(frozen=True)
class PlantedRater:
    """A person in front of one question; without a planted quality the partner is average.

    right: the option that would be right, where one is. about: what their chance depends on.
    shown: the planted quality of every reply on the page, by the key of its fields; judged: the key
    of the one that the question is about.
    """

    person: Person
    quality: float | None
    right: str
    about: tuple[object, ...]
    shown: Mapping[str, float] = field(default_factory=dict)
    judged: str = ""

    def point(self, points: Sequence[int]) -> int:
        middle = (min(points) + max(points)) / 2
        quality = middle if self.quality is None else self.quality
        return scale_point(self.person, quality, points, *self._here)

    def position(self, low: float, high: float) -> float:
        quality = (low + high) / 2 if self.quality is None else self.quality
        return scale_position(self.person, quality, low, high, *self._here)

    def agrees(self) -> bool:
        return agrees(self.person, self._share, *self._here)

    def picks(self, options: Sequence[str]) -> str:
        return picks(self.person, self._share, self.right, options, *self._here)

    def knows(self, options: Sequence[str]) -> bool:
        return self.right in options

    def prefers(self, options: Sequence[str]) -> str:
        replies = sorted((key for key in options if key in self.shown), key=self._felt)
        ties = [option for option in options if option not in self.shown]
        alike = len(replies) > 1 and self._felt(replies[-1]) - self._felt(replies[-2]) < ALIKE
        if not replies or (ties and alike):
            return picks(self.person, 0.0, "", ties or options, "tie", *self.about)
        return replies[-1]

    def rank(self) -> int:
        best_first = sorted(self.shown, key=self._felt, reverse=True)
        return best_first.index(self.judged) + 1

    def _felt(self, key: str) -> float:
        return felt(self.person, self.shown[key], key, *self.about)

    @property
    def _here(self) -> tuple[object, ...]:
        """What chance depends on where each of several replies is judged by itself."""
        return (*self.about, self.judged) if len(self.shown) > 1 else self.about

    @property
    def _share(self) -> float:
        return 0.5 if self.quality is None else self.quality


def fill(
    person: Person,
    form: PageForm,
    quality: Quality,
    right: str,
    *about: object,
    shown: Mapping[str, Quality] = NOTHING,
) -> dict[str, str]:
    """Answer every question of a form; `right` is the option that would be right, where one is.

    shown: the quality of each of several replies, by the key of its fields.
    """
    return dict(replies(person, form.questions, quality, right, *about, shown=shown))


def replies(
    person: Person,
    questions: Sequence[PageQuestion],
    quality: Quality,
    right: str,
    *about: object,
    shown: Mapping[str, Quality] = NOTHING,
) -> Iterator[tuple[str, str]]:
    """Yield name and answer of each question that those before it leave open."""
    answered: dict[str, str] = {}
    for question in questions:
        if question.gate and answered.get(question.gate) not in question.gate_values:
            continue
        judged, _, name = question.name.rpartition(".")
        own = shown.get(judged, quality)
        rater = PlantedRater(
            person,
            own.get(name),
            right,
            (name, *about),
            {key: each.get(name, 0.5) for key, each in shown.items()},
            judged,
        )
        answered[question.name] = get_kind(question.kind).simulated(question.answer_field, rater)
        yield question.name, answered[question.name]


def written(person: Person, question: PageQuestion) -> str:
    """Return a text of made-up words that stand in nobody else's, within the field's limits."""
    limits = {name: int(limit) for name, limit in question.input.items() if limit.isdigit()}
    least, most = limits["data-least-words"], limits.get("data-most-words", LONGEST_WRITTEN)
    chance = person.chance("written", question.name)
    count = chance.randint(max(least, 3), min(most, LONGEST_WRITTEN))
    return " ".join("".join(chance.choices(LETTERS, k=8)) for _ in range(count))


def admission(
    person: Person, form: PageForm, passing: Mapping[str, str], chances: Quality
) -> dict[str, str]:
    """Answer what is asked before the work.

    passing: the answers to a question that pass, as a list of JSON, by its field; chances: of
    giving one of them.
    """
    found: dict[str, str] = {}
    for question in form.questions:
        if question.gate and found.get(question.gate) not in question.gate_values:
            continue
        about = ("admission", question.name, form.sent.get("try", ""))
        right = json.loads(passing.get(question.name, "[]"))
        wrong = [option for option in question.options if option not in right]
        if right and (wrong or not question.options):
            fits = person.chance(*about).random() < chances.get(question.name, 1.0)
            found[question.name] = person.chance(*about, "which").choice(right if fits else wrong)
        else:
            rater = PlantedRater(person, None, "", about)
            found[question.name] = get_kind(question.kind).simulated(question.answer_field, rater)
    return found


def persona(page: BrowserPage) -> list[str]:
    """Return the sentences of the character of a person, if any."""
    return [line.strip() for line in page.items.get("persona", ()) if line.strip()]


def code(page: BrowserPage) -> str:
    """Return the completion code that a page shows, or nothing."""
    return page.marks.get("code", "").strip()
