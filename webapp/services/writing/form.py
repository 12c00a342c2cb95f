"""Writing forms: what is asked for, beside what it is written about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from evaluation import Question, Write
from webapp.models import Assignment, Participation
from webapp.services.rating.form import FormLine
from webapp.services.writing import offering, writing_items


@dataclass(frozen=True, kw_only=True)
class TextField:
    """A text that is asked for; original: the sentence, or message, that it rewords."""

    name: str
    number: int  # 0 where it is the only one
    original: str = ""


@dataclass(frozen=True, kw_only=True)
class FormSentence:
    """A sentence of the persona that is revised, with what became of it so far."""

    original: str
    text: str = ""
    current: bool = False


@dataclass(frozen=True, kw_only=True)
class WritingForm:
    """One form. lines: the context; sentences: the persona; left: texts after those shown."""

    write: Write
    fields: tuple[TextField, ...]
    lines: tuple[FormLine, ...] = ()
    sentences: tuple[FormSentence, ...] = ()
    left: int = 0
    draft: Mapping[str, str]
    number: int
    total: int

    @property
    def question(self) -> Question:
        """What is asked of each text, with the limits that its checks keep."""
        return self.write.limited


def of(person: Participation) -> WritingForm | None:
    """Return the form that a person has to fill in next."""
    assignment = offering.current(person)
    if assignment is None:
        return None
    write = offering.write_of(person)
    batch = person.assignments.exclude(state=Assignment.State.RELEASED)
    return form(
        write=write,
        about=offering.about(assignment),
        basis=writing_items.basis(assignment.item),
        before=writing_items.before(assignment.item, write.before),
        draft={str(name): str(text) for name, text in assignment.draft.items()},
        number=batch.filter(place__lt=assignment.place).count() + 1,
        total=batch.count(),
    )


def form(
    *,
    write: Write,
    about: str,
    basis: Sequence[str],
    draft: Mapping[str, str],
    before: Sequence[tuple[int, str]] = (),
    number: int = 1,
    total: int = 1,
) -> WritingForm:
    """Return the form of what is written about a persona, a context, a message, or nothing.

    before: side and text of the messages before the one that is reworded.
    """
    names = write.names(about, basis)
    passed = int(draft.get(offering.PASSED, 0))
    shown = range(passed, passed + 1) if write.one_by_one else range(len(names))
    fields = [
        TextField(
            name=names[each],
            number=each + 1 if len(names) > 1 else 0,
            original=write.original(each, basis),
        )
        for each in shown
    ]
    return WritingForm(
        write=write,
        fields=tuple(fields),
        lines=_lines(basis) if write.makes == "reply" else _of_others(before),
        sentences=_sentences(names, basis, draft, passed) if write.one_by_one else (),
        left=len(names) - shown.stop,
        draft=draft,
        number=number,
        total=total,
    )


def _sentences(
    names: Sequence[str], basis: Sequence[str], draft: Mapping[str, str], passed: int
) -> tuple[FormSentence, ...]:
    return tuple(
        FormSentence(
            original=sentence,
            text=draft.get(name, "") if number < passed else "",
            current=number == passed,
        )
        for number, (name, sentence) in enumerate(zip(names, basis, strict=True))
    )


def _of_others(messages: Sequence[tuple[int, str]]) -> tuple[FormLine, ...]:
    """Return messages of two others, called as raters see them called."""
    speakers = (("you", _("Speaker A")), ("partner", _("Speaker B")))
    return tuple(
        FormLine(side=speakers[side][0], who=speakers[side][1], text=text)
        for side, text in messages
    )


def _lines(messages: Sequence[str]) -> tuple[FormLine, ...]:
    """Return a context whose last message is the partner's: the writer is the other speaker."""
    last = len(messages) - 1
    speakers = (("partner", _("Your partner")), ("you", _("You")))
    return tuple(
        FormLine(
            side=speakers[(last - position) % 2][0],
            who=speakers[(last - position) % 2][1],
            text=text,
        )
        for position, text in enumerate(messages)
    )
