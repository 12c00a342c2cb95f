"""Preferences: the better of two replies shown side by side, or one of the ties allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evaluation.questions import (
    TOGETHER,
    AnswerField,
    AnswerOption,
    ChoiceOption,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
    Value,
    in_words,
    letter,
)
from evaluation.words import like, ours

WON, LOST = "won", "lost"


@dataclass(frozen=True, kw_only=True)
class Preference(Question):
    """The better of the replies shown, or one of `ties`; none of them is a forced choice.

    reply: the word before a reply's letter, or its number where they are `numbered`. In tables the
    winner has rank 1 and the others 2; after a tie all have rank 1, and `chosen` names the tie.
    """

    kind: ClassVar[str] = "preference"
    level: ClassVar[Level] = "rank"
    while_chatting: ClassVar[bool] = False
    compares: ClassVar[Literal["", "each", "together"]] = "together"
    ties: tuple[ChoiceOption, ...] = ()
    reply: str = ours("Response")
    numbered: bool = False

    def __post_init__(self) -> None:
        """Refuse ties that no answer could tell apart. Raises `ValueError`."""
        values = [tie.value for tie in self.ties]
        if len({WON, LOST, *map(str, values)}) < 2 + len(values) or "" in values:
            raise ValueError(
                f"question {self.name}: each tie needs a value of its own, "
                f"other than {WON} and {LOST}"
            )

    @classmethod
    def sample(cls) -> Preference:
        ties = (ChoiceOption(value="neither", word="Neither"),)
        return cls(name="better", text="Which reply is better?", ties=ties)

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        signs = [str(n + 1) if self.numbered else letter(n) for n in range(len(shown.candidates))]
        replies = [
            (key, like(self.reply, f"{self.reply} {sign}"))
            for key, sign in zip(shown.candidates, signs, strict=True)
        ]
        ties = [(str(tie.value), tie.word) for tie in self.ties]
        options = enumerate([*replies, *ties], start=1)
        return AnswerField(
            options=tuple(
                AnswerOption(value=value, word=word, key=str(number) if number < 10 else "")
                for number, (value, word) in options
            )
        )

    def parse(self, raw: str, shown: Shown) -> str:
        options = [*shown.candidates, *(str(tie.value) for tie in self.ties)]
        if raw not in options:
            raise InvalidAnswer("Choose one of the %(count)s.", count=in_words(len(options)))
        return raw

    def spread(self, value: Value, shown: Shown) -> dict[str, Value]:
        if value not in shown.candidates:
            return dict.fromkeys(shown.candidates, value)
        return {key: WON if key == value else LOST for key in shown.candidates}

    def cells(self, value: Any, right: str) -> tuple[int, str]:
        if value in (WON, LOST):
            return 1 + (value == LOST), ""
        return 1, str(value)

    def words(self, value: Any) -> str:
        return {str(tie.value): tie.word for tie in self.ties}.get(str(value), str(value))

    def offer(self) -> str:
        ties = "".join(f" or “{tie.word}”" for tie in self.ties)
        return f"one of the replies shown{ties}" if ties else "one of the replies shown, no tie"

    def meanings(self) -> dict[str, str]:
        ties = {str(tie.value): f"a tie: {tie.word}" for tie in self.ties}
        return {"1": "preferred, or a tie", "2": "the other was preferred"} | ties

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        return rater.prefers([option.value for option in field.options])

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return (*shown.candidates, *(str(tie.value) for tie in self.ties))

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        foreign = "".join((*shown.candidates, TOGETHER)) + "x"  # longer than every key
        return "", "  ", foreign, WON, "nan"


KIND = Preference
