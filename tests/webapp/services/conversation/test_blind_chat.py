"""What participants see during a chat tells a bot from a person no better than a guess.

People talk to people and to bots, through the services, and all of them, on either side, are of one
population: each has a speed, reads before writing, writes longer for longer replies and tires. A
classifier reads what is to be observed beside the words themselves: the seconds to the first
message and of each reply, alone, for each word, and against the reply's length, the length of what
it answers, the turn and the reply before; number, kinds, keys and sizes of frames without the text;
and each status while a reply is awaited, which is what the page's indicator of writing and its
notices are made of.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.utils import timezone

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.conversation.test_blind_entrance import Clock, guess, told
from tests.webapp.services.conversation.test_blind_entrance import told_together as together
from tests.webapp.services.people import send_message
from webapp.models import Campaign, Conversation, Participation, ReplyJob, Seat, System
from webapp.services.conversation import opening, updates
from webapp.services.replies import delivery, pace
from webapp.services.replies.delivery import BotAnswer
from webapp.services.replies.pace import Donor, Line, People, TimedReply

EXCHANGES = 5
LOOKS = (0.5, 5.0, 25.0)  # seconds after a message, at which the page asks
needs_database = pytest.mark.django_db


@dataclass
class Watched:
    """What one participant saw of a chat."""

    replies: list[TimedReply] = field(default_factory=list)
    opening: float = 0.0  # seconds; none where the participant writes first
    sizes: list[int] = field(default_factory=list)  # of frames, as JSON without their text
    shapes: set[Any] = field(default_factory=set)

    def look(self, person: Participation, clock: Clock, since: int) -> None:
        """Note the frames after an entry."""
        for frame in updates.conversation_updates(person=person, after=since, now=clock.now()):
            shown = {name: frame[name] for name in frame if name not in ("text", "at", "id")}
            self.shapes.add((frame["type"], tuple(frame)))
            self.sizes.append(len(json.dumps(frame | {"text": ""})))
            if frame["type"] == "status":
                del shown["messages"]
                self.shapes |= {(frame["turn"], name, str(shown[name])) for name in shown}
            else:
                self.shapes.add((frame["seq"], frame["kind"], frame["side"]))

    def features(self) -> dict[str, float]:
        """Return the pace of the replies; whoever they are, they say as much."""
        words, asked, seconds = zip(*self.replies, strict=True)
        found = {f"reply {n}": taken for n, taken in enumerate(seconds)}
        rates = [taken / count for taken, count in zip(seconds, words, strict=True)]
        for name, values in (("seconds", seconds), ("a word", rates)):
            found |= {
                f"{name} mean": statistics.fmean(values),
                f"{name} sd": statistics.stdev(values),
                f"{name} least": min(values),
                f"{name} most": max(values),
            }
        return found | {
            "slope": correlation(seconds, words),
            "slope of what is answered": correlation(seconds, asked),
            "turn": correlation(seconds, range(len(seconds))),
            "after the one before": correlation(seconds[1:], seconds[:-1]),
            "first of all": seconds[0] / statistics.fmean(seconds),
            "spread": statistics.stdev(math.log(taken) for taken in seconds),
            "opening": self.opening,
            "opening of all": self.opening / statistics.fmean(seconds),
            "frames": len(self.sizes),
            "bytes": sum(self.sizes),
        }


def correlation(ones: Sequence[float], others: Sequence[float]) -> float:
    return statistics.correlation(ones, others) if len(set(ones)) > 1 < len(set(others)) else 0.0


@dataclass
class Speed:
    """The law by which a person of this test writes: not the product's own stand-in."""

    law: random.Random
    own: float = 0.0
    turn: int = 0

    def __post_init__(self) -> None:
        self.own = self.law.lognormvariate(0, 0.5)

    def seconds(self, words: int, asked: int = 0) -> float:
        """Return what the next message takes."""
        self.turn += 1
        thinking = self.law.expovariate(1 / 3) + 1.0
        return self.own * (thinking + 0.7 * words + 0.3 * asked) * (1 + 0.05 * self.turn)


