"""Persona choices: telling the partner's persona from random ones."""

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


@dataclass(frozen=True, kw_only=True)
class PersonaChoice(Question):
    """One of the personas shown, stored by its key.

    `distractors` random personas stand beside the partner's own, in an order drawn and stored.
    """

    kind: ClassVar[str] = "persona_choice"
    level: ClassVar[Level] = "nominal"
    while_chatting: ClassVar[bool] = False
    distractors: int = 1

    @classmethod
    def sample(cls) -> PersonaChoice:
        return cls(name="character", text="Which character is your partner's?", distractors=2)

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        keys, sentences = shown.choices.get(self.name, ()), personas or {}
        return AnswerField(
            options=tuple(
                AnswerOption(value=key, key=str(number), lines=sentences.get(key, ()))
                for number, key in enumerate(keys, start=1)
            )
        )

    def parse(self, raw: str, shown: Shown) -> str:
        if raw not in shown.choices.get(self.name, ()):
            raise InvalidAnswer("Choose one of the characters shown.")
        return raw

    def personas_beside(self) -> int:
        return self.distractors

    @property
    def cell_scale(self) -> tuple[float, float]:
        return 0.0, 1.0

    def cells(self, value: Any, right: str) -> tuple[int, str]:
        return int(value == right), str(value)

    def offer(self) -> str:
        others = "another" if self.distractors == 1 else f"{self.distractors} others"
        return f"a choice between the partner's persona and {others}, at random"

    def meanings(self) -> dict[str, str]:
        return {"1": "the partner's own persona", "0": "a random other persona"}

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return rater.picks([option.value for option in field.options])

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return shown.choices.get(self.name, ())

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        foreign = "".join(shown.choices.get(self.name, ())) + "x"  # longer than every key
        return "", "  ", foreign, "nan"


KIND = PersonaChoice
