"""Checks of participants: what decides who does the work, and who still reads it.

Before the work a screening lets in whoever answers as it wants, a quiz whoever has understood the
instructions, an onboarding whoever judges items of known answers well enough. Within it attention
checks find who no longer reads the questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from evaluation.questions import Gate, Question, Shown, Value
from evaluation.rating import Rate
from evaluation.setting_types import Number, OnOff, WholeNumber
from evaluation.settings import Setting, Source, replaced, setting, settings_of


@dataclass(frozen=True, kw_only=True)
class Screening:
    """Questions before the instructions, about the participant.

    passes: the answers that let somebody in, by question; one that is not named decides nothing.
    """

    prefix: ClassVar[str] = "screening"
    questions: tuple[Question, ...]
    passes: tuple[Gate, ...]

    def __post_init__(self) -> None:
        """Refuse what no answer could pass. Raises `ValueError`."""
        _check_forms(self.questions)
        _check_answers("passes", self.questions, self.passes)
        if not self.passes:
            raise ValueError("passes is empty; name a question and the answers that let people in")

    def parse(self, raw: Mapping[str, str]) -> dict[str, Value]:
        """Return the answer to each question. Raises `InvalidAnswers`."""
        return _parsed(self.questions, self.prefix, raw)

    def wrong(self, answers: Mapping[str, Value]) -> list[str]:
        """Return the questions whose answers keep somebody out."""
        return [gate.question for gate in self.passes if not gate.opens(answers[gate.question])]

    def changed(self, values: Mapping[str, object]) -> Screening:
        """Return the same: nothing of a screening is a setting."""
        return self

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        return []


@dataclass(frozen=True)
class KnownAnswer:
    """The right answers to a question of a quiz, and why, for who was wrong."""

    question: str
    values: tuple[Value, ...]
    explanation: str = ""


@dataclass(frozen=True, kw_only=True)
class Quiz:
    """Questions about the instructions, each with its right answers, before the work begins."""

    prefix: ClassVar[str] = "quiz"
    questions: tuple[Question, ...]
    answers: tuple[KnownAnswer, ...]
    tries: int = setting(
        "Tries of the quiz",
        WholeNumber(least=1, most=10),
        default=2,
        help="Whoever is still wrong after the last one cannot take part.",
    )

    def __post_init__(self) -> None:
        """Refuse a question without a right answer. Raises `ValueError`."""
        _check_forms(self.questions)
        gates = tuple(Gate(each.question, each.values) for each in self.answers)
        _check_answers("answers", self.questions, gates)
        known = [each.question for each in self.answers]
        for question in self.questions:
            if known.count(question.name) != 1:
                count = known.count(question.name)
                raise ValueError(
                    f"question {question.name}: answers has {count} for it; there must be one"
                )

    def parse(self, raw: Mapping[str, str]) -> dict[str, Value]:
        """Return the answer to each question. Raises `InvalidAnswers`."""
        return _parsed(self.questions, self.prefix, raw)

    def wrong(self, answers: Mapping[str, Value]) -> list[str]:
        """Return the questions that were answered wrongly."""
        known = {each.question: each.values for each in self.answers}
        return [name for name, value in answers.items() if value not in known[name]]

    def explanation(self, question: str) -> str:
        """Return why the right answer to a question is right, "" where nothing is said."""
        return next(each.explanation for each in self.answers if each.question == question)

    def changed(self, values: Mapping[str, object]) -> Quiz:
        """Return this quiz with some settings replaced. Raises `InvalidSetting`."""
        return replaced(self, self.prefix, values)

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        return settings_of(self, self.prefix, sources)


@dataclass(frozen=True, kw_only=True)
class Onboarding:
    """Items of known answers, the first ones of each rater; they are part of the batch.

    Contexts say their known answers where they are imported. An item counts as right where every
    known answer of it was given.
    """

    prefix: ClassVar[str] = "onboarding"
    items: int = setting(
        "Items with known answers, first of each participant's",
        WholeNumber(least=1, most=100),
        help="They count among the items per participant, and never as data.",
    )
    share: float = setting(
        "Share of them to be right",
        Number(0, 1),
        help="Whoever is below it judges nothing else; the answers are set aside.",
    )
    silently: bool = setting(
        "End without a word for whoever is below the share",
        OnOff(),
        default=True,
        help="On: the last page and the full pay, as for everybody. Off: participants are told "
        "beforehand that there is a check, and at the end that they did not pass it.",
    )

    def passes(self, right: int, items: int) -> bool:
        """Tell whether so many right ones of so many items are enough."""
        return right >= self.share * items

    def changed(self, values: Mapping[str, object]) -> Onboarding:
        """Return this onboarding with some settings replaced. Raises `InvalidSetting`."""
        return replaced(self, self.prefix, values)

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        return settings_of(self, self.prefix, sources)


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Attention checks: questions within the work that say themselves what to answer.

    One stands at the end of a form, the questions take turns. passes: the right answers to each.
    They are announced before consent, and are no data.
    """

    prefix: ClassVar[str] = "attention"
    questions: tuple[Question, ...]
    passes: tuple[Gate, ...]
    every: int = setting(
        "Forms per attention check",
        WholeNumber(least=1, most=100),
        default=1,
        help="1: at the end of every form; 5: of each participant's fifth form, tenth, and so on.",
    )
    misses: int = setting(
        "Wrong answers that fail the attention checks",
        WholeNumber(least=1, most=20),
        default=1,
        help="Whoever has failed is flagged; reports tell the results with and without them.",
    )
    ends: bool = setting(
        "End the participation of whoever fails the attention checks",
        OnOff(),
        default=False,
        help="Off: they go on and are paid as everybody. On: they are paid for the check or for "
        "what is done, whichever is more, and others judge what they judged.",
    )

    def __post_init__(self) -> None:
        """Refuse a question without a right answer, or that depends on another one.

        Raises `ValueError`.
        """
        _check_forms(self.questions)
        _check_answers("passes", self.questions, self.passes)
        known = [each.question for each in self.passes]
        for question in self.questions:
            if known.count(question.name) != 1:
                count = known.count(question.name)
                raise ValueError(
                    f"question {question.name}: passes has {count} for it; there must be one"
                )
            if question.only_if is not None:
                raise ValueError(
                    f"question {question.name}: only_if is {question.only_if.question}; an "
                    "attention check is asked by itself, leave it out"
                )

    def question_in(self, form: int) -> Question | None:
        """Return the question in a participant's form of this number, from 1; None in most."""
        turn, rest = divmod(form, self.every)
        return None if rest else self.questions[(turn - 1) % len(self.questions)]

    def parse(self, question: Question, raw: Mapping[str, str]) -> Value:
        """Return the answer to a question. Raises `InvalidAnswers`."""
        return _parsed((question,), self.prefix, raw)[question.name]

    def is_right(self, question: Question, value: Value) -> bool:
        """Tell whether an answer is right."""
        return any(each.question == question.name and each.opens(value) for each in self.passes)

    def changed(self, values: Mapping[str, object]) -> Attention:
        """Return these checks with some settings replaced. Raises `InvalidSetting`."""
        return replaced(self, self.prefix, values)

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        return settings_of(self, self.prefix, sources)


