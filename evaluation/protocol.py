"""Protocols: the steps a participant takes, and where each setting comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.admission import Admission, Attention, Onboarding, Quiz, Screening, admissions
from evaluation.chat import Chat
from evaluation.images import Image
from evaluation.questions import Question
from evaluation.rating import Rate
from evaluation.settings import InvalidSetting, Setting, Source
from evaluation.words import Translated, texts, translated
from evaluation.writing import Write

ENGLISH = "en"
Step = Chat | Rate | Write | Screening | Quiz | Onboarding | Attention


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A published procedure: its steps, in order, with the provenance of every setting.

    source: the paper and section. sources: setting name to where its value comes from; a setting
    that is not named is our default. language: of its texts. translations: by language and path the
    texts in others, where the protocol has them (`evaluation.words.translated`). images: shown with
    the instructions.
    """

    name: str
    title: str
    source: str
    minutes: int
    instructions: tuple[str, ...]
    steps: tuple[Step, ...]
    sources: Mapping[str, Source] = field(default_factory=dict)
    language: str = ENGLISH
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    images: tuple[Image, ...] = ()

    @property
    def chat(self) -> Chat | None:
        return next((step for step in self.steps if isinstance(step, Chat)), None)

    @property
    def live(self) -> Rate | None:
        """The questions asked while chatting."""
        return next((s for s in self.steps if isinstance(s, Rate) and s.when == "live"), None)

    @property
    def after(self) -> Rate | None:
        """The questions asked at the end, or of a static benchmark."""
        return next((s for s in self.steps if isinstance(s, Rate) and s.when == "after"), None)

    @property
    def write(self) -> Write | None:
        """What is written, where nobody chats or rates."""
        return next((step for step in self.steps if isinstance(step, Write)), None)

    @property
    def rates(self) -> tuple[Rate, ...]:
        return tuple(step for step in self.steps if isinstance(step, Rate))

    @property
    def batch(self) -> int:
        """How many items one participant is given; of a conversation only one."""
        steps = [step for step in (self.write, self.after) if step is not None]
        return steps[0].batch if steps and self.chat is None else 1

    @property
    def admissions(self) -> tuple[Admission, ...]:
        """The steps that ask something before the work, in order."""
        return tuple(admissions(self.steps))

    @property
    def screening(self) -> Screening | None:
        return next((step for step in self.steps if isinstance(step, Screening)), None)

    @property
    def quiz(self) -> Quiz | None:
        return next((step for step in self.steps if isinstance(step, Quiz)), None)

    @property
    def onboarding(self) -> Onboarding | None:
        return next((step for step in self.steps if isinstance(step, Onboarding)), None)

    @property
    def attention(self) -> Attention | None:
        return next((step for step in self.steps if isinstance(step, Attention)), None)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, those before the work first, attention checks last."""
        before = (question for step in self.admissions for question in step.questions)
        work = (question for rate in self.rates for question in rate.questions)
        return (*before, *work, *(self.attention.questions if self.attention else ()))

    @property
    def every_image(self) -> tuple[Image, ...]:
        """Those with the instructions, then those of questions, within examples first."""
        found = [*self.images]
        for example in self.write.examples if self.write else ():
            found += example.images
        for question in self.questions:
            found += [image for example in question.examples for image in example.images]
            found += question.images
        return tuple(found)

    def settings(self) -> tuple[Setting, ...]:
        """Return each setting a requester may change, with its value and provenance."""
        found = (each for step in self.steps for each in step.settings(self.sources))
        return tuple(each for each in found if each.name != "rate.sides" or self.pairs_people)

    @property
    def one_rates(self) -> bool:
        """Whether one of two people rates the other, rather than both."""
        return self.after is not None and self.after.sides == "one"

    @property
    def pairs_people(self) -> bool:
        """Whether two people can be partners."""
        return self.chat is not None and self.chat.partner != "bot"

    def in_language(self, language: str, more: Mapping[str, str]) -> Protocol:
        """Return this protocol with its texts in a language, where it or `more` has them."""
        own = {} if self.language == ENGLISH else dict(texts(self))
        found = {**self.translations.get(language, {}), **more}
        to = {field: Translated(text, self.language) for field, text in own.items()}
        to |= {field: Translated(text, language) for field, text in found.items() if text}
        return translated(self, to) if to else self

    def change(self, values: Mapping[str, object]) -> Protocol:
        """Return this protocol with some settings replaced. Raises `InvalidSetting`."""
        known = {setting.name for setting in self.settings()}
        for name in values:
            if name not in known:
                raise InvalidSetting(f"{name}: not a setting; the settings are {sorted(known)}")
        changed = dataclasses.replace(
            self, steps=tuple(step.changed(values) for step in self.steps)
        )
        changed._check_onboarding()
        return changed

    def _check_onboarding(self) -> None:
        """Refuse a batch that known answers would fill. Raises `InvalidSetting`."""
        if self.onboarding and self.after and self.onboarding.items >= self.after.batch:
            raise InvalidSetting(
                f"onboarding.items: “{self.onboarding.items}” leaves nothing of the "
                f"{self.after.batch} items per participant; write less, or raise those"
            )
