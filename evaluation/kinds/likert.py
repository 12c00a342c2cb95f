"""Likert scales: one point of a row of points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.questions import (
    AnswerField,
    AnswerOption,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
    in_words,
)


@dataclass(frozen=True, kw_only=True)
class Likert(Question):
    """One point of a scale from `first` upwards; a word per point, "" where the source has none."""

    kind: ClassVar[str] = "likert"
    level: ClassVar[Level] = "ordinal"
    points: tuple[str, ...]
    first: int = 1

    @classmethod
    def sample(cls) -> Likert:
        points = ("not at all", "", "somewhat", "", "very")
        return cls(name="funny", text="How funny was your partner?", points=points)

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        return AnswerField(
            options=tuple(
                AnswerOption(value=value, word=word, key=value if len(value) == 1 else "")
                for value, word in self.meanings().items()
            )
        )

    def parse(self, raw: str, shown: Shown) -> int:
        if raw not in self.meanings():
            raise InvalidAnswer("Choose one of the %(count)s.", count=in_words(len(self.points)))
        return int(raw)

    @property
    def scale(self) -> tuple[float, float]:
        return float(self.first), float(self.first + len(self.points) - 1)

    def words(self, value: Any) -> str:
        word = self.meanings().get(str(value), "")
        return f"{value} ({word})" if word else str(value)

    def offer(self) -> str:
        words = [f"{value} = {word}" for value, word in self.meanings().items() if word]
        return "; ".join(filter(None, (super().offer(), ", ".join(words))))

    def meanings(self) -> dict[str, str]:
        return {str(value): word for value, word in enumerate(self.points, start=self.first)}

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return str(rater.point([int(option.value) for option in field.options]))

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return tuple(self.meanings())

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        low, high = (int(end) for end in self.scale)
        outside = (str(low - 1), str(high + 1))
        return "", "  ", *outside, f"{low}.5", f" {low}", f"0{low}", "１", "nan", "yes"


KIND = Likert
