"""A protocol: the steps a participant takes, and where each of its settings comes from.

Lengths are counted in messages of both sides, because the papers' turns differ (PERSONA-CHAT: one
message by each side; MEENA: one message). A field that a requester may change carries `setting` in
its metadata (`evaluation.settings`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from evaluation.checks import Check
from evaluation.questions import InvalidAnswer, Question, Shown, Value
from evaluation.settings import (
    DEFAULT,
    Draw,
    InvalidSetting,
    Setting,
    Source,
    replaced,
    settings_of,
)


class InvalidAnswers(ValueError):
    """Every answer of a form that cannot be stored: field name to complaint."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A conversation with a partner.

    minimum: messages of both sides before the participant may finish; maximum: where it ends by
    itself. pool: the split that both sides' personas come from, "" for none. pace: seconds a bot
    seems to type for each word.
    """

    prefix: ClassVar[str] = "chat"
    partner: Literal["bot", "person", "either"]
    told: str
    first: Literal["participant", "partner"] = "participant"
    opening: str = field(default="", metadata={"setting": "The partner's first message"})
    minimum: Draw = field(metadata={"setting": "Least messages, drawn from"})
    maximum: int | None = field(default=None, metadata={"setting": "Most messages"})
    checks: tuple[Check, ...] = ()
    pool: str = field(default="", metadata={"setting": "Personas come from the split"})
    pace: float = field(default=0.0, metadata={"setting": "Typing delay, seconds a word"})
    debrief: str = ""

    def has_setting(self, name: str) -> bool:
        """Tell whether a setting means anything for this chat."""
        means = {
            "opening": self.first == "partner",
            "pool": bool(self.pool),
            "pace": self.partner != "person",
        }
        return means.get(name, True)

    def changed(self, values: Mapping[str, object]) -> Chat:
        """Return this chat with some settings replaced, those of its checks too."""
        checks = tuple(replaced(c, f"chat.{c.name}", values) for c in self.checks)
        chat = dataclasses.replace(replaced(self, self.prefix, values), checks=checks)
        most = max(chat.minimum.options)
        if chat.maximum is not None and chat.maximum < most:
            raise InvalidSetting(f"chat.maximum: {chat.maximum} is below the least length {most}")
        return chat

    def settings(self) -> list[tuple[str, str, object]]:
        """Return the name, label and value of each setting, those of the checks too."""
        rows = settings_of(self, self.prefix, self.has_setting)
        return rows + [row for c in self.checks for row in settings_of(c, f"chat.{c.name}")]

    def complaint(self, text: str, persona: tuple[str, ...]) -> str | None:
        """Return the first check's complaint about a message, or None."""
        complaints = (check(text, persona) for check in self.checks)
        return next((complaint for complaint in complaints if complaint), None)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Questions about each candidate.

    over: the partner as a whole, each of its messages, or replies to fixed contexts. when: while
    chatting (live) or afterwards; messages are judged afterwards by third parties, who took no part
    in the conversation. votes: raters an item needs. batch: items a rater is given.
    """

    prefix: ClassVar[str] = "rate"
    each: tuple[Question, ...]
    over: Literal["partner", "messages", "contexts"] = "partner"
    when: Literal["live", "after"] = "after"
    votes: int = field(default=1, metadata={"setting": "Raters an item", "least": 1})
    batch: int = field(default=1, metadata={"setting": "Items a participant", "least": 1})
    label_opening: bool = field(default=True, metadata={"setting": "Label the opening message too"})

    def parse(self, raw: Mapping[str, str], shown: Shown) -> dict[tuple[str, str], Value]:
        """Return each candidate's answers from fields named `candidate.question`."""
        answers: dict[tuple[str, str], Value] = {}
        problems: dict[str, str] = {}
        known = {f"{name}.{q.name}" for name in shown.candidates for q in self.each}
        problems |= {name: "is not asked here" for name in raw if name not in known}
        for candidate in shown.candidates:
            for question in self.each:
                name = f"{candidate}.{question.name}"
                try:
                    answers[candidate, question.name] = self._answer(
                        question, raw.get(name, ""), answers, candidate, shown
                    )
                except InvalidAnswer as problem:
                    problems[name] = str(problem)
        if problems:
            raise InvalidAnswers(problems)
        return answers

    def _answer(
        self,
        question: Question,
        raw: str,
        answers: Mapping[tuple[str, str], Value],
        candidate: str,
        shown: Shown,
    ) -> Value:
        gate = question.only_if
        if gate is None or answers.get((candidate, gate)) == 1:
            return question.parse(raw, shown)
        if raw and raw != str(question.otherwise):
            raise InvalidAnswer(f"can only be answered when “{gate}” is answered yes")
        if question.otherwise is None:
            raise InvalidAnswer(f"needs an answer to “{gate}” first")
        return question.otherwise

    @property
    def by_third_parties(self) -> bool:
        """Tell whether the messages of other people's finished conversations are judged."""
        return self.over == "messages" and self.when == "after"

    @property
    def is_shared(self) -> bool:
        """Tell whether the items are shared out among raters, rather than each rater's own."""
        return self.over == "contexts" or self.by_third_parties

    def has_setting(self, name: str) -> bool:
        """Tell whether a setting means anything for what is rated."""
        if name == "label_opening":
            return self.over == "messages" and self.when == "live"
        return self.is_shared

    def changed(self, values: Mapping[str, object]) -> Rate:
        """Return these questions with some settings replaced."""
        return replaced(self, self.prefix, values)

    def settings(self) -> list[tuple[str, str, object]]:
        """Return the name, label and value of each setting."""
        return settings_of(self, self.prefix, self.has_setting)

    def question(self, name: str) -> Question:
        """Return the question of this name, or raise `KeyError`."""
        return {question.name: question for question in self.each}[name]


Step = Chat | Rate


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

    def settings(self) -> tuple[Setting, ...]:
        """Return everything a requester may change, with its value and provenance."""
        found = [row for step in self.steps for row in step.settings()]
        return tuple(
            Setting(name=n, label=label, value=value, source=self.sources.get(n, DEFAULT))
            for n, label, value in found
        )

    def change(self, values: Mapping[str, object]) -> Protocol:
        """Return this protocol with some settings replaced, or raise `InvalidSetting`."""
        known = {setting.name for setting in self.settings()}
        for name in values:
            if name not in known:
                raise InvalidSetting(f"{name}: not a setting; the settings are {sorted(known)}")
        return dataclasses.replace(self, steps=tuple(step.changed(values) for step in self.steps))
