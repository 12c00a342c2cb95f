"""One entrance for bots and people, where a campaign has both: the times of a bot's side.

They are drawn, by the campaign's seed and the participant, from what people of the campaign
took before them, so that no time tells which of the two a partner is. Until enough people came, a
stated default stands in.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from webapp.models import PEOPLE, Campaign, Participation, Seat

READY_SECONDS = 15  # to answer the ready check (R17)
MISSED = "ready check"  # why a conversation ended whose check was not answered
KNOWN = 20  # times of people; fewer say too little of how they are distributed
RECENT = 200  # the latest of them: a campaign is busier at some hours than at others


def partner_at(person: Participation, now: datetime) -> datetime | None:
    """Return when a bot comes to a person who begins to wait; None where another person does."""
    if person.system is None or person.system.is_people:
        return None
    draw = _draw(person, "wait")
    return now + timedelta(seconds=_one_of(_waits(person.campaign), draw, default_wait))


def answers_at(person: Participation, since: datetime) -> datetime | None:
    """Return when a bot answers the ready check with this person; None: it misses the check."""
    draw = _draw(person, "answer")
    seconds = _one_of(_answers(person.campaign), draw, default_answer)
    return since + timedelta(seconds=seconds) if seconds <= READY_SECONDS else None


def default_wait(draw: random.Random) -> float:
    """Draw the wait of a queue that pairs: every other person finds somebody in it.

    The rest wait for the next to come: 20 s on average, a link that a panel has just published.
    """
    return draw.expovariate(1 / 20) if draw.random() < 0.5 else 0.0


def default_answer(draw: random.Random) -> float:
    """Draw the time to hear a sound, look and press: 4 s for half of all, 15 s for few."""
    return draw.lognormvariate(math.log(4), 0.5)


def _draw(person: Participation, what: str) -> random.Random:
    """Return the draw of one time; each attempt at a conversation has its own."""
    attempt = person.seats.count()
    return random.Random(  # noqa: S311 (repeatable)
        f"{person.campaign.seed}:{person.pk}:{attempt}:{what}"
    )


def _one_of(
    known: Sequence[float], draw: random.Random, default: Callable[[random.Random], float]
) -> float:
    return draw.choice(known) if len(known) >= KNOWN else default(draw)


def _checked(campaign: Campaign) -> QuerySet[Seat]:
    """Return the seats of people whose partner was a person, the latest first."""
    rows = Seat.objects.filter(conversation__campaign=campaign, conversation__system__bot=PEOPLE)
    return rows.filter(checked_at__isnull=False).order_by("-pk")


def _waits(campaign: Campaign) -> list[float]:
    rows = _checked(campaign).filter(seconds_waiting__isnull=False)
    return [float(each or 0) for each in rows.values_list("seconds_waiting", flat=True)[:RECENT]]


def _answers(campaign: Campaign) -> list[float]:
    """Return the seconds to answer a ready check; without an end for those who missed it."""
    over = Q(ready_at__isnull=False) | Q(conversation__ended_because=MISSED)
    rows = _checked(campaign).filter(over).values_list("checked_at", "ready_at")[:RECENT]
    return [(at - since).total_seconds() if since and at else math.inf for since, at in rows]
