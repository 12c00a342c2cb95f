"""Choices: one of a few options, each with a word; graded where their values are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.questions import (
    AnswerField,
    AnswerOption,
    ChoiceOption,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
    in_words,
)

LONGEST = 40  # characters of a value, as the wire takes them
KEYS = 9  # options that a digit of the keyboard can choose


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """One of `options`, in the order shown: values that are numbers are grades, others names."""

    kind: ClassVar[str] = "choice"
    options: tuple[ChoiceOption, ...]

    def __post_init__(self) -> None:
        """Refuse options that no answer could tell apart. Raises `ValueError`."""
        values = [option.value for option in self.options]
        names = [value for value in values if isinstance(value, str)]
        if len(values) < 2 or len(set(map(str, values))) < len(values):
            raise ValueError(f"question {self.name}: needs two options or more, each its own value")
        if names and len(names) < len(values):
            raise ValueError(f"question {self.name}: values must be all numbers or all names")
        for name in names:
            if name != name.strip() or not 1 <= len(name) <= LONGEST or _is_number(name):
                raise ValueError(
                    f"question {self.name}: the value {name!r} must be a name of 1 to {LONGEST} "
                    "characters, without spaces around it"
                )

    @classmethod
    def sample(cls) -> Choice:
        options = (
            ChoiceOption(value="sad", word="Sad", definition="Something is missed."),
            ChoiceOption(value="glad", word="Glad"),
            ChoiceOption(value="neither", word="Neither"),
        )
        return cls(name="mood", text="What was your partner's mood?", options=options)

    @property
    def is_graded(self) -> bool:
        return all(isinstance(option.value, int) for option in self.options)

    @property
    def level(self) -> Level:
        return "ordinal" if self.is_graded else "nominal"

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        return AnswerField(
            options=tuple(
                AnswerOption(
                    value=str(option.value),
                    word=option.word,
                    key=str(number) if number <= KEYS else "",
                    lines=(option.definition,) if option.definition else (),
                )
                for number, option in enumerate(self.options, start=1)
            )
        )

    def parse(self, raw: str, shown: Shown) -> int | str:
        values = {str(option.value): option.value for option in self.options}
        if raw not in values:
            raise InvalidAnswer("Choose one of the %(count)s.", count=in_words(len(values)))
        return values[raw]

    @property
    def scale(self) -> tuple[float, float] | None:
        grades = [option.value for option in self.options if isinstance(option.value, int)]
        return (float(min(grades)), float(max(grades))) if self.is_graded else None

    def words(self, value: Any) -> str:
        word = {str(option.value): option.word for option in self.options}.get(str(value))
        if word is None:
            return str(value)
        return f"{value} ({word})" if self.is_graded else word

    def offer(self) -> str:
        if not self.is_graded:
            return f"one of: {', '.join(option.word for option in self.options)}"
        words = (f"{option.value} = {option.word}" for option in self.options)
        return f"{super().offer()}; {', '.join(words)}"

    def meanings(self) -> dict[str, str]:
        return {
            str(option.value): ": ".join(filter(None, (option.word, option.definition)))
            for option in self.options
        }

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        """Return a grade by the planted quality; of names the right one with the planted chance.

        Where none is known to be right that is the first.
        """
        values = [option.value for option in field.options]
        if all(map(_is_number, values)):
            return str(rater.point(sorted(map(int, values))))
        if rater.knows(values):
            return rater.picks(values)
        return values[0] if rater.agrees() else rater.picks(values[1:])

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return tuple(str(option.value) for option in self.options)

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        values = self.sample_answers(shown)
        beyond = () if self.scale is None else tuple(f"{end:g}.5" for end in self.scale)
        return "", "  ", f" {values[0]}", "".join(values) + "x", "nan", *beyond


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


KIND = Choice
