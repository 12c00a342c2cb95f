"""Seconds until a bot's reply is shown: the protocol's pace, or people's own.

In a campaign of bots and people no time may tell which of the two a partner is. There a bot keeps,
through a conversation, to the times of one person of the campaign, a donor drawn by the
conversation's seed. A line through all that people took, by the words of the reply, says what is
usual; the donor's speed stretches it, and what the donor took beyond that is added, one reply's
after another. Until enough people have talked, a stated default stands in.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from webapp.models import PEOPLE, Campaign, Conversation, Event
from webapp.services.rules import protocols

LONGEST_TYPING = 30.0  # seconds; a very long answer is shown sooner than anybody could type it
LONGEST_WAIT = 120.0  # seconds, of the times of a person who was away for a while
KNOWN = 10  # people's conversations; fewer say too little of how their times are distributed
RECENT = 30  # the latest of them
LEAST = 0.5  # seconds
Reply = tuple[int, float]  # words, seconds


def is_mixed(campaign: Campaign) -> bool:
    """Tell whether a partner can be a bot as well as a person."""
    bots = set(campaign.systems.values_list("bot", flat=True))
    return PEOPLE in bots and len(bots) > 1


def is_paced_like_people(conversation: Conversation) -> bool:
    """Tell whether a bot's times are to be those of people."""
    is_study = conversation.purpose == Conversation.Purpose.STUDY
    return is_study and is_mixed(conversation.campaign)


def typing_seconds(conversation: Conversation, text: str) -> float:
    """Return how long after an answer is known it is shown, by the protocol's pace."""
    chat = protocols.protocol_of(conversation.campaign).chat
    if chat is None or conversation.purpose != Conversation.Purpose.STUDY:
        return 0.0
    return min(LONGEST_TYPING, chat.pace * len(text.split()))


def seconds_like_people(conversation: Conversation, text: str, in_reply_to: int) -> float | None:
    """Return how long after the partner's message a reply is shown; None where no person could be.

    The time to find an answer is part of it.
    """
    if not is_paced_like_people(conversation):
        return None
    words = len(text.split())
    known = _known(conversation)
    if not known:
        draw = random.Random(f"{conversation.seed}:{in_reply_to}:pace")  # noqa: S311 (repeatable)
        return _default(conversation, words, draw)
    line = Line.through([reply for one in known for reply in one])
    draw = random.Random(f"{conversation.seed}:donor")  # noqa: S311 (repeatable)
    donor = draw.choice(known)
    usual = [line.seconds(length) for length, _ in donor]
    speed = statistics.fmean(seconds for _, seconds in donor) / statistics.fmean(usual)
    rest = [took - speed * common for (_, took), common in zip(donor, usual, strict=True)]
    draw.shuffle(rest)
    own = rest[in_reply_to // 2 % len(rest)]  # each once: as even as the donor was
    return min(LONGEST_WAIT, max(LEAST, speed * line.seconds(words) + own))


@dataclass(frozen=True)
class Line:
    """The seconds of a reply of so many words, by least squares; longer ones take no less."""

    at_none: float
    for_each: float

    @classmethod
    def through(cls, replies: Sequence[Reply]) -> Line:
        words, seconds = ([reply[n] for reply in replies] for n in (0, 1))
        if len(set(words)) == 1:
            return cls(statistics.fmean(seconds), 0.0)
        slope, start = statistics.linear_regression(words, seconds)
        if slope < 0:
            return cls(statistics.fmean(seconds), 0.0)
        if start < 0:  # no reply takes less than none
            return cls(0.0, statistics.fmean(seconds) / statistics.fmean(words))
        return cls(start, slope)

    def seconds(self, words: int) -> float:
        return max(LEAST, self.at_none + self.for_each * words)


def _known(conversation: Conversation) -> list[list[Reply]]:
    """Return the replies of each person of whom a bot may have the times; empty where too few.

    Who they are never changes: their conversations were over before this one began.
    """
    over = Conversation.objects.filter(
        campaign=conversation.campaign,
        system__bot=PEOPLE,
        state=Conversation.State.FINISHED,
        ended_at__lte=conversation.started_at,
    )
    conversations = list(over.order_by("-pk").values_list("pk", flat=True)[:RECENT])
    if len(conversations) < KNOWN:
        return []
    rows = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    found: dict[tuple[int, int | None], list[Reply]] = defaultdict(list)
    messages = rows.order_by("conversation", "seq").values_list(
        "conversation", "side", "content__text", "made_at"
    )
    for (pk, other, _, before), (same, side, text, at) in pairwise(messages):
        if pk == same and side != other:
            seconds = min(LONGEST_WAIT, (at - before).total_seconds())
            found[pk, side].append((len(str(text).split()), seconds))
    return [found[key] for key in sorted(found)]


def _default(conversation: Conversation, words: int, draw: random.Random) -> float:
    """Draw the time to read, think and type: a person's speed, and each reply's own deviation.

    Half of all type 40 words a minute or more, and think for 4 s or less.
    """
    person = random.Random(f"{conversation.seed}:speed")  # noqa: S311 (repeatable)
    speed = person.lognormvariate(0, 0.4)
    thinking = draw.lognormvariate(math.log(4), 0.5)
    return min(LONGEST_WAIT, speed * (thinking + 1.5 * words * draw.lognormvariate(0, 0.3)))
