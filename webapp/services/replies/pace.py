"""Seconds until a bot's message is shown: the protocol's pace, or people's own.

In a campaign of bots and people no time may tell which of the two a partner is. There a bot keeps,
through a conversation, to the times of one person of the campaign, a donor drawn by the
conversation's seed among those who wrote first, or second, as the bot does. Its first reply takes
what the donor's first one took, and so on, at the donor's speed, moved to the lengths of the bot's
reply and of the message that it answers. Until enough people have talked, a stated default stands
in.
"""

from __future__ import annotations

import math
import random
import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from django.db.models import QuerySet

from webapp.models import PEOPLE, Campaign, Conversation, Event
from webapp.services.rules import protocols

LONGEST_TYPING = 30.0  # seconds; a very long answer is shown sooner than anybody could type it
LONGEST_WAIT = 120.0  # seconds, of the times of a person who was away for a while
KNOWN = 10  # people's conversations; fewer say too little of how their times are distributed
RECENT = 30  # the latest of them
LEAST = 0.5  # seconds
NEAR, SHARE = 15, 1 / 6  # replies of about a length: at least, and of all that people wrote
ROUNDS = 3  # of fitting what is usual; more change nothing that can be seen


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

    The time to find an answer is part of it. An opening counts from the conversation's beginning.
    """
    if not is_paced_like_people(conversation):
        return None
    if in_reply_to == 0:
        return seconds_to_open(conversation)
    known = _known(conversation)
    rows = _messages([conversation.pk]).filter(seq__lte=in_reply_to)
    before = [TimedMessage(*row) for row in rows]
    words, answered = _words(text), _words(before[-1].text) if before else 1
    if not known:
        draw = random.Random(f"{conversation.seed}:{in_reply_to}:pace")  # noqa: S311 (repeatable)
        return _default(conversation, words, draw)
    number = sum(one.side == 1 for one, _ in _answers(before))
    people = People.of(known)
    return people.seconds(_donor(conversation, known), number, words, answered)


def seconds_to_open(conversation: Conversation) -> float:
    """Return how long a bot that writes first lets a person wait: as long as its donor did."""
    known = _known(conversation)
    if known and (donor := _donor(conversation, known)).is_first:
        return donor.opening
    draw = random.Random(f"{conversation.seed}:0:pace")  # noqa: S311 (repeatable)
    return min(LONGEST_WAIT, _default_speed(conversation) * draw.lognormvariate(math.log(10), 0.3))


class TimedReply(NamedTuple):
    """What one reply took: its words, those of the message that it answers, and seconds."""

    words: int
    answered: int
    seconds: float


@dataclass(frozen=True)
class Donor:
    """One person's times in a conversation."""

    replies: Sequence[TimedReply]
    is_first: bool  # to write in the conversation
    opening: float = 0.0  # seconds to the first message, of who wrote it


@dataclass(frozen=True)
class Line:
    """The seconds of a reply of so many words, by least squares; longer ones take no less."""

    at_none: float
    for_each: float

    @classmethod
    def through(cls, words: Sequence[int], seconds: Sequence[float]) -> Line:
        if len(set(words)) == 1:
            return cls(statistics.fmean(seconds), 0.0)
        slope, start = statistics.linear_regression(words, seconds)
        if slope < 0:
            return cls(statistics.fmean(seconds), 0.0)
        if start < 0:  # no reply takes less than none
            return cls(0.0, statistics.fmean(seconds) / statistics.fmean(words))
        return cls(start, slope)

    def seconds(self, words: int) -> float:
        return self.at_none + self.for_each * words


@dataclass(frozen=True)
class Usual:
    """What a reply takes by its length, times what it takes by that of the message it answers."""

    own: Line
    answered: Line

    @classmethod
    def of(cls, donors: Sequence[Donor]) -> Usual:
        """Fit both lines to times in units of each person's speed, one after the other."""
        found = cls(Line(1.0, 0.0), Line(1.0, 0.0))
        for _ in range(ROUNDS):
            rows = [
                one._replace(seconds=one.seconds / speed)
                for each in donors
                for speed in [found.speed(each)]
                for one in each.replies
            ]
            words, answered = [one.words for one in rows], [one.answered for one in rows]
            rest = [one.seconds / found.answered.seconds(one.answered) for one in rows]
            own = Line.through(words, rest)
            rest = [one.seconds / own.seconds(one.words) for one in rows]
            found = cls(own, Line.through(answered, rest))
        return found

    def seconds(self, words: int, answered: int) -> float:
        return self.own.seconds(words) * self.answered.seconds(answered)

    def speed(self, donor: Donor) -> float:
        """Return how many times as long as usual a person takes."""
        usual = sum(self.seconds(one.words, one.answered) for one in donor.replies)
        return sum(one.seconds for one in donor.replies) / usual


