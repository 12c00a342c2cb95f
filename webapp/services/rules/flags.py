"""Oddities for people to review: a flag decides nothing, nobody is rejected by one (S12).

Each threshold says what it is derived from; all are meant to be looked at, not to be right.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from webapp.models import (
    Assignment,
    Campaign,
    CompletionCode,
    Conversation,
    Event,
    Flag,
    Participation,
    Rating,
)
from webapp.services.rules import endings
from webapp.services.rules.protocols import protocol_of

# Reading ten words takes 2.5 s at 240 words a minute, typing five more 4 s at 75 words a minute.
QUICK_SECONDS = 3.0
QUICK_MESSAGES = 4  # fewer say little about a median
# 17 characters a second is the fastest that is typed for a minute (200 words a minute).
PASTED_PER_SECOND = 17.0
PASTED_CHARACTERS = 40  # shorter ones are within the error of a clock and a network
# The share of repeated messages that marks a conversation as invalid in the specification (CA-P2).
REPEATED_SHARE = 0.4
REPEATED_MESSAGES = 4
# Equal answers are ordinary in honest forms; equal and quicker than reading the questions are not.
STRAIGHT_ANSWERS = 3
STRAIGHT_SECONDS = 2.0  # for each question
ATTENTION = "attention"  # of who failed the attention checks, raised as they do


def raise_flag(
    kind: str,
    *,
    campaign: Campaign,
    participation: Participation | None = None,
    conversation: Conversation | None = None,
    detail: str = "",
) -> Flag:
    """Raise a flag for staff. `detail` never holds what a participant wrote."""
    return Flag.objects.create(
        campaign=campaign,
        participation=participation,
        conversation=conversation,
        kind=kind,
        detail=detail,
    )


def review(*, person: Participation, now: datetime) -> list[Flag]:
    """Review a participation once, as it ends; return the flags raised.

    Where the campaign wants that, the payment then waits for a person to look (R37).
    """
    found: list[tuple[str, int | None, str]] = []
    for conversation, messages in _timed_messages(person).items():
        found += [(kind, conversation, detail) for kind, detail in _oddities(messages)]
    found += [("straight_lined", None, detail) for detail in _straight_lined(person)]
    inattentive = Flag.objects.filter(participation=person, kind=ATTENTION)
    if person.campaign.hold_payments and (found or inattentive.exists()):
        for code in CompletionCode.objects.filter(participation=person):
            endings.hold(code, endings.FLAGS, now)
    about = {"campaign": person.campaign, "participation": person}
    return Flag.objects.bulk_create(
        Flag(kind=kind, conversation_id=conversation, detail=detail, **about)
        for kind, conversation, detail in found
    )


TimedMessages = Sequence[tuple[str, timedelta]]  # a message, and the time since the one before


def _timed_messages(person: Participation) -> Mapping[int, TimedMessages]:
    """Return what a person wrote in each conversation, with the time since what was before it."""
    seats = "conversation__seats"
    of_theirs = {"kind": Event.Kind.MESSAGE, f"{seats}__participation": person}
    rows = Event.objects.filter(**of_theirs).order_by("conversation_id", "seq")
    columns = rows.values_list("conversation_id", "side", f"{seats}__side", "content", "made_at")
    found: dict[int, TimedMessages] = {}
    for conversation, group in itertools.groupby(columns, key=itemgetter(0)):
        found[conversation] = [
            (str(content.get("text", "")), at - before)
            for (*_, before), (_, side, own, content, at) in itertools.pairwise(group)
            if side == own
        ]
    return found


def _oddities(messages: TimedMessages) -> list[tuple[str, str]]:
    checks = {
        "quick": _quick(messages),
        "pasted": _pasted(messages),
        "repeated": _repeated(messages),
    }
    return [(kind, detail) for kind, detail in checks.items() if detail]


def _quick(messages: TimedMessages) -> str:
    if len(messages) < QUICK_MESSAGES:
        return ""
    median = statistics.median(time.total_seconds() for _, time in messages)
    return f"median time of an answer {median:.1f} s" if median < QUICK_SECONDS else ""


def _pasted(messages: TimedMessages) -> str:
    count = sum(
        len(text) >= PASTED_CHARACTERS
        and len(text) > PASTED_PER_SECOND * max(time.total_seconds(), 0.001)
        for text, time in messages
    )
    return f"{count} messages faster than anybody types" if count else ""


def _repeated(messages: TimedMessages) -> str:
    if len(messages) < REPEATED_MESSAGES:
        return ""
    texts = Counter(" ".join(text.lower().split()) for text, _ in messages)
    share = 1 - len(texts) / len(messages)
    return f"{share:.0%} of the messages repeat another" if share > REPEATED_SHARE else ""


def _straight_lined(person: Participation) -> list[str]:
    rate = protocol_of(person.campaign).after
    scales = [question.name for question in rate.each if question.is_scale] if rate else []
    answers: dict[Assignment, list[Any]] = defaultdict(list)
    of_done = {"assignment__participation": person, "assignment__state": Assignment.State.DONE}
    rows = Rating.objects.filter(question__in=scales, **of_done).select_related("assignment")
    for row in rows.order_by("assignment_id", "pk"):
        answers[row.assignment].append(row.value)
    return [detail for one, values in answers.items() if (detail := _straight(one, values))]


def _straight(assignment: Assignment, values: Sequence[Any]) -> str:
    if len(values) < STRAIGHT_ANSWERS or len(set(values)) > 1 or assignment.done_at is None:
        return ""
    seconds = (assignment.done_at - assignment.made_at).total_seconds()
    if seconds > STRAIGHT_SECONDS * len(values):
        return ""
    return f"{len(values)} answers {values[0]} within {seconds:.1f} s"
