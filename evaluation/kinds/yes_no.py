"""Yes or no: a question with two answers, one of which may open further questions."""

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
)
from evaluation.words import ours


@dataclass(frozen=True, kw_only=True)
class YesNo(Question):
    """Yes, stored as 1, or no, stored as 0; `yes` and `no` are the words on the page."""

    kind: ClassVar[str] = "yes_no"
    level: ClassVar[Level] = "nominal"
    yes: str = ours("Yes")
    no: str = ours("No")

    @classmethod
    def sample(cls) -> YesNo:
        return cls(name="polite", text="Was your partner polite?")

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        letters = [word[:1].lower() for word in (self.yes, self.no)]
        differ = len({*letters, ""}) == 3
        return AnswerField(
            options=tuple(
                AnswerOption(value=value, word=word, key=value, letter=first if differ else "")
                for (value, word), first in zip(self.meanings().items(), letters, strict=True)
            )
        )

    def parse(self, raw: str, shown: Shown) -> int:
        if raw not in self.meanings():
            raise InvalidAnswer("Choose yes or no.")
        return int(raw)

    @property
    def scale(self) -> tuple[float, float]:
        return 0.0, 1.0

    def words(self, value: Any) -> str:
        return self.meanings().get(str(value), str(value))

    def offer(self) -> str:
        return "yes or no"

    def meanings(self) -> dict[str, str]:
        return {"1": self.yes, "0": self.no}

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return str(int(rater.agrees()))

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return "1", "0"

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        return "", "  ", "-1", "2", "0.5", " 1", "01", "１", "nan", "yes", "true"


KIND = YesNo