Admission = Screening | Quiz


def form_of(step: Admission) -> Rate:
    """Return the questions of a step as a form asks them."""
    return Rate(each=step.questions, over="contexts")


def _parsed(
    questions: tuple[Question, ...], prefix: str, raw: Mapping[str, str]
) -> dict[str, Value]:
    rate = Rate(each=questions, over="contexts")
    return {name: value for (_, name), value in rate.parse(raw, Shown((prefix,))).items()}


def _check_forms(questions: Collection[Question]) -> None:
    if not questions:
        raise ValueError("questions is empty; add one, or leave the step out")
    for question in questions:
        if question.intended or question.personas_beside() is not None or question.compares:
            raise ValueError(
                f"question {question.name}: a {question.kind} that asks about a partner or a "
                "reply, of which nothing is shown there"
            )


def _check_answers(field: str, questions: Collection[Question], gates: Collection[Gate]) -> None:
    """Refuse answers to a question that is not there, or that nobody could give."""
    known = {question.name: question for question in questions}
    for gate in gates:
        if gate.question not in known:
            names = ", ".join(known)
            raise ValueError(f"{field} names {gate.question!r}, no question; there are {names}")
        question = known[gate.question]
        strange = [value for value in gate.values if not _is_possible(question, value)]
        if strange or not gate.values:
            words = ", ".join(map(repr, strange)) or "no value"
            raise ValueError(f"question {gate.question}: {field} has {words}, no answer to it")


def _is_possible(question: Question, value: Value) -> bool:
    return question.gives(value) or value == question.otherwise


def admissions(steps: Collection[object]) -> Iterator[Admission]:
    """Yield the steps with questions before the work, the screening first."""
    yield from (step for step in steps if isinstance(step, Screening))
    yield from (step for step in steps if isinstance(step, Quiz))
