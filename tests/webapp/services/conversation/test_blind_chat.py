"""What participants see during a chat tells a bot from a person no better than a guess.

People of their own speeds talk to people and to bots, through the services. A classifier reads what
is to be observed beside the words themselves: the seconds of each reply, alone and for each word,
kinds, keys and sizes of frames without the text, and each status while a reply is awaited, which is
what the page's indicator of writing and its notices are made of.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.utils import timezone

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.conversation.test_blind_entrance import Clock, guess, told
from tests.webapp.services.conversation.test_blind_entrance import told_together as together
from tests.webapp.services.people import send_message
from webapp.models import Campaign, Conversation, Participation, ReplyJob, Seat, System
from webapp.services.conversation import updates
from webapp.services.replies import delivery, pace
from webapp.services.replies.delivery import BotAnswer

pytestmark = pytest.mark.django_db
EXCHANGES = 5
LOOKS = (0.5, 5.0, 25.0)  # seconds after a message, at which the page asks


@dataclass
class Watched:
    """What one participant saw of a chat."""

    person: Participation
    numbers: dict[str, float] = field(default_factory=dict)
    shapes: set[Any] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def look(self, clock: Clock, since: int) -> None:
        """Note the frames after an entry."""
        for frame in updates.conversation_updates(person=self.person, after=since, now=clock.now()):
            shown = {name: frame[name] for name in frame if name not in ("text", "at", "id")}
            self.shapes.add((frame["type"], frozenset(frame)))
            if frame["type"] == "status":
                shown = {name: frame[name] for name in frame if name != "messages"}
                self.shapes.add(repr(sorted(shown.items(), key=lambda pair: pair[0])))
            else:
                self.shapes.add((frame["seq"], frame["kind"], frame["side"]))

    def features(self) -> dict[str, float]:
        """Return the pace of the replies; whoever they are, they say as much."""
        rates = [s / w for s, w in zip(self.seconds, self.words, strict=True)]
        slope = statistics.correlation(self.seconds, self.words)
        found = {f"reply {n}": seconds for n, seconds in enumerate(self.seconds)}
        for name, values in (("seconds", self.seconds), ("a word", rates)):
            found |= {
                f"{name} mean": statistics.fmean(values),
                f"{name} sd": statistics.stdev(values),
                f"{name} least": min(values),
                f"{name} most": max(values),
            }
        return found | {"slope": slope} | self.numbers


@dataclass
class Speed:
    """The law by which a person of this test writes: not the product's own stand-in."""

    law: random.Random
    own: float = 0.0

    def __post_init__(self) -> None:
        self.own = self.law.lognormvariate(0, 0.5)

    def seconds(self, words: int) -> float:
        return self.own * (self.law.expovariate(1 / 3) + 2.0 + 0.7 * words)


def sentence(law: random.Random) -> str:
    return " ".join("word" for _ in range(law.randint(3, 15)))


def opened(campaign: Campaign, system: System, seed: int, clock: Clock) -> list[Participation]:
    """Return the people of a conversation that is open; the first is who watches."""
    talk = Conversation.objects.create(
        campaign=campaign, system=system, seed=seed, started_at=clock.now(), minimum=2
    )
    people = []
    for side in (0, 1) if system.is_people else (0,):
        person = make_participation(campaign, system=system, state="CHATTING", seen_at=clock.now())
        people.append(person)
        Seat.objects.create(conversation=talk, side=side, participation=person)
    if not system.is_people:
        Seat.objects.create(conversation=talk, side=1)
    return people


def chat(campaign: Campaign, system: System, law: random.Random, clock: Clock) -> Watched:
    """Let somebody talk to a person or a bot, each reply as long as the next."""
    people = opened(campaign, system, law.getrandbits(31), clock)
    watched = Watched(people[0])
    speeds = [Speed(law) for _ in range(2)]
    talk = people[0].seats.get().conversation
    for _ in range(EXCHANGES):
        clock.seconds += speeds[0].seconds(8)
        Participation.objects.filter(pk__in=[each.pk for each in people]).update(
            seen_at=clock.now()
        )
        asked = send_message(people[0], sentence(law), clock.now())
        text = sentence(law)
        words = len(text.split())
        seconds = speeds[1].seconds(words) if system.is_people else owed(talk, text)
        wait(watched, clock, asked.seq, seconds, people)
        if system.is_people:
            send_message(people[1], text, clock.now())
        else:
            ReplyJob.objects.filter(conversation=talk, state="ANSWERED").update(due_at=NOW)
            assert delivery.deliver_due() == 1
        watched.look(clock, asked.seq)
        watched.seconds.append(seconds)
        watched.words.append(words)
    Conversation.objects.filter(pk=talk.pk).update(state="FINISHED", ended_at=clock.now())
    ended = {"state": "ENDED", "outcome": "COMPLETED", "ended_at": clock.now()}
    Participation.objects.filter(pk__in=[each.pk for each in people]).update(**ended)
    return watched


