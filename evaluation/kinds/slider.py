"""Sliders: any position between two ends, with words at some positions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.questions import (
    AnswerField,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
)
from evaluation.words import like

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """The word at a position of a slider."""

    position: float
    word: str


@dataclass(frozen=True, kw_only=True)
class Slider(Question):
    """A position from `low` to `high`; until the slider is touched there is no answer.

    step: how far one press of an arrow key moves it. anchors: words at positions, in their order,
    those of both ends among them.
    """

    kind: ClassVar[str] = "slider"
    level: ClassVar[Level] = "interval"
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    anchors: tuple[Anchor, ...]

    def __post_init__(self) -> None:
        """Refuse a slider that cannot be moved or read. Raises `ValueError`."""
        if not self.low < self.high:
            raise ValueError(
                f"question {self.name}: low is {self.low:g}; it must be below {self.high:g}"
            )
        if not 0 < self.step <= self.high - self.low:
            raise ValueError(
                f"question {self.name}: step is {self.step:g}; it must be above 0, "
                f"and {self.high - self.low:g} at most"
            )
        positions = [anchor.position for anchor in self.anchors]
        if positions != sorted(set(positions)) or {*positions[:1], *positions[-1:]} != {
            self.low,
            self.high,
        }:
            raise ValueError(
                f"question {self.name}: anchors are at {', '.join(map('{:g}'.format, positions))}; "
                f"they must go up from {self.low:g} to {self.high:g}"
            )

    @classmethod
    def sample(cls) -> Slider:
        anchors = (Anchor(position=0, word="cold"), Anchor(position=1, word="warm"))
        return cls(name="warmth", text="How warm was your partner?", anchors=anchors)

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        numbers = {"min": self.low, "max": self.high, "step": self.step}
        words = ", ".join(f"{value} = {word}" for value, word in self.meanings().items())
        title = like(self.anchors[0].word, words)
        attributes = {name: f"{value:g}" for name, value in numbers.items()}
        return AnswerField(input={"type": "range", **attributes, "title": title})

    def parse(self, raw: str, shown: Shown) -> float:
        value = float(raw) if NUMBER.fullmatch(raw) else float("nan")
        if not self.low <= value <= self.high:
            first, last = self.anchors[0], self.anchors[-1]
            raise InvalidAnswer(
                "Move the slider between %(low)s (%(first)s) and %(high)s (%(last)s).",
                low=f"{self.low:g}",
                first=first.word,
                high=f"{self.high:g}",
                last=last.word,
            )
        return value

    @property
    def scale(self) -> tuple[float, float]:
        return self.low, self.high

    def words(self, value: Any) -> str:
        try:
            return f"{float(value):.4g}"
        except ValueError:  # what is stored where it was not asked
            return str(value)

    def offer(self) -> str:
        words = ", ".join(f"{value} = {word}" for value, word in self.meanings().items())
        return f"any position from {super().offer()}; {words}"

    def meanings(self) -> dict[str, str]:
        return {f"{anchor.position:g}": anchor.word for anchor in self.anchors}

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return str(rater.position(float(field.input["min"]), float(field.input["max"])))

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return str(self.low), str((self.low + self.high) / 2), str(self.high)

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        outside = (str(self.low - self.step), str(self.high + self.step))
        return "", "  ", *outside, "nan", "inf", "1e400", "１", "warm"


KIND = Slider
