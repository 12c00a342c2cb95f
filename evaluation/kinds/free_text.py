"""Free text: an answer in the rater's own words, which is read and never counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evaluation.checks import word_count
from evaluation.questions import (
    AnswerField,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
)
from evaluation.sentences import Sentence, counted, listed, sentence

LONGEST = 2_000  # characters of any answer: what a draft of a form keeps
KEPT_CONTROLS = "\n\t"
SENTENCES = (
    "I could follow every sentence without reading it twice.",
    "It asked about my family and then told me something about its own.",
    "First it said that it had a dog, later that it had never owned a pet.",
    "Some of the answers had little to do with what I had written.",
    "The conversation was friendly, but after a while it repeated itself.",
    "Most of it made sense to me.",
)


@dataclass(frozen=True, kw_only=True)
class FreeText(Question):
    """A text of `least_words` to `most_words`, and of so many characters; None is no limit.

    One that is not `required` may also be left blank.
    """

    kind: ClassVar[str] = "free_text"
    level: ClassVar[Level] = "text"
    while_chatting: ClassVar[bool] = False
    required: bool = True
    least_words: int = 1
    most_words: int | None = None
    least_characters: int = 1
    most_characters: int = 1_000

    def __post_init__(self) -> None:
        """Refuse limits that no text could keep. Raises `ValueError`."""
        most_fitting = (self.most_characters + 1) // 2  # words of one letter
        most_words = most_fitting if self.most_words is None else min(self.most_words, most_fitting)
        if not 1 <= self.least_words <= most_words:
            raise ValueError(
                f"question {self.name}: least_words is {self.least_words}; "
                f"write a number from 1 to {most_words}"
            )
        if not 1 <= self.least_characters <= self.most_characters <= LONGEST:
            raise ValueError(
                f"question {self.name}: characters from {self.least_characters} to "
                f"{self.most_characters}; write a range within 1 to {LONGEST}"
            )

    @classmethod
    def sample(cls) -> FreeText:
        text = "What did you like about your partner?"
        return cls(name="liked", text=text, least_words=2, most_words=50, most_characters=200)

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        limits = {
            "data-least-words": self.least_words,
            "data-most-words": self.most_words,
            "data-least-characters": self.least_characters,
            "maxlength": self.most_characters,
        }
        return AnswerField(
            input={name: str(limit) for name, limit in limits.items() if limit is not None}
        )

    def parse(self, raw: str, shown: Shown) -> str:
        text = normalized(raw)
        if not text and not self.required:
            return ""
        complaint = next(self._complaints(text), None)
        if complaint is not None:
            raise InvalidAnswer(complaint)
        return text

    def _complaints(self, text: str) -> Iterator[Sentence]:
        words, characters = word_count(text), len(text)
        if not text:
            yield sentence("Write an answer: %(limits)s.", limits=listed(list(self._limits())))
        if words < self.least_words:
            least = _words(self.least_words)
            yield sentence(
                "Write at least %(least)s; this has %(count)d.", least=least, count=words
            )
        if self.most_words is not None and words > self.most_words:
            most = _words(self.most_words)
            yield sentence("Write at most %(most)s; this has %(count)d.", most=most, count=words)
        if characters < self.least_characters:
            least = _characters(self.least_characters)
            about = {"least": least, "count": characters}
            yield sentence("Write at least %(least)s; this has %(count)d.", **about)
        if characters > self.most_characters:
            about = {"most": _characters(self.most_characters), "count": characters}
            yield sentence("Write at most %(most)s; this has %(count)d.", **about)

    def words(self, value: Any) -> str:
        return str(value) or "(left blank)"

    def offer(self) -> str:
        return f"a text of {', '.join(self._limits())}{'' if self.required else ', or none'}"

    @property
    def limits(self) -> Sentence:
        """The limits as a sentence, which stands below the field."""
        limits = listed(list(self._limits()))
        if self.required:
            return sentence("Length: %(limits)s.", limits=limits)
        return sentence("Length: %(limits)s. You may leave it blank.", limits=limits)

    @property
    def may_be_blank(self) -> bool:
        return not self.required

    def _limits(self) -> Iterator[Sentence]:
        if self.least_words > 1:
            yield sentence("at least %(least)s", least=_words(self.least_words))
        if self.most_words is not None:
            yield sentence("at most %(most)s", most=_words(self.most_words))
        if self.least_characters > 1:
            yield sentence("at least %(least)s", least=_characters(self.least_characters))
        yield sentence("at most %(most)s", most=_characters(self.most_characters))

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        """Return a sentence, repeated or cut until it keeps the limits."""
        limits = {name: int(limit) for name, limit in field.input.items() if limit.isdigit()}
        text = rater.picks(SENTENCES)
        while (
            word_count(text) < limits["data-least-words"]
            or len(text) < limits["data-least-characters"]
        ):
            text += f" {rater.picks(SENTENCES)}"
        return " ".join(text.split()[: limits.get("data-most-words")])[: limits["maxlength"]]

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        return self._of(self.least_words), self._of(self.least_words, "b")

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        blank = ("", "  ", "\0\n") if self.required else ()
        short = self._of(self.least_words - 1) if self.least_words > 1 else None
        wordy = None if self.most_words is None else " ".join("a" * (self.most_words + 1))
        few = "a" * (self.least_characters - 1) if self.least_characters > 1 else None
        many = "a" * (self.most_characters + 1)
        return *blank, *(text for text in (short, wordy, few, many) if text is not None)

    def _of(self, words: int, letter: str = "a") -> str:
        """Return a text of so many words, long enough."""
        text = " ".join(letter * words)
        return text + letter * (self.least_characters - len(text))


def normalized(raw: str) -> str:
    """Return a text as it is stored: composed (NFC), lines ended by one sign, no control signs."""
    lines = unicodedata.normalize("NFC", raw).replace("\r\n", "\n").replace("\r", "\n")
    kept = (
        sign
        for sign in lines
        if sign in KEPT_CONTROLS or unicodedata.category(sign) not in ("Cc", "Cs")
    )
    return unicodedata.normalize("NFC", "".join(kept)).strip()


def _words(count: int) -> Sentence:
    return counted("%(count)d word", "%(count)d words", count)


def _characters(count: int) -> Sentence:
    return counted("%(count)d character", "%(count)d characters", count)


KIND = FreeText
