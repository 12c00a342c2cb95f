"""Answers of a simulated person to questions they have never seen: each kind answers for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.registry import get_kind
from webapp.crowd.page import BrowserPage, PageForm, PageQuestion
from webapp.crowd.people import Person, Quality, agrees, picks, scale_point, scale_position


@dataclass(frozen=True)
class PlantedRater:
    """A person in front of one question; without a planted quality the partner is average.

    right: the option that would be right, where one is. about: what their chance depends on.
    """

    person: Person
    quality: float | None
    right: str
    about: tuple[object, ...]

    def point(self, points: Sequence[int]) -> int:
        middle = (min(points) + max(points)) / 2
        quality = middle if self.quality is None else self.quality
        return scale_point(self.person, quality, points, *self.about)

    def position(self, low: float, high: float) -> float:
        quality = (low + high) / 2 if self.quality is None else self.quality
        return scale_position(self.person, quality, low, high, *self.about)

    def agrees(self) -> bool:
        return agrees(self.person, self._share, *self.about)

    def picks(self, options: Sequence[str]) -> str:
        return picks(self.person, self._share, self.right, options, *self.about)

    @property
    def _share(self) -> float:
        return 0.5 if self.quality is None else self.quality


def fill(
    person: Person, form: PageForm, quality: Quality, right: str, *about: object
) -> dict[str, str]:
    """Answer every question of a form; `right` is the option that would be right, where one is."""
    return dict(replies(person, form.questions, quality, right, *about))


def replies(
    person: Person,
    questions: Sequence[PageQuestion],
    quality: Quality,
    right: str,
    *about: object,
) -> Iterator[tuple[str, str]]:
    """Yield name and answer of each question that those before it leave open."""
    answered: dict[str, str] = {}
    for question in questions:
        if question.gate and answered.get(question.gate) not in question.gate_values:
            continue
        name = question.name.rpartition(".")[2]
        rater = PlantedRater(person, quality.get(name), right, (name, *about))
        answered[question.name] = get_kind(question.kind).simulated(question.answer_field, rater)
        yield question.name, answered[question.name]


def persona(page: BrowserPage) -> list[str]:
    """Return the sentences of the character of a person, if any."""
    return [line.strip() for line in page.items.get("persona", ()) if line.strip()]


def code(page: BrowserPage) -> str:
    """Return the completion code that a page shows, or nothing."""
    return page.marks.get("code", "").strip()
