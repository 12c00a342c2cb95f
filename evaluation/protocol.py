"""A protocol: the steps a participant takes, and where each of its settings comes from.

A field that a requester may change carries `setting` in its metadata; `settings()` lists them with
their provenance and `change()` returns the protocol with some of them replaced. Lengths are counted
in messages of both sides, because the papers' turns differ (PERSONA-CHAT: one message by each side;
MEENA: one message).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.checks import Check
from evaluation.questions import InvalidAnswer, Question, Shown, Value

Tag = Literal["S", "R", "D"]
TAGS: dict[str, str] = {
    "S": "stated by the paper",
    "R": "from the authors' released code",
    "D": "our default",
}


class InvalidAnswers(ValueError):
    """Every answer of a form that cannot be stored: field name to complaint."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(
            "; ".join(f"{name}: {text}" for name, text in problems.items())
        )
        self.problems = dict(problems)


class InvalidSetting(ValueError):
    """A setting that the protocol does not have, or a value it cannot take."""


@dataclass(frozen=True)
class Draw:
    """One of `options`, drawn uniformly for each conversation."""

    options: tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """Where a setting's value comes from: stated (S), released code (R) or our default (D)."""

    tag: Tag
    where: str


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a protocol as a requester sees it."""

    name: str
    label: str
    value: Any
    source: Source


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A conversation with a partner.

    minimum: messages of both sides before the participant may finish; maximum: where it ends by
    itself. pool: the split that both sides' personas come from, "" for none. pace: seconds a bot
    seems to type for each word.
    """

    partner: Literal["bot", "person", "either"]
    told: str
    first: Literal["participant", "partner"] = "participant"
    opening: str = field(
        default="", metadata={"setting": "The partner's first message"}
    )
    minimum: Draw = field(metadata={"setting": "Least messages, drawn from"})
    maximum: int | None = field(default=None, metadata={"setting": "Most messages"})
    checks: tuple[Check, ...] = ()
    pool: str = field(default="", metadata={"setting": "Personas come from the split"})
    pace: float = field(
        default=0.0, metadata={"setting": "Typing delay, seconds a word"}
    )
    debrief: str = ""

    def complaint(self, text: str, persona: tuple[str, ...]) -> str | None:
        """Return the first check's complaint about a message, or None."""
        complaints = (check(text, persona) for check in self.checks)
        return next((complaint for complaint in complaints if complaint), None)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Questions about each candidate.

    over: the partner as a whole, each of its messages, or replies to fixed contexts. when: while
    chatting (live) or afterwards. votes: raters an item needs. batch: items a rater is given.
    """

    each: tuple[Question, ...]
    over: Literal["partner", "messages", "contexts"] = "partner"
    when: Literal["live", "after"] = "after"
    votes: int = field(default=1, metadata={"setting": "Raters an item", "least": 1})
    batch: int = field(
        default=1, metadata={"setting": "Items a participant", "least": 1}
    )
    label_opening: bool = field(
        default=True, metadata={"setting": "Label the opening message too"}
    )

    def parse(
        self, raw: Mapping[str, str], shown: Shown
    ) -> dict[tuple[str, str], Value]:
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
        return next(
            (s for s in self.steps if isinstance(s, Rate) and s.when == "live"), None
        )

    @property
    def after(self) -> Rate | None:
        """The questions asked at the end, or of a static benchmark."""
        return next(
            (s for s in self.steps if isinstance(s, Rate) and s.when == "after"), None
        )

    @property
    def rates(self) -> tuple[Rate, ...]:
        return tuple(step for step in self.steps if isinstance(step, Rate))

    def settings(self) -> tuple[Setting, ...]:
        """Return everything a requester may change, with its value and provenance."""
        found = [row for step in self.steps for row in _settings_of(step)]
        return tuple(
            Setting(
                name=n, label=label, value=value, source=self.sources.get(n, DEFAULT)
            )
            for n, label, value in found
        )

    def change(self, values: Mapping[str, object]) -> Protocol:
        """Return this protocol with some settings replaced, or raise `InvalidSetting`."""
        known = {setting.name for setting in self.settings()}
        for name in values:
            if name not in known:
                raise InvalidSetting(
                    f"{name}: not a setting; the settings are {sorted(known)}"
                )
        changed = tuple(_changed(step, values) for step in self.steps)
        return dataclasses.replace(self, steps=changed)


DEFAULT = Source("D", "our default")


def _prefix(part: object) -> str:
    return {Chat: "chat", Rate: "rate"}.get(
        type(part), ""
    ) or f"chat.{getattr(part, 'name', '')}"


def _parts(step: Step) -> tuple[Any, ...]:
    return (step, *step.checks) if isinstance(step, Chat) else (step,)


def _shows(step: object, name: str) -> bool:
    """Tell whether a setting means anything for this step."""
    if isinstance(step, Rate):
        return {
            "label_opening": step.over == "messages",
            "batch": step.over == "contexts",
        }.get(name, step.over == "contexts")
    if isinstance(step, Chat) and name == "opening":
        return step.first == "partner"
    if isinstance(step, Chat) and name == "pool":
        return bool(step.pool)
    if isinstance(step, Chat) and name == "pace":
        return step.partner != "person"
    return True


def _settings_of(step: Step) -> list[tuple[str, str, Any]]:
    return [
        (f"{_prefix(part)}.{f.name}", f.metadata["setting"], getattr(part, f.name))
        for part in _parts(step)
        for f in dataclasses.fields(part)
        if "setting" in f.metadata and _shows(part, f.name)
    ]


def _changed(step: Step, values: Mapping[str, object]) -> Step:
    step = _replaced(step, values)
    if not isinstance(step, Chat):
        return step
    step = dataclasses.replace(
        step, checks=tuple(_replaced(c, values) for c in step.checks)
    )
    return _checked(step)


def _replaced(part: Any, values: Mapping[str, object]) -> Any:
    fresh = {
        f.name: _cast(
            f"{_prefix(part)}.{f.name}", getattr(part, f.name), values, f.metadata
        )
        for f in dataclasses.fields(part)
        if f"{_prefix(part)}.{f.name}" in values
    }
    return dataclasses.replace(part, **fresh) if fresh else part


def _cast(
    name: str, old: object, values: Mapping[str, object], metadata: Mapping[str, Any]
) -> object:
    value = values[name]
    if isinstance(old, bool):
        if isinstance(value, bool):
            return value
        raise InvalidSetting(f"{name}: {value!r} is not true or false")
    if isinstance(old, Draw):
        if (
            isinstance(value, list | tuple)
            and value
            and all(_whole(v, 2) for v in value)
        ):
            return Draw(tuple(value))
        raise InvalidSetting(
            f"{name}: {value!r} is not a list of whole numbers of 2 or more"
        )
    if isinstance(old, str):
        if isinstance(value, str) and value.strip():
            return value.strip()
        raise InvalidSetting(f"{name}: {value!r} is not a text")
    if isinstance(old, float):
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value <= 10
        ):
            return float(value)
        raise InvalidSetting(f"{name}: {value!r} is not a number from 0 to 10")
    if value is None and name == "chat.maximum":
        return None
    least = int(metadata.get("least", 2))
    if _whole(value, least):
        return value
    raise InvalidSetting(
        f"{name}: {value!r} is not a whole number from {least} to 1000"
    )


def _whole(value: object, least: int) -> bool:
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and least <= value <= 1000
    )


def _checked(chat: Chat) -> Chat:
    most = max(chat.minimum.options)
    if chat.maximum is not None and chat.maximum < most:
        raise InvalidSetting(
            f"chat.maximum: {chat.maximum} is below the least length {most}"
        )
    return chat