def sentence(law: random.Random) -> str:
    return " ".join("word" for _ in range(law.randint(3, 15)))


def opened(campaign: Campaign, system: System, seed: int, clock: Clock) -> list[Participation]:
    """Return the people of a conversation that has just opened; the first is who watches."""
    talk = Conversation.objects.create(
        campaign=campaign,
        system=system,
        seed=seed,
        first_side=seed % 2,
        state="CHECKING",
        started_at=clock.now(),
        minimum=2,
    )
    people = []
    for side in (0, 1) if system.is_people else (0,):
        person = make_participation(campaign, system=system, state="MATCHED", seen_at=clock.now())
        people.append(person)
        Seat.objects.create(conversation=talk, side=side, participation=person)
    if not system.is_people:
        Seat.objects.create(conversation=talk, side=1, ready_at=clock.now())
    for person in people:
        opening.meet(person=person, now=clock.now())
    for person in people:
        person.refresh_from_db()
    return people


@dataclass
class Talk:
    """A conversation that somebody watches, with a person or a bot."""

    people: list[Participation]
    clock: Clock
    law: random.Random
    watched: Watched = field(default_factory=Watched)

    def __post_init__(self) -> None:
        self.conversation = self.people[0].seats.get().conversation
        self.speeds = [Speed(self.law) for _ in range(2)]

    def hold(self) -> Watched:
        """Let both write in turns, each message as long as the next."""
        heard = 0
        if self.conversation.first_side == 1:
            heard = self.reply(0, 0)
        for _ in range(EXCHANGES):
            text = sentence(self.law)
            self.clock.seconds += self.speeds[0].seconds(len(text.split()), heard)
            self.sign_of_life()
            asked = send_message(self.people[0], text, self.clock.now())
            heard = self.reply(asked.seq, len(text.split()))
        self.end()
        return self.watched

    def reply(self, since: int, asked: int) -> int:
        """Let the partner write; return how many words."""
        text = sentence(self.law)
        words = len(text.split())
        is_person = len(self.people) > 1
        seconds = self.speeds[1].seconds(words, asked) if is_person else owed(self, text)
        wait(self, since, seconds)
        if is_person:
            send_message(self.people[1], text, self.clock.now())
        else:
            rows = ReplyJob.objects.filter(conversation=self.conversation, state="ANSWERED")
            rows.update(due_at=NOW)
            assert delivery.deliver_due() == 1
        self.watched.look(self.people[0], self.clock, since)
        if since:
            self.watched.replies.append(TimedReply(words, asked, seconds))
        else:
            self.watched.opening = seconds
        return words

    def sign_of_life(self) -> None:
        rows = Participation.objects.filter(pk__in=[each.pk for each in self.people])
        rows.update(seen_at=self.clock.now())

    def end(self) -> None:
        now = self.clock.now()
        Conversation.objects.filter(pk=self.conversation.pk).update(state="FINISHED", ended_at=now)
        ended = {"state": "ENDED", "outcome": "COMPLETED", "ended_at": now}
        Participation.objects.filter(pk__in=[each.pk for each in self.people]).update(**ended)


def owed(talk: Talk, text: str) -> float:
    """Answer as a bot does; return the seconds after which it is to be shown."""
    rows = ReplyJob.objects.select_related("conversation__campaign")
    job = rows.get(conversation=talk.conversation, state="QUEUED")
    ReplyJob.objects.filter(pk=job.pk).update(state="CLAIMED", owner="worker", attempt=1)
    job.refresh_from_db()
    assert delivery.answer([BotAnswer(job, text, {})]) == 1
    job.refresh_from_db()
    assert job.due_at is not None
    return (job.due_at - job.queued_at).total_seconds()


def wait(talk: Talk, since: int, seconds: float) -> None:
    """Let the page ask meanwhile; people's browsers give signs of life."""
    begun = talk.clock.seconds
    for look in LOOKS:
        if look < seconds:
            talk.clock.seconds = begun + look
            talk.sign_of_life()
            talk.watched.look(talk.people[0], talk.clock, since)
    talk.clock.seconds = begun + seconds