def owed(talk: Conversation, text: str) -> float:
    """Answer as a bot does; return the seconds after which it is to be shown."""
    job = ReplyJob.objects.select_related("conversation__campaign").get(
        conversation=talk, state="QUEUED"
    )
    ReplyJob.objects.filter(pk=job.pk).update(state="CLAIMED", owner="worker", attempt=1)
    job.refresh_from_db()
    assert delivery.answer([BotAnswer(job, text, {})]) == 1
    job.refresh_from_db()
    assert job.due_at is not None
    return (job.due_at - job.queued_at).total_seconds()


def wait(
    watched: Watched, clock: Clock, since: int, seconds: float, people: list[Participation]
) -> None:
    """Let the page ask meanwhile; people's browsers give signs of life."""
    begun = clock.seconds
    for look in LOOKS:
        if look < seconds:
            clock.seconds = begun + look
            Participation.objects.filter(pk__in=[each.pk for each in people]).update(
                seen_at=clock.now()
            )
            watched.look(clock, since)
    clock.seconds = begun + seconds


def simulate(monkeypatch: pytest.MonkeyPatch, each: int) -> dict[bool, list[Watched]]:
    """Let so many talk to people, and to bots, after the first people of a campaign have."""
    clock, law = Clock(), random.Random(4)
    monkeypatch.setattr(timezone, "now", clock.now)
    campaign = make_campaign(
        systems={"humans": "people", "alpha": "parrot"}, personas=0, target=4 * each
    )
    humans, bot = (campaign.systems.get(name=name) for name in ("humans", "alpha"))
    for _ in range(pace.KNOWN):
        chat(campaign, humans, law, clock)
    found: dict[bool, list[Watched]] = {True: [], False: []}
    for kind in [True, False] * each:
        found[kind].append(chat(campaign, humans if kind else bot, law, clock))
    return found


def telling(found: dict[bool, list[Any]]) -> Iterator[tuple[str, float]]:
    return ((name, round(value, 3)) for name, value in told(found) if value > guess(found))


@pytest.mark.parametrize(
    "each", [10, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_nothing_seen_during_a_chat_tells_a_bot_from_a_person(
    monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    found = simulate(monkeypatch, each)
    seen = [set().union(*(one.shapes for one in found[kind])) for kind in (True, False)]
    assert seen[0] == seen[1], "frames and statuses with a person, and with a bot"
    assert dict(telling(found)) == {}
    if each >= 200:
        whole = together(found)
        print(f"{each} each: all features together {whole:.3f}, one {dict(told(found))}")
        assert whole <= 0.55


def test_the_classifier_finds_bots_that_type_at_the_protocol_s_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same chats with half a second for each word: so the test above can fail."""
    monkeypatch.setattr(pace, "is_mixed", lambda campaign: False)
    found = simulate(monkeypatch, 10)
    assert dict(told(found))["slope"] > 0.95
    assert together(found) > 0.95


@pytest.mark.parametrize(("known", "is_donated"), [(pace.KNOWN - 1, False), (pace.KNOWN, True)])
def test_a_reply_takes_what_a_person_took_for_about_as_many_words(
    monkeypatch: pytest.MonkeyPatch, known: int, is_donated: bool
) -> None:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"}, personas=0)
    for number in range(known):
        both = opened(campaign, campaign.systems.get(name="humans"), number, clock)
        for turn, words in enumerate((1, 2, 2, 3, 3, 4, 4, 13, 13, 14, 14, 15, 15)):
            clock.seconds += words if words < 10 else 500
            send_message(both[turn % 2], "word " * words, clock.now())
        ended = Conversation.objects.filter(seed=number)
        ended.update(state="FINISHED", ended_at=clock.now())
    (person,) = opened(campaign, campaign.systems.get(name="alpha"), 1, clock)
    talk = person.seats.get().conversation
    short, long = (
        [pace.seconds_like_people(talk, "word " * words, n) or 0.0 for n in range(40)]
        for words in (3, 14)
    )
    assert (min(long) > 60 > max(short)) == is_donated
    assert max(long) <= pace.LONGEST_WAIT


def test_in_a_campaign_of_bots_only_the_protocol_s_pace_holds() -> None:
    talk = Conversation(campaign=make_campaign(personas=0), seed=1, started_at=NOW)
    assert pace.seconds_like_people(talk, "one two", 1) is None
    assert pace.typing_seconds(talk, "one two three four") == pytest.approx(math.fsum([0.5] * 4))
