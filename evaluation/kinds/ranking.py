"""Rankings: a position for each of the replies shown together, without ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evaluation.questions import (
    AnswerField,
    AnswerOption,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
    Value,
)
from evaluation.sentences import sentence
from evaluation.words import ours


@dataclass(frozen=True, kw_only=True)
class Ranking(Question):
    """The position of a reply among those shown, 1 the best; no two have the same.

    best, worst: words beside the first and the last position.
    """

    kind: ClassVar[str] = "ranking"
    level: ClassVar[Level] = "rank"
    while_chatting: ClassVar[bool] = False
    compares: ClassVar[Literal["", "each", "together"]] = "each"
    best: str = ours("best")
    worst: str = ours("worst")

    @classmethod
    def sample(cls) -> Ranking:
        return cls(name="order", text="Which position has this reply?")

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        ends = {1: self.best, len(shown.candidates): self.worst}
        return AnswerField(
            options=tuple(
                AnswerOption(
                    value=str(position),
                    word=ends.get(position, ""),
                    key=str(position) if position < 10 else "",
                )
                for position in range(1, len(shown.candidates) + 1)
            )
        )

    def parse(self, raw: str, shown: Shown) -> int:
        positions = self.sample_answers(shown)
        if raw not in positions:
            raise InvalidAnswer("Choose a position from 1 to %(last)d.", last=len(positions))
        return int(raw)

    def conflicts(self, answers: Mapping[str, Value]) -> dict[str, str]:
        held = Counter(answers.values())
        return {
            about: sentence(
                "Position %(position)s is given %(times)d times; give each reply another.",
                position=position,
                times=held[position],
            )
            for about, position in answers.items()
            if held[position] > 1
        }

    def words(self, value: Any) -> str:
        return f"position {value}"

    def offer(self) -> str:
        return f"a position from 1 ({self.best}) to the number of replies ({self.worst}), no ties"

    def meanings(self) -> dict[str, str]:
        return {"1": self.best}

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return str(rater.rank())

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return tuple(str(position) for position in range(1, len(shown.candidates) + 1))

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        most = len(shown.candidates)
        return "", "  ", "0", str(most + 1), "1.5", " 1", "01", "１", "nan"


KIND = Ranking
