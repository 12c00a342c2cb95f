"""Rate step of a protocol: questions about what was said, while chatting or afterwards.

A field that a requester may change is declared by `setting` (`evaluation.settings`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from evaluation.questions import Gate, InvalidAnswer, Question, Shown, Value
from evaluation.sentences import alternatives, sentence
from evaluation.setting_types import (
    OneOf,
    OnOff,
    WholeNumber,
)
from evaluation.settings import (
    FormerWords,
    Setting,
    Source,
    replaced,
    setting,
    settings_of,
)

STRANGE = sentence("This question is not on the form.")


class InvalidAnswers(ValueError):
    """Answers of a form that cannot be stored: field name to complaint."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Questions about each candidate.

    over: the partner as a whole, each of its messages, a conversation of others as a whole, replies
    to fixed contexts, or speakers of whole conversations that were imported. when: while chatting
    (live) or afterwards; messages and conversations are judged afterwards by third parties, who
    took no part in them: they are those of another campaign. not_before: whether a third party may
    not have judged the same conversation in a campaign before, so that no first answer is known.
    show: replies to one context alone, every two of them side by side, or all on one page;
    conversations alone or in twos. each: asked about every candidate; together: about all that are
    shown, after those. votes: raters per item. batch: items per rater. keep: what all items of one
    rater have in common: nothing, the data set or list of their contexts, or the system that
    replied. messages: how many a context has, least and most; (0, 0) where texts are judged by
    themselves. optional: any message can be labeled while chatting, and none has to be.
    """

    prefix: ClassVar[str] = "rate"
    FORMER: ClassVar[FormerWords] = {"over": {"conversations": "speakers"}}
    each: tuple[Question, ...]
    together: tuple[Question, ...] = ()
    over: Literal["partner", "messages", "conversation", "contexts", "speakers"] = "partner"
    when: Literal["live", "after"] = "after"
    show: Literal["one", "pairs", "all"] = "one"
    keep: Literal["", "group", "system"] = ""
    messages: tuple[int, int] = (1, 3)
    not_before: bool = False
    optional: bool = False
    votes: int = setting("Raters per item", WholeNumber(least=1, most=1000), default=1)
    batch: int = setting("Items per participant", WholeNumber(least=1, most=1000), default=1)
    sample: int | None = setting(
        "Conversations drawn per system",
        WholeNumber(least=1, most=10_000, optional=True),
        default=None,
        help="Of those that the campaign they are taken from has. Leave it empty for all.",
    )
    with_first: bool = setting(
        "Only pairs with the first system",
        OnOff(),
        default=False,
        help="Off: every two systems are compared.",
    )
    sides: str = setting(
        "Who rates of two people",
        OneOf(("one", "both")),
        default="both",
        formerly="both",
        help="One: drawn for each conversation. The other has finished after the chat, for the "
        "same pay. A bot's partner always rates.",
    )
    label_opening: bool = setting("Label the opening message too", OnOff(), default=True)

    def __post_init__(self) -> None:
        """Refuse a question that cannot be asked here. Raises `ValueError`."""
        together = {"contexts": ("pairs", "all"), "speakers": ("pairs",)}
        if self.show not in ("one", *together.get(self.over, ())):
            raise ValueError(
                f"show is {self.show}; only replies to contexts are shown together, and "
                "speakers of conversations in pairs"
            )
        if self.optional and self.when != "live":
            raise ValueError("optional: only labels while chatting can be left out")
        for question in self.questions:
            if self.show == "one" and (question.compares or question in self.together):
                raise ValueError(
                    f"question {question.name}: a {question.kind} can only be asked about replies "
                    'that are shown together; set show to "pairs" or "all"'
                )
            placed = "together" if question in self.together else "each"
            if question.compares and question.compares != placed:
                raise ValueError(
                    f"question {question.name}: a {question.kind} belongs into "
                    f"{question.compares}, not into {placed}"
                )
            if self.when == "live" and not question.while_chatting:
                raise ValueError(
                    f"question {question.name}: a {question.kind} can only be asked after the chat"
                )
            if question.intended and self.over != "contexts":
                raise ValueError(
                    f"question {question.name}: intended is {question.intended}; only replies to "
                    "contexts are imported with what they were meant to be"
                )
            if question.personas_beside() is not None and not self.draws_personas:
                raise ValueError(
                    f"question {question.name}: a {question.kind} can only be asked about a "
                    "partner, after the chat"
                )

        if self.not_before and not self.by_third_parties:
            raise ValueError("not_before is set; only conversations of others were judged before")
        self._check_gates()

    def _check_gates(self) -> None:
        for question in self.together:
            if question.only_if is not None:
                raise ValueError(
                    f"question {question.name}: only_if is for questions of each reply"
                )
        earlier: dict[str, Question] = {}
        for question in self.each:
            gate, about = question.only_if, f"question {question.name}: only_if"
            if gate is not None:
                if gate.question not in earlier:
                    known = ", ".join(earlier) or "none"
                    raise ValueError(
                        f"{about} names {gate.question!r}, no earlier question; earlier: {known}"
                    )
                strange = [each for each in gate.values if not earlier[gate.question].gives(each)]
                if strange or not gate.values:
                    named = ", ".join(map(repr, strange)) or "no value"
                    raise ValueError(f"{about} has {named}, no answer to {gate.question}")
                if question.otherwise is None:
                    raise ValueError(f"{about} is set; `otherwise` must say what is stored instead")
            earlier[question.name] = question

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, in the order of the page."""
        return self.each + self.together

    @property
    def draws_personas(self) -> bool:
        """Tell whether personas are drawn for each rater, beside the partner's own."""
        return self.over == "partner" and self.when == "after"

    def parse(self, raw: Mapping[str, str], shown: Shown) -> dict[tuple[str, str], Value]:
        """Return each candidate's answers from fields named `candidate.question`.

        Raises `InvalidAnswers` with a complaint per field.
        """
        answers: dict[tuple[str, str], Value] = {}
        problems: dict[str, str] = {}
        known = {f"{about}.{question.name}" for about, question in self.form_questions(shown)}
        problems |= {name: STRANGE for name in raw if name not in known}
        for about, question in self.form_questions(shown):
            name = f"{about}.{question.name}"
            try:
                answers[about, question.name] = self._answer(
                    question, raw.get(name, ""), answers, about, shown
                )
            except InvalidAnswer as problem:
                problems[name] = problem.sentence
        problems = self._conflicts(answers) | problems
        if problems:
            raise InvalidAnswers(problems)
        return self._of_candidates(answers, shown)

    def form_questions(self, shown: Shown) -> list[tuple[str, Question]]:
        """Return every question of a form with what it is about, in order."""
        intended = {each: shown.intended.get(each, "") for each in shown.candidates}
        of_each = [
            (candidate, question)
            for candidate in shown.candidates
            for question in self.each
            if question.applies_to((intended[candidate],))
        ]
        return of_each + [
            (shown.together, question)
            for question in self.together
            if question.applies_to(intended.values())
        ]

    def questions_about(self, own: str, shown: Collection[str]) -> int:
        """Count the questions about one reply, by what it and all shown were meant to be."""
        of_each = sum(question.applies_to((own,)) for question in self.each)
        return of_each + sum(question.applies_to(shown) for question in self.together)

    def _conflicts(self, answers: Mapping[tuple[str, str], Value]) -> dict[str, str]:
        return {
            f"{about}.{question.name}": complaint
            for question in self.each
            for about, complaint in question.conflicts(
                {about: value for (about, name), value in answers.items() if name == question.name}
            ).items()
        }

    def _of_candidates(
        self, answers: Mapping[tuple[str, str], Value], shown: Shown
    ) -> dict[tuple[str, str], Value]:
        found: dict[tuple[str, str], Value] = {}
        for (about, name), value in answers.items():
            is_of_all = about == shown.together
            values = self.question(name).spread(value, shown) if is_of_all else {about: value}
            found |= {(candidate, name): each for candidate, each in values.items()}
        return found

    def _answer(
        self,
        question: Question,
        raw: str,
        answers: Mapping[tuple[str, str], Value],
        candidate: str,
        shown: Shown,
    ) -> Value:
        gate = question.only_if
        if gate is None or question.otherwise is None or self._opens(gate, answers, candidate):
            return question.parse(raw, shown)
        if raw and raw != str(question.otherwise):
            opened_by = self.question(gate.question)
            words = [sentence("“%(word)s”", word=opened_by.words(each)) for each in gate.values]
            raise InvalidAnswer(
                "Leave this blank unless your answer to “%(question)s” is %(words)s.",
                question=opened_by.text,
                words=alternatives(words),
            )
        return question.otherwise

    def closed(self, answers: Mapping[tuple[str, str], Value]) -> set[tuple[str, str]]:
        """Return the candidates and questions that were not asked, given all answers."""
        gates = {question.name: question.only_if for question in self.questions}
        return {
            (candidate, name)
            for candidate, name in answers
            if (gate := gates[name]) is not None and not self._opens(gate, answers, candidate)
        }

    def _opens(self, gate: Gate, answers: Mapping[tuple[str, str], Value], candidate: str) -> bool:
        """Tell whether a gate is open: it was asked itself, and has an answer that opens it."""
        before = self.question(gate.question).only_if
        is_reached = before is None or self._opens(before, answers, candidate)
        return is_reached and gate.opens(answers.get((candidate, gate.question)))

    @property
    def by_third_parties(self) -> bool:
        """Tell whether finished conversations of others are judged, or their messages."""
        return self.over in ("messages", "conversation") and self.when == "after"

    @property
    def of_transcripts(self) -> bool:
        """Tell whether conversations can be imported to be judged, by message or as a whole."""
        return self.over == "speakers" or self.by_third_parties

    @property
    def is_shared(self) -> bool:
        """Tell whether raters share the items, rather than each rating their own."""
        return self.over == "contexts" or self.of_transcripts

    def has_setting(self, name: str) -> bool:
        """Tell whether a setting applies to what is rated."""
        if name == "label_opening":
            return self.over == "messages" and self.when == "live"
        if name == "with_first":
            return self.show == "pairs"
        if name == "sample":
            return self.by_third_parties
        if name == "sides":
            return self.over == "partner" and self.when == "after"
        return self.is_shared

    def changed(self, values: Mapping[str, object]) -> Rate:
        """Return these questions with some settings replaced. Raises `InvalidSetting`."""
        return replaced(self, self.prefix, values)

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        """Return the settings of the questions."""
        return settings_of(self, self.prefix, sources, self.has_setting)

    def question(self, name: str) -> Question:
        """Return the question of this name. Raises `KeyError`."""
        return {question.name: question for question in self.questions}[name]
