"""Writing as a step of a protocol: personas, their revisions, replies, or paraphrases.

What is written is a contribution: a few texts in order, such as the sentences of a persona.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from evaluation.checks import WORDS, MessageCheck, SentenceLength
from evaluation.images import Image
from evaluation.kinds.free_text import FreeText
from evaluation.questions import InvalidAnswer, Shown
from evaluation.rating import InvalidAnswers
from evaluation.sentences import sentence
from evaluation.setting_types import OneOf, WholeNumber
from evaluation.settings import InvalidSetting, Setting, Source, replaced, setting, settings_of

REVIEWS = ("staff", "automatic")  # who accepts what is offered
NOTHING = Shown(())
STRANGE = sentence("This text is not asked for.")
SAME = sentence("This is the message itself. Please use other words.")


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """A worked example on the page: a text, of an original where it revises one; good or not.

    images: within it.
    """

    text: str
    original: str = ""
    good: bool = True
    why: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Write:
    """Texts that a participant writes, offered to the requester.

    makes: a persona, which has `sentences`; a revision, of one sentence each for those of a persona
    that somebody else wrote; a reply to a context; or a paraphrase of a message of a conversation
    that others held in another campaign. asks: the field of each text. checks: rules for each text,
    which see the sentence that is revised, or the message. messages: of a context, least and most.
    """

    prefix: ClassVar[str] = "write"
    makes: Literal["persona", "revision", "reply", "paraphrase"]
    asks: FreeText
    checks: tuple[MessageCheck, ...] = ()
    examples: tuple[WorkedExample, ...] = ()
    messages: tuple[int, int] = (1, 3)
    sentences: int = setting("Sentences per persona", WholeNumber(least=1, most=10), default=5)
    count: int = setting("Personas wanted", WholeNumber(least=1, most=100_000), default=100)
    valid: int = setting(
        "Personas set aside for validation", WholeNumber(least=0, most=100_000), default=0
    )
    test: int = setting(
        "Personas set aside for test", WholeNumber(least=0, most=100_000), default=0
    )
    writers: int = setting(
        "Writers per persona, context or message", WholeNumber(least=1, most=100), default=1
    )
    batch: int = setting(
        "Personas, contexts or messages per participant", WholeNumber(least=1, most=100), default=1
    )
    cuts: int | None = setting(
        "Points at which each conversation is cut",
        WholeNumber(least=1, most=1000, optional=True),
        default=None,
        help="So many messages of each conversation are drawn: those that come next where it is "
        "cut. Leave it empty to have every message paraphrased.",
    )
    before: int = setting(
        "Messages shown before the one to paraphrase", WholeNumber(least=0, most=50), default=4
    )
    review: str = setting(
        "Who accepts what is written",
        OneOf(REVIEWS),
        default="staff",
        help="Staff: each text is read before it can be used, and one that is refused is asked of "
        "somebody else. Automatic: what keeps the rules is accepted at once.",
    )

    @property
    def one_by_one(self) -> bool:
        """Whether the page asks for one text after another, beside all that is revised."""
        return self.makes == "revision"

    @property
    def of_conversations(self) -> bool:
        """Whether messages of other campaigns' conversations are written about."""
        return self.makes == "paraphrase"

    @property
    def limited(self) -> FreeText:
        """The field of each text with the limits that the checks keep: what a page shows."""
        lengths = [check for check in self.checks if isinstance(check, SentenceLength)]
        if not lengths:
            return self.asks
        least, most = lengths[0].least, lengths[0].most
        return dataclasses.replace(self.asks, least_words=least, most_words=most)

    def has_setting(self, name: str) -> bool:
        """Tell whether a setting applies to what is written."""
        of_personas = ("sentences", "count", "valid", "test")
        if name in of_personas:
            return self.makes == "persona"
        if name in ("cuts", "before"):
            return self.of_conversations
        return name != "writers" or self.makes != "persona"

    def changed(self, values: Mapping[str, object]) -> Write:
        """Return this step with some settings replaced, those of its checks too.

        Raises `InvalidSetting`.
        """
        checks = tuple(replaced(c, f"write.{c.name}", values) for c in self.checks)
        step = dataclasses.replace(replaced(self, self.prefix, values), checks=checks)
        if step.valid + step.test > step.count:
            raise InvalidSetting(
                f"write.count: “{step.count}” is below the personas set aside; "
                f"write {step.valid + step.test} or more"
            )
        for check in checks:
            if isinstance(check, SentenceLength) and check.least > check.most:
                raise InvalidSetting(
                    f"write.sentence_len.least: “{check.least}” is above the maximum of words; "
                    f"write {check.most} or less"
                )
        return step

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        """Return the settings of the step, then those of its checks."""
        own = settings_of(self, self.prefix, sources, self.has_setting)
        return own + [s for c in self.checks for s in settings_of(c, f"write.{c.name}", sources)]

    def wanted(self, basis: Sequence[str]) -> int:
        """Return how many texts are asked for about a basis: a persona, a context, a message."""
        return {"persona": self.sentences, "revision": len(basis)}.get(self.makes, 1)

    def original(self, number: int, basis: Sequence[str]) -> str:
        """Return what one text says in other words, "" where it is new; `number` is from 0."""
        rewords = self.makes in ("revision", "paraphrase")
        return basis[number] if rewords and number < len(basis) else ""

    def text(self, raw: str, number: int, basis: Sequence[str]) -> str:
        """Return one text, on one line; `number` counts from 0. Raises `InvalidAnswer`."""
        written = " ".join(self.asks.parse(raw, NOTHING).split())
        original = self.original(number, basis)
        if self.makes == "paraphrase" and _alike(written, original):
            raise InvalidAnswer(SAME)
        complaints = (check(written, (original,) if original else ()) for check in self.checks)
        complaint = next((each for each in complaints if each), None)
        if complaint is not None:
            raise InvalidAnswer(complaint)
        return written

    def parse(self, raw: Mapping[str, str], about: str, basis: Sequence[str]) -> tuple[str, ...]:
        """Return the texts from fields named `about.number`, from 1.

        Raises `InvalidAnswers` with a complaint per field.
        """
        names = self.names(about, basis)
        problems: dict[str, str] = {name: STRANGE for name in raw if name not in names}
        texts: list[str] = []
        for number, name in enumerate(names):
            try:
                text = self.text(raw.get(name, ""), number, basis)
            except InvalidAnswer as problem:
                problems[name] = problem.sentence
                continue
            if self.makes == "persona" and text in texts:
                problems[name] = sentence("This sentence stands there already. Write another one.")
            texts.append(text)
        if problems:
            raise InvalidAnswers(problems)
        return tuple(texts)

    def names(self, about: str, basis: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the fields of a form."""
        return tuple(f"{about}.{number}" for number in range(1, self.wanted(basis) + 1))


def _alike(text: str, other: str) -> bool:
    """Tell whether two texts have the same words, whatever their case and marks."""
    return WORDS.findall(text.casefold()) == WORDS.findall(other.casefold())
