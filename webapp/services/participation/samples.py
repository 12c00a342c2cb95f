"""Samples of what participants see: the protocol's own questions about invented words.

Nothing is stored. Dialogue, characters and contexts are those that come with Parley.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.utils.translation import gettext as _

from bots.datasets import contexts, demo
from evaluation import Protocol, Rate, Shown
from webapp.services.rating.form import FormLine, RatingForm

SPLIT = "test"
MOST_LINES = 6


@dataclass(frozen=True)
class QuestionGroup:
    """Questions about the same thing, with the form in which participants see them."""

    judged: str
    form: RatingForm


def question_groups(protocol: Protocol) -> tuple[QuestionGroup, ...]:
    """Return the questions of a protocol, by what is judged."""
    return tuple(
        QuestionGroup(_judged(rate), rating_form(rate, f"{protocol.name}-{number}"))
        for number, rate in enumerate(protocol.rates, start=1)
    )


def rating_form(rate: Rate, candidate: str = "sample") -> RatingForm:
    """Return the form of a step, about one candidate."""
    return RatingForm(
        questions=rate.each,
        shown=Shown((candidate,), _drawn(rate)),
        lines=_of_others() if rate.is_shared else dialogue(),
        of_context=rate.is_shared,
        personas=dict(_personas()),
        draft={},
        number=1,
        total=rate.batch if rate.is_shared else 1,
    )


def dialogue() -> tuple[FormLine, ...]:
    """Return a conversation of a participant, who began it, and a partner."""
    return tuple(
        FormLine(side=side, who=_("You") if side == "you" else _("Your partner"), text=text)
        for side, text in zip(("you", "partner") * MOST_LINES, _turns(), strict=False)
    )


def persona() -> tuple[str, ...]:
    """Return the sentences of a participant's character."""
    return _personas()[0][1]


def _judged(rate: Rate) -> str:
    known = {
        ("partner", "after"): _("The partner, after the conversation"),
        ("messages", "live"): _("Each message of the partner, while chatting"),
        ("messages", "after"): _("Each message of other people's conversations"),
        ("contexts", "after"): _("Each reply to a context"),
    }
    return known.get((rate.over, rate.when), rate.over)


def _drawn(rate: Rate) -> dict[str, tuple[str, ...]]:
    """Return the characters to choose from, for the questions that ask for one."""
    keys = tuple(key for key, _sentences in _personas())
    beside = {question.name: question.personas_beside() for question in rate.each}
    return {name: keys[: count + 1] for name, count in beside.items() if count is not None}


def _of_others() -> tuple[FormLine, ...]:
    """Return a conversation of others, whose last message is to be judged."""
    texts = _context()
    speakers = {True: ("partner", _("Speaker B")), False: ("you", _("Speaker A"))}
    lines = []
    for number, text in enumerate(texts, start=1):
        side, who = speakers[(len(texts) - number) % 2 == 0]
        lines.append(FormLine(side=side, who=who, text=text, judged=number == len(texts)))
    return tuple(lines)


@cache
def _personas() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((each.id, each.original) for each in demo.personas(SPLIT))


@cache
def _turns() -> tuple[str, ...]:
    turns = demo.read(SPLIT)[0].turns
    return tuple(turn.text for turn in turns[:MOST_LINES])


@cache
def _context() -> tuple[str, ...]:
    longest = max(contexts.read(""), key=lambda each: len(each.turns))
    return tuple(turn.text for turn in longest.turns)