@dataclass(frozen=True)
class People:
    """People's times, made comparable, so that one's can be moved to replies of other lengths."""

    donors: Sequence[Donor]
    usual: Usual
    beyond: Sequence[tuple[float, float]]  # of each reply: the usual, and what it took beyond that

    @classmethod
    def of(cls, donors: Sequence[Donor]) -> People:
        usual = Usual.of(donors)
        return cls(donors, usual, [pair for each in donors for pair in cls._beyond(usual, each)])

    @staticmethod
    def _beyond(usual: Usual, donor: Donor) -> Iterable[tuple[float, float]]:
        """Yield the usual time of each reply, and what it took beyond, at the usual speed."""
        speed = usual.speed(donor)
        for one in donor.replies:
            common = usual.seconds(one.words, one.answered)
            yield common, one.seconds / speed - common

    def seconds(self, donor: Donor, number: int, words: int, answered: int) -> float:
        """Return what the donor's reply of a number, from 0, takes with other lengths.

        Its rank among people's replies of about its length is kept among those of about the new
        one: with the same lengths it takes exactly as long.
        """
        pairs = list(self._beyond(self.usual, donor))
        was, rest = pairs[number % len(pairs)]
        rank = bisect_right(self._near(was), rest) - 1
        common = self.usual.seconds(words, answered)
        seconds = self.usual.speed(donor) * (common + self._near(common)[rank])
        return min(LONGEST_WAIT, max(LEAST, seconds))

    def _near(self, common: float) -> list[float]:
        """Return in order what replies took beyond the usual, whose usual time is the nearest."""
        most = max(NEAR, round(SHARE * len(self.beyond)))
        nearest = sorted(self.beyond, key=lambda pair: abs(pair[0] - common))[:most]
        return sorted(rest for _, rest in nearest)


# --- what people of the campaign took ---------------------------------------------------------


class TimedMessage(NamedTuple):
    """A message of somebody's, and when their conversation began."""

    conversation: int
    side: int
    text: object
    made_at: datetime
    started_at: datetime


def _donor(conversation: Conversation, known: Sequence[Donor]) -> Donor:
    """Draw whose times a bot has, among those who wrote first, or second, as it does."""
    same = [one for one in known if one.is_first == (conversation.first_side == 1)]
    draw = random.Random(f"{conversation.seed}:donor")  # noqa: S311 (repeatable)
    return draw.choice(same or known)


def _known(conversation: Conversation) -> list[Donor]:
    """Return the people of whom a bot may have the times; empty where too few.

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
    rows = [TimedMessage(*row) for row in _messages(conversations)]
    held = groupby(rows, key=lambda row: row.conversation)
    return [one for _, messages in held for one in _donors(list(messages))]


def _messages(conversations: Iterable[int]) -> QuerySet[Event, tuple[Any, ...]]:
    rows = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    columns = ("conversation", "side", "content__text", "made_at", "conversation__started_at")
    return rows.order_by("conversation", "seq").values_list(*columns)


def _donors(messages: Sequence[TimedMessage]) -> Iterable[Donor]:
    """Yield who replied in a conversation."""
    first = messages[0]
    opening = _taken(first.started_at, first.made_at)
    answers = list(_answers(messages))
    for side in (0, 1):
        replies = [reply for one, reply in answers if one.side == side]
        if replies:
            yield Donor(replies, side == first.side, opening if side == first.side else 0.0)


def _answers(messages: Sequence[TimedMessage]) -> Iterable[tuple[TimedMessage, TimedReply]]:
    """Yield each message that follows one of the other side, with what it took."""
    for before, one in pairwise(messages):
        if one.side != before.side:
            seconds = _taken(before.made_at, one.made_at)
            yield one, TimedReply(_words(one.text), _words(before.text), seconds)


def _taken(since: datetime, at: datetime) -> float:
    return min(LONGEST_WAIT, max(LEAST, (at - since).total_seconds()))


def _words(text: object) -> int:
    return max(1, len(str(text).split()))


def _default(conversation: Conversation, words: int, draw: random.Random) -> float:
    """Draw the time to read, think and type: a person's speed, and each reply's own deviation.

    Half of all type 40 words a minute or more, and think for 4 s or less.
    """
    thinking = draw.lognormvariate(math.log(4), 0.5)
    seconds = thinking + 1.5 * words * draw.lognormvariate(0, 0.3)
    return min(LONGEST_WAIT, _default_speed(conversation) * seconds)


def _default_speed(conversation: Conversation) -> float:
    draw = random.Random(f"{conversation.seed}:speed")  # noqa: S311 (repeatable)
    return draw.lognormvariate(0, 0.4)
