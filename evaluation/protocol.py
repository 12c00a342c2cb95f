"""Protocols: the steps a participant takes, and where each setting comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.admission import Admission, Onboarding, Quiz, Screening, admissions
from evaluation.questions import Question
from evaluation.settings import InvalidSetting, Setting, Source
from evaluation.steps import Chat, Rate

Step = Chat | Rate | Screening | Quiz | Onboarding


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A published procedure: its steps, in order, with the provenance of every setting.

    source: the paper and section. sources: setting name to where its value comes from; a setting
    that is not named is our default.
    """

    name: str
    title: str
    source: str
    minutes: int
    instructions: tuple[str, ...]
    steps: tuple[Step, ...]
    sources: Mapping[str, Source] = field(default_factory=dict)

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
    def rates(self) -> tuple[Rate, ...]:
        return tuple(step for step in self.steps if isinstance(step, Rate))

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
    def questions(self) -> tuple[Question, ...]:
        """Every question, those before the work first."""
        before = (question for step in self.admissions for question in step.questions)
        return (*before, *(question for rate in self.rates for question in rate.questions))

    def settings(self) -> tuple[Setting, ...]:
        """Return each setting a requester may change, with its value and provenance."""
        found = (each for step in self.steps for each in step.settings(self.sources))
        return tuple(each for each in found if each.name != "rate.sides" or self.pairs_people)

    @property
    def pairs_people(self) -> bool:
        """Whether two people can be partners."""
        return self.chat is not None and self.chat.partner != "bot"

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