def simulate(monkeypatch: pytest.MonkeyPatch, each: int) -> dict[bool, list[Watched]]:
    """Let so many talk to people, and to bots, after the first people of a campaign have."""
    clock, law = Clock(), random.Random(4)
    monkeypatch.setattr(timezone, "now", clock.now)
    campaign = make_campaign(
        systems={"humans": "people", "alpha": "parrot"}, personas=0, target=4 * each
    )
    humans, bot = (campaign.systems.get(name=name) for name in ("humans", "alpha"))

    def chat(system: System) -> Watched:
        return Talk(opened(campaign, system, law.getrandbits(31), clock), clock, law).hold()

    for _ in range(pace.KNOWN):
        chat(humans)
    found: dict[bool, list[Watched]] = {True: [], False: []}
    for kind in [True, False] * each:
        found[kind].append(chat(humans if kind else bot))
    return found


def telling(found: dict[bool, list[Any]]) -> Iterator[tuple[str, float]]:
    return ((name, round(value, 3)) for name, value in told(found) if value > guess(found))


@needs_database
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


@needs_database
@pytest.mark.parametrize(
    "each", [10, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_the_classifier_finds_bots_that_type_at_the_protocol_s_pace(
    monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    """The same chats with half a second for each word: so the test above can fail."""
    monkeypatch.setattr(pace, "is_mixed", lambda campaign: False)
    found = simulate(monkeypatch, each)
    assert dict(told(found))["slope"] > 0.95
    whole = together(found)
    print(f"{each} each at the protocol's pace: all features together {whole:.3f}")
    assert whole > 0.95


# --- the same times without a database: many, quickly -----------------------------------------


def people(law: random.Random, count: int) -> list[tuple[Donor, Donor]]:
    """Return what both people of so many conversations took, the first to write first."""
    found = []
    for _ in range(count):
        sides = [Speed(law), Speed(law)]
        replies: tuple[list[TimedReply], list[TimedReply]] = ([], [])
        lengths = [law.randint(3, 15) for _ in range(2 * EXCHANGES + 1)]
        opening_seconds = sides[0].seconds(lengths[0])
        for turn, words in enumerate(lengths[1:], start=1):
            asked = lengths[turn - 1]
            seconds = sides[turn % 2].seconds(words, asked)
            replies[turn % 2].append(TimedReply(words, asked, seconds))
        found.append((Donor(replies[0], True, opening_seconds), Donor(replies[1], False)))
    return found


def paced(known: Sequence[tuple[Donor, Donor]], law: random.Random, count: int) -> list[Watched]:
    """Return what is seen of so many bots with the times of these people."""
    pool, found = People.of([one for pair in known for one in pair]), []
    for _ in range(count):
        donor = law.choice(pool.donors)
        lengths = [(law.randint(3, 15), law.randint(3, 15)) for _ in range(EXCHANGES)]
        replies = [
            TimedReply(*both, pool.seconds(donor, place, *both))
            for place, both in enumerate(lengths)
        ]
        found.append(Watched(replies, donor.opening))
    return found


def seen_without_database(each: int = 200) -> dict[bool, list[Watched]]:
    law = random.Random(4)
    persons = [law.choice(pair) for pair in people(law, each)]  # fresh ones: donors are others
    return {
        True: [Watched(list(one.replies), one.opening) for one in persons],
        False: paced(people(law, each // 2), law, each),
    }


def test_times_moved_to_other_lengths_are_those_of_people() -> None:
    """200 of each, by each feature alone."""
    assert dict(telling(seen_without_database())) == {}


@pytest.mark.parametrize(
    ("broken", "feature"),
    [
        ("own", "slope"),
        ("answered", "slope of what is answered"),
        ("place", "turn"),
        ("donor", "spread"),
    ],
)
def test_a_pace_without_one_of_its_parts_is_found(
    monkeypatch: pytest.MonkeyPatch, broken: str, feature: str
) -> None:
    """Both lengths, the order of a donor's replies and one donor for all are each needed."""
    usual, seconds = pace.Usual.of, People.seconds

    def mixed_up(people: People, donor: Donor, place: int, words: int, asked: int) -> float:
        if broken == "donor":
            donor = people.donors[(people.donors.index(donor) + 7 * place) % len(people.donors)]
        return seconds(people, donor, 0 if broken == "place" else place, words, asked)

    if broken in ("own", "answered"):
        flat = {broken: Line(3.0, 0.0)}
        monkeypatch.setattr(pace.Usual, "of", lambda known: replace(usual(known), **flat))
    else:
        monkeypatch.setattr(People, "seconds", mixed_up)
    assert feature in dict(telling(seen_without_database()))


# --- a bot and its donor ----------------------------------------------------------------------


def talked(campaign: Campaign, clock: Clock, lengths: Sequence[int], seed: int) -> None:
    """Let two people talk in turns, with a second for each word and 100 more beyond ten words."""
    both = opened(campaign, campaign.systems.get(name="humans"), seed, clock)
    for turn, words in enumerate(lengths, start=seed % 2):
        clock.seconds += words + 100 * (words > 10)
        send_message(both[turn % 2], "word " * words, clock.now())
    ended = Conversation.objects.filter(seed=seed)
    ended.update(state="FINISHED", ended_at=clock.now())


@needs_database
@pytest.mark.parametrize(("known", "is_donated"), [(pace.KNOWN - 1, False), (pace.KNOWN, True)])
def test_a_reply_takes_what_a_person_took_for_about_as_many_words(
    monkeypatch: pytest.MonkeyPatch, known: int, is_donated: bool
) -> None:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"}, personas=0)
    for number in range(known):
        talked(campaign, clock, (1, 2, 2, 3, 3, 4, 4, 13, 13, 14, 14, 15, 15), number)
    taken: dict[int, list[float]] = {3: [], 14: []}
    for seed in range(0, 8, 2):
        for words, seconds in taken.items():
            (person,) = opened(campaign, campaign.systems.get(name="alpha"), seed, clock)
            text = "word " * words
            asked = send_message(person, text, clock.now())
            found = pace.seconds_like_people(asked.conversation, text, asked.seq)
            seconds.append(found or 0.0)
    short, long = taken.values()
    assert (min(long) > 60 > max(short)) == is_donated
    assert max(long) <= pace.LONGEST_WAIT


@needs_database
@pytest.mark.parametrize("first", [0, 1])
def test_a_bot_has_the_times_of_who_had_its_place(
    monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Whoever writes first is slow here, and takes 5 words' time to open."""
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"}, personas=0)
    for number in range(pace.KNOWN):
        talked(campaign, clock, (5, 2, 11) * 2, 2 * number)
    (person,) = opened(campaign, campaign.systems.get(name="alpha"), 2 + first, clock)
    talk = person.seats.get().conversation
    assert talk.first_side == first
    assert pace.seconds_like_people(talk, "one two", 1) is not None
    if first:
        job = ReplyJob.objects.get(conversation=talk, in_reply_to=0)
        assert job.lease_until is None, "the answer is sought at once, and shown when it is due"
        assert pace.seconds_like_people(talk, "one two", 0) == pytest.approx(5.0)


def test_with_a_donor_s_own_lengths_each_reply_takes_as_long_as_the_donor_s() -> None:
    donors = [one for pair in people(random.Random(2), 12) for one in pair]
    pool = People.of(donors)
    for one in donors:
        for place, reply in enumerate(one.replies):
            same = pool.seconds(one, place, reply.words, reply.answered)
            assert same == pytest.approx(reply.seconds)


def test_people_who_write_one_length_in_one_time_are_followed_as_well() -> None:
    donors = [Donor([TimedReply(4, 4, 6.0)] * 3, is_first) for is_first in (True, False)] * 5
    assert People.of(donors).seconds(donors[0], 7, 9, 1) == pytest.approx(6.0)


@needs_database
def test_in_a_campaign_of_bots_only_the_protocol_s_pace_holds() -> None:
    talk = Conversation(campaign=make_campaign(personas=0), seed=1, started_at=NOW)
    assert pace.seconds_like_people(talk, "one two", 1) is None
    assert pace.typing_seconds(talk, "one two three four") == pytest.approx(math.fsum([0.5] * 4))
