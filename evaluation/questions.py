"""The kinds of question a protocol can ask, and what counts as an answer to each.

Stored is what the rater said under a name that keeps its meaning (a scale point, a persona's key),
never how it was shown. Each kind has a template of the same name in `templates/questions/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Value = int | float | str | tuple[str, ...]
Level = Literal["nominal", "ordinal", "interval"]


class InvalidAnswer(ValueError):
    """An answer that cannot be stored; the text says what would be right."""


@dataclass(frozen=True)
class Shown:
    """What was drawn for one rater: the candidates in order, and each choice's options in order."""

    candidates: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question about one candidate.

    `only_if` names a yes/no question that must be answered yes first; otherwise `otherwise` is
    stored without asking.
    """

    kind: ClassVar[str]
    level: ClassVar[Level]
    name: str
    text: str
    help: str = ""
    only_if: str | None = None
    otherwise: Value | None = None

    def parse(self, raw: str, shown: Shown) -> Value:
        """Return the value that `raw` means, or raise `InvalidAnswer`."""
        raise NotImplementedError

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and highest value that can be given, where the values are numbers."""
        return None


@dataclass(frozen=True, kw_only=True)
class Likert(Question):
    """One point of a scale from `first` upwards; a word per point, "" where the source has none."""

    kind: ClassVar[str] = "likert"
    level: ClassVar[Level] = "ordinal"
    points: tuple[str, ...]
    first: int = 1

    @property
    def options(self) -> tuple[tuple[int, str], ...]:
        return tuple(enumerate(self.points, start=self.first))

    @property
    def scale(self) -> tuple[float, float]:
        return float(self.first), float(self.first + len(self.points) - 1)

    def parse(self, raw: str, shown: Shown) -> int:
        low, high = (int(end) for end in self.scale)
        if not (raw.isascii() and raw.isdigit() and low <= int(raw) <= high):
            raise InvalidAnswer(f"choose a whole number from {low} to {high}")
        return int(raw)


@dataclass(frozen=True, kw_only=True)
class YesNo(Question):
    """Yes (1) or no (0)."""

    kind: ClassVar[str] = "yes_no"
    level: ClassVar[Level] = "nominal"

    @property
    def options(self) -> tuple[tuple[int, str], ...]:
        return (1, "Yes"), (0, "No")

    @property
    def scale(self) -> tuple[float, float]:
        return 0.0, 1.0

    def parse(self, raw: str, shown: Shown) -> int:
        if raw not in ("0", "1"):
            raise InvalidAnswer("answer yes (1) or no (0)")
        return int(raw)


@dataclass(frozen=True, kw_only=True)
class PersonaChoice(Question):
    """Which of the personas shown is the partner's; stored is the key of the one chosen.

    `distractors` random personas stand beside the true one, in an order drawn and stored.
    """

    kind: ClassVar[str] = "persona_choice"
    level: ClassVar[Level] = "nominal"
    distractors: int = 1

    def parse(self, raw: str, shown: Shown) -> str:
        if raw not in shown.choices.get(self.name, ()):
            raise InvalidAnswer("choose one of the characters shown")
        return raw
