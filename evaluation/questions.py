"""Questions: the one class whose methods say everything that a kind of question brings.

A kind is a subclass in `kinds/<kind>.py` and a template of its name in `templates/questions/`.
Pages, storage, exports, transcripts and simulated raters ask the question itself, so none of them
knows a kind. An answer is stored under a name that keeps its meaning (a scale point, a persona's
key), never as it was shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self
from typing import Protocol as Interface

from evaluation.images import Image
from evaluation.sentences import Sentence, sentence

Value = int | float | str | tuple[str, ...]
# What the values of an answer can be used for; a text is read by people, and enters no number.
# A rank is a position among what is shown together: 1 is best, a tie the same position.
Level = Literal["nominal", "ordinal", "interval", "rank", "text"]
Better = Literal["high", "low", "none"]
TOGETHER = "together"  # stands for all candidates where a question is about them together


NUMBERS = (  # from 2
    sentence("two"),
    sentence("three"),
    sentence("four"),
    sentence("five"),
    sentence("six"),
    sentence("seven"),
    sentence("eight"),
    sentence("nine"),
    sentence("ten"),
)


class InvalidAnswer(ValueError):
    """An answer that cannot be stored; the text tells the rater what to do, as a sentence.

    Its template is translated, so values stand in it as %(names)s, never in an f-string.
    """

    def __init__(self, template: str, /, **values: object) -> None:
        is_made = isinstance(template, Sentence)
        self.sentence = template if is_made else sentence(template, **values)
        super().__init__(str(self.sentence))


@dataclass(frozen=True)
class Shown:
    """Draws for one rater: the candidates in order, and each choice's options in order.

    together: the name that stands for all candidates in the fields of a form. intended: what a
    candidate was meant to be, where its import says so.
    """

    candidates: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    together: str = TOGETHER
    intended: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AnswerOption:
    """One thing to choose.

    key, letter: the digit and the letter on the keyboard that choose it, "" for none. lines:
    sentences of a persona.
    """

    value: str
    word: str = ""
    key: str = ""
    letter: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AnswerField:
    """Field of an answer: options to choose from, or the HTML attributes of one input."""

    options: tuple[AnswerOption, ...] = ()
    input: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChoiceOption:
    """One option: the value stored, its word, and a definition that stands below the word."""

    value: int | str
    word: str
    definition: str = ""


@dataclass(frozen=True)
class AnsweredExample:
    """An example of a question: what is judged, the answer to it, and why; images within it."""

    text: str
    answer: str
    why: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Gate:
    """The answers to an earlier question of the form that open a question."""

    question: str
    values: tuple[Value, ...] = (1,)  # yes

    def opens(self, value: object) -> bool:
        """Tell whether an answer, None for none, is one of them."""
        return value in self.values

    @classmethod
    def read(cls, plain: Any) -> Gate | None:
        """Return the gate of a plan, where it is a name (opened by yes), or question and values."""
        if plain is None or isinstance(plain, cls):
            return plain
        if isinstance(plain, str):
            return cls(plain)
        return cls(str(plain["question"]), tuple(plain["values"]))


class SimulatedRater(Interface):
    """A simulated person in front of one question, with the planted quality of what is judged."""

    def point(self, points: Sequence[int]) -> int:
        """Return one of the points of a scale."""

    def position(self, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""

    def agrees(self) -> bool:
        """Return yes or no."""

    def picks(self, options: Sequence[str]) -> str:
        """Return an option: the right one, where one is known, with the planted probability."""

    def knows(self, options: Sequence[str]) -> bool:
        """Tell whether one of the options is known to be right."""

    def prefers(self, options: Sequence[str]) -> str:
        """Return the reply felt to be the best; a tie, where there is one and two are alike."""

    def rank(self) -> int:
        """Return the position of what is judged among what is shown with it, 1 the best."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question about one candidate.

    only_if: which answers to an earlier question of the form open this one; without them, or where
    that one is closed itself, `otherwise` is stored and nothing is asked.

    intended: what replies must have been meant to be, as their import says, for the question to be
    asked; it is always asked where this is empty.

    better: which end of the values is the good one, for rankings; none where there is none.

    images: shown below the examples; those of one example stand within it.
    """

    kind: ClassVar[str]
    while_chatting: ClassVar[bool] = True  # may be asked under each message of the partner
    # Asked about candidates that are shown together: about each of them, or once about all.
    compares: ClassVar[Literal["", "each", "together"]] = ""
    name: str
    text: str
    help: str = ""
    examples: tuple[AnsweredExample, ...] = ()
    only_if: Gate | None = None
    otherwise: Value | None = None
    intended: tuple[str, ...] = ()
    better: Better = "high"
    images: tuple[Image, ...] = ()

    def applies_to(self, intended: Collection[str]) -> bool:
        """Tell whether this is asked of replies that were meant to be these, "" where unsaid.

        One of them must be what the question is for, and none something else.
        """
        known = {each for each in intended if each}
        return not self.intended or (bool(known) and known <= set(self.intended))

    @classmethod
    def sample(cls) -> Self:
        """Return a question of this kind, for the contract tests."""
        raise NotImplementedError

    # --- on the page

    def form_field(
        self, shown: Shown, personas: Mapping[str, tuple[str, ...]] | None = None
    ) -> AnswerField:
        """Return what the rater can choose or fill in; `personas` maps keys to sentences."""
        raise NotImplementedError

    def parse(self, raw: str, shown: Shown) -> Value:
        """Return the value that `raw` means. Raises `InvalidAnswer`."""
        raise NotImplementedError

    def spread(self, value: Value, shown: Shown) -> dict[str, Value]:
        """Return what an answer about all candidates together says of each of them."""
        return dict.fromkeys(shown.candidates, value)

    def conflicts(self, answers: Mapping[str, Value]) -> dict[str, str]:
        """Return the complaint about each candidate whose answer others contradict."""
        return {}

    def gives(self, value: Value) -> bool:
        """Tell whether an answer can be this value, whatever was drawn."""
        try:
            return self.parse(str(value), Shown(())) == value
        except InvalidAnswer:
            return False

    def personas_beside(self) -> int | None:
        """Return how many random personas stand beside the partner's, None for no personas."""
        return None

    # --- in tables and transcripts

    @property
    def level(self) -> Level:
        """What the values can be used for."""
        raise NotImplementedError

    @property
    def limits(self) -> Sentence | str:
        """What a text that is written as an answer has to keep; "" where none is written."""
        return ""

    @property
    def may_be_blank(self) -> bool:
        """Whether a text may be left out."""
        return False

    @property
    def is_scale(self) -> bool:
        """Whether the values are points on a scale, from less to more."""
        return self.level in ("ordinal", "interval")

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and highest value that can be given, where the values are numbers."""
        return None

    @property
    def cell_scale(self) -> tuple[float, float] | None:
        """The lowest and highest value of the column `value`, where its values are numbers."""
        return self.scale

    def cells(self, value: Any, right: str) -> tuple[Any, str]:
        """Return the columns `value` and `chosen` of an answer; `right` is the true persona."""
        return value, ""

    def words(self, value: Any) -> str:
        """Return an answer as a transcript prints it."""
        return str(value)

    def offer(self) -> str:
        """Return what can be answered, as the methods of a paper have it."""
        return "as stored" if self.scale is None else f"{self.scale[0]:g} to {self.scale[1]:g}"

    def meanings(self) -> dict[str, str]:
        """Return what values mean, for the codebook; "" where the source has no word."""
        return {}

    # --- in simulations and tests

    @classmethod
    def simulated(cls, field: AnswerField, rater: SimulatedRater) -> str:
        """Return the answer of a simulated rater, who knows the page and not the question."""
        raise NotImplementedError

    def sample_answers(self, shown: Shown) -> tuple[str, ...]:
        """Return good answers as they are sent, the ends of a scale among them."""
        raise NotImplementedError

    def bad_answers(self, shown: Shown) -> tuple[str, ...]:
        """Return answers that `parse` refuses, those just outside a scale among them."""
        raise NotImplementedError


def letter(number: int) -> str:
    """Return the letter of a reply by its place on the page, from 0; after Z come numbers."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def in_words(count: int) -> str:
    """Return a number as a sentence has it."""
    return NUMBERS[count - 2] if 2 <= count <= 10 else str(count)
