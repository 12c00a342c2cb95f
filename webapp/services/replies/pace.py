"""Seconds until a bot's reply is shown: the protocol's pace, or people's own.

In a campaign of bots and people no time may tell which of the two a partner is. There a bot keeps,
through a conversation, to the times of one person of the campaign, a donor drawn by the
conversation's seed: each reply takes what the donor took for one of about as many words. Until
enough people have talked, a stated default stands in.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise

from webapp.models import PEOPLE, Campaign, Conversation, Event
from webapp.services.rules import protocols

LONGEST_TYPING = 30.0  # seconds; a very long answer is shown sooner than anybody could type it
LONGEST_WAIT = 120.0  # seconds, of the times of a person who was away for a while
KNOWN = 10  # people's conversations; fewer say too little of how their times are distributed
RECENT = 100  # the latest of them
ALIKE = 3  # replies of a donor whose length is nearest
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
    draw = random.Random(f"{conversation.seed}:{in_reply_to}:pace")  # noqa: S311 (repeatable)
    donor = _donor(conversation)
    if not donor:
        return _default(conversation, words, draw)
    alike = sorted(donor, key=lambda reply: abs(reply[0] - words))[:ALIKE]
    return min(LONGEST_WAIT, draw.choice(alike)[1])


def _donor(conversation: Conversation) -> list[Reply]:
    """Return the replies of the person whose times this conversation's bot has, in order.

    Whose they are never changes: it is drawn of conversations that were over before.
    """
    over = Conversation.objects.filter(
        campaign=conversation.campaign,
        system__bot=PEOPLE,
        state=Conversation.State.FINISHED,
        ended_at__lte=conversation.started_at,
    )
    known = list(over.order_by("-pk").values_list("pk", flat=True)[:RECENT])
    if len(known) < KNOWN:
        return []
    draw = random.Random(f"{conversation.seed}:donor")  # noqa: S311 (repeatable)
    return _replies(draw.choice(known), side=draw.randrange(2))


def _replies(conversation: int, side: int) -> list[Reply]:
    """Return the words and seconds of each of a side's messages that follow its partner's."""
    rows = Event.objects.filter(conversation=conversation, kind=Event.Kind.MESSAGE).order_by("seq")
    said = list(rows.values_list("side", "content__text", "made_at"))
    return [
        (len(str(text).split()), (at - before).total_seconds())
        for (other, _, before), (who, text, at) in pairwise(said)
        if who == side != other
    ]


def _default(conversation: Conversation, words: int, draw: random.Random) -> float:
    """Draw the time to read, think and type: a person's speed, and each reply's own deviation.

    Half of all type 40 words a minute or more, and think for 4 s or less.
    """
    person = random.Random(f"{conversation.seed}:speed")  # noqa: S311 (repeatable)
    speed = person.lognormvariate(0, 0.4)
    thinking = draw.lognormvariate(math.log(4), 0.5)
    return min(LONGEST_WAIT, speed * (thinking + 1.5 * words * draw.lognormvariate(0, 0.3)))
