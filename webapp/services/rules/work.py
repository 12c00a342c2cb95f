"""Work done in the round that is on: a count, and the share of what earns the full pay (R21)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from django.db.models import Count

from webapp.models import Assignment, Event, Participation
from webapp.services.rules import rounds
from webapp.services.rules.protocols import protocol_of


@dataclass(frozen=True)
class Work:
    """Work done: messages of both sides, or replies judged where there is no chat.

    `share` is of the minimum of messages, or of the replies that the person was given; at most 1.
    """

    done: int = 0
    share: Fraction = Fraction(0)


def of(person: Participation, *, has_left: bool = False) -> Work:
    """Count a person's work; nothing counts before they did something themselves."""
    if protocol_of(person.campaign).chat is None:
        return _judged(person, has_left)
    return _chatted(person)


def _chatted(person: Participation) -> Work:
    """Add up the conversations of the round that the person wrote in, by their own minimums.

    Questions after a chat, and labels in it, weigh nothing: they follow the messages.
    """
    seats = person.seats.exclude(outcome__in=rounds.OVER)
    sides = dict(seats.values_list("conversation", "side"))
    messages = Event.objects.filter(conversation__in=sides, kind=Event.Kind.MESSAGE)
    rows = messages.values_list("conversation", "conversation__minimum", "side")
    counts: Counter[tuple[int, int]] = Counter()
    wrote: set[int] = set()
    for conversation, minimum, side, count in rows.annotate(Count("pk")).order_by():
        counts[conversation, minimum] += count
        if side == sides[conversation]:
            wrote.add(conversation)
    mine = {key: count for key, count in counts.items() if key[0] in wrote}
    shares = (Fraction(count, max(1, minimum)) for (_, minimum), count in mine.items())
    return Work(sum(mine.values()), min(Fraction(1), sum(shares, Fraction(0))))


def _judged(person: Participation, has_left: bool) -> Work:
    assigned = Assignment.objects.filter(participation=person)
    done = assigned.filter(state=Assignment.State.DONE).count()
    if not has_left:
        assigned = assigned.exclude(state=Assignment.State.RELEASED)
        return Work(done, Fraction(done, assigned.count())) if done else Work()
    # Who left gave back what was not done, and at earlier times perhaps as well.
    count = max(done, min(assigned.count(), protocol_of(person.campaign).batch))
    return Work(done, Fraction(done, count)) if done else Work()
