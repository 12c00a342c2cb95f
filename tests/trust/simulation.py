"""A deterministic simulation of chat, pairing, lease, quota and pay: model and system agree (G7).

    python -m tests.trust.simulation --steps 1000000 --seed 1

People, workers and sweepers act in an order drawn from the seed, with a clock that the seed moves.
Acknowledgments are lost, items come twice and late, claims outlive their lease, and processes die
at a drawn statement of an action, as by kill -9. The model keeps what each person was told. Exits 1
at the first step at which the database says something else, and prints the seed and the last steps.
Long because the model and what it is compared with are read together.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

Action = Callable[["World", "Soul"], object]
CRASHES = 0.06  # share of actions in which the process dies
LIFE = 250  # steps of a campaign, then everybody goes home
AT_ONCE = 9
BUDGET = 40
KINDS = ("bots", "labeled", "pairs")


class Killed(BaseException):
    """The process died at this statement."""


class Wrong(Exception):
    """The database does not say what somebody was told."""


@dataclass
class Soul:
    """A person, and all that the platform told them."""

    name: str
    pk: int = 0
    secret: str = ""
    pay: Decimal = Decimal(0)
    is_invited: bool = False
    sent: dict[uuid.UUID, tuple[int, str]] = field(default_factory=dict)  # acknowledged
    labels: dict[tuple[int, str], tuple[int, str]] = field(default_factory=dict)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # of an assignment
    code: str = ""
    revision: int = 0
    again: Callable[[], object] | None = None  # what was not acknowledged, to be sent once more
    is_gone: bool = False


class World:
    """Campaigns, one after another, the people in them, and the time."""

    def __init__(self, seed: int) -> None:
        from tests.factories import NOW

        self.chance, self.now = random.Random(seed), NOW
        self.souls: list[Soul] = []
        self.claims: list[Any] = []
        self.trace: deque[str] = deque(maxlen=25)
        self.counts: Counter[str] = Counter()
        self.campaign: Any = None
        self.number = 0

    def run(self, steps: int) -> None:
        for number in range(steps):
            if number % LIFE == 0:
                self.go_home()
                self.open(KINDS[self.number % len(KINDS)])
            self.step()
            self.compare_sums()
            if number % 20 == 0:
                self.compare_values()
        self.go_home()

    def open(self, kind: str) -> None:
        from tests.factories import make_campaign
        from webapp.services.rules import ledger

        self.number += 1
        options: dict[str, Any] = {
            "target": 8,
            "personas": 40,
            "pay": "2.00",
            "budget": str(BUDGET),
        }
        changes: dict[str, Any] = {"chat.minimum": [4]}
        if kind == "pairs":
            options |= {"systems": {"humans": "people"}, "wait_seconds": 120, "waiting_pay": "0.50"}
            changes["rate.sides"] = "both"
        else:
            changes["chat.pace"] = 0
        names = {"bots": "personachat_bot", "labeled": "meena_interactive"}
        protocol = names.get(kind, "personachat_human")
        self.campaign = make_campaign(protocol, changes=changes, **options)
        ledger.begin(self.campaign)
        self.souls, self.claims = [], []

    # --- one step ---------------------------------------------------------------------------------

    def step(self) -> None:
        self.now += timedelta(seconds=self.chance.choice((0, 0, 1, 1, 1, 2, 2, 5, 20, 90)))
        here = [soul for soul in self.souls if not soul.is_gone]
        if len(here) < AT_ONCE and self.chance.random() < 0.1:
            name, is_invited = f"soul-{self.number}-{len(self.souls)}", self.chance.random() < 0.3
            here.append(Soul(name, is_invited=is_invited))
            self.souls.append(here[-1])
        if not here or self.chance.random() < 0.3:
            self.act(self.chance.choice(PLATFORM), Soul("platform"))
            return
        soul = self.chance.choice(here)
        if self.chance.random() < 0.02:
            soul.is_gone = True
        self.act(self.choose(soul), soul)

    def choose(self, soul: Soul) -> Action:
        """Return what the person's page offers, at times something else, or once more the last."""
        if soul.again is not None and self.chance.random() < 0.7:
            again = soul.again
            return lambda world, one: again()
        if not soul.pk:
            return join
        state = self.person(soul).state
        if self.chance.random() < 0.1:
            return self.chance.choice(ANYTHING)
        return self.chance.choice(BY_STATE[state])

    def act(self, action: Action, soul: Soul) -> None:
        """Act, at times in a process that dies on the way; the person then does not know."""
        name = getattr(action, "__name__", "again")
        self.trace.append(f"{self.now:%H:%M:%S} {soul.name} {name}")
        left = self.chance.randrange(1, 40) if self.chance.random() < CRASHES else 0
        try:
            with killed_after(left):
                action(self, soul)
            self.counts[name] += 1
        except Killed:
            self.counts["killed"] += 1
        except refusals():
            self.counts["refused"] += 1
            soul.again = None

    def person(self, soul: Soul) -> Any:
        from webapp.models import Participation

        return Participation.objects.select_related("campaign", "system").get(pk=soul.pk)

    # --- what is compared -------------------------------------------------------------------------

    def compare_sums(self) -> None:
        from django.db.models import Q, Sum

        from webapp.models import CompletionCode, Participation, PayLedger, QuotaCell

        people = Participation.objects.filter(campaign=self.campaign)
        (cell,) = QuotaCell.objects.filter(system__campaign=self.campaign)
        held = sum(map(sum, people.values_list("holds_slot", "holds_partners_slot")))
        self.must(cell.reserved == held, f"{cell.reserved} reserved, {held} held")
        self.must(cell.reserved + cell.completed <= cell.target, "more than wanted")
        books = PayLedger.objects.get(campaign=self.campaign)
        codes = CompletionCode.objects.filter(participation__campaign=self.campaign)
        spent = codes.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)
        reserved = people.aggregate(sum=Sum("reserved_pay"))["sum"] or Decimal(0)
        self.must(books.spent == spent * 100, f"spent {books.spent}, codes {spent}")
        self.must(books.reserved == reserved * 100, f"held {books.reserved}, people {reserved}")
        self.must(books.spent + books.reserved <= BUDGET * 100, "more than the budget")
        odd = people.filter(
            Q(state="ENDED", reserved_pay__gt=0) | Q(state="READY", holds_slot=True)
        )
        self.must(not odd.exists(), "somebody without a place holds one")

    def compare_values(self) -> None:
        """Compare every message, label and answer that was acknowledged, by its value (G29)."""
        from webapp.models import Event, Rating

        for soul in self.souls:
            if not soul.pk:
                continue
            person = self.person(soul)
            self.must(person.pay >= soul.pay, f"{soul.name} was promised {soul.pay}")
            stored = {e.client_id: e for e in Event.objects.filter(client_id__in=soul.sent)}
            for key, (seq, text) in soul.sent.items():
                self.must(key in stored, f"{soul.name}: message {key} is lost")
                entry = stored[key].seq, stored[key].content
                self.must(entry == (seq, {"text": text}), f"{key} differs: {entry}")
            for (candidate, question), (revision, value) in soul.labels.items():
                rows = Rating.objects.filter(
                    candidate=candidate, question=question, assignment__participation=person
                )
                latest = rows.order_by("-revision").values_list("revision", "value").first()
                self.must(
                    latest == (revision, int(value)),
                    f"{soul.name}: label {question} of {candidate} is {latest}, not {value}",
                )
            for assignment, answers in soul.answers:
                given = Rating.objects.filter(assignment=assignment).values_list(
                    "candidate__key", "question", "value"
                )
                found = {f"{key}.{name}": str(answer) for key, name, answer in given}
                self.must(found == answers, f"{soul.name} answered {answers}, stored is {found}")

    def must(self, holds: bool, why: str) -> None:
        if not holds:
            raise Wrong("\n".join([*self.trace, why]))

    def go_home(self) -> None:
        """Let hours pass, until nobody is there; then everything has to add up."""
        from tests.trust import checks, snapshot
        from webapp.models import Participation
        from webapp.services.ops import sweeper

        if self.campaign is None:
            return
        serve(self, Soul("platform"))
        for _ in range(6):
            self.now += timedelta(minutes=40)
            sweeper.tick(self.now)
        left = Participation.objects.filter(campaign=self.campaign).exclude(state="ENDED")
        self.must(not left.exists(), f"still there: {[*left.values_list('pk', 'state')]}")
        found = checks.check(checks.Case({}, snapshot.take(self.campaign), None))
        self.must(not any(found.values()), json.dumps({k: v for k, v in found.items() if v}))
        self.compare_sums()
        self.compare_values()
        self.withdraw_some()

    def withdraw_some(self) -> None:
        """Let some withdraw: nothing of theirs is left, and the sums are as before."""
        from webapp.models import Event
        from webapp.services.participation import privacy

        for soul in self.souls[::3]:
            if soul.pk:
                token = privacy.withdraw_token(self.person(soul))
                privacy.withdraw(token=token, now=self.now)
                contents = Event.objects.values_list("content", flat=True)
                words = json.dumps([*contents.filter(conversation__campaign=self.campaign)])
                self.must(f"{soul.name} says" not in words, f"{soul.name} is still read")
                self.compare_sums()


# --- actions of people --------------------------------------------------------------------------


def join(world: World, soul: Soul) -> None:
    from webapp.services.participation import enrolment

    world.campaign.refresh_from_db()
    person, soul.secret = enrolment.join(
        campaign=world.campaign,
        platform="invited" if soul.is_invited else "prolific",
        external_id=soul.name,
        language="en",
        now=world.now,
        browser=[soul.secret],
        is_proven=soul.is_invited or not soul.pk,
    )
    soul.pk, soul.pay = person.pk, max(soul.pay, person.pay)


def take(name: str) -> Action:
    def action(world: World, soul: Soul) -> None:
        from webapp.services.participation import visits

        visits.STEPS[name](person=world.person(soul), now=world.now)

    action.__name__ = name
    return action


def ask(world: World, soul: Soul) -> None:
    from webapp.services.participation import enrolment

    enrolment.status(person=world.person(soul), now=world.now)


def send(world: World, soul: Soul) -> None:
    from webapp.services.conversation import chat

    key, text = uuid.UUID(int=world.chance.getrandbits(128), version=4), f"{soul.name} says it."

    def once() -> None:
        event = chat.send_message(
            person=world.person(soul), client_id=key, text=text, now=world.now
        )
        lost = world.chance.random() < 0.1  # the acknowledgment: the browser sends it once more
        soul.again = once if lost or world.chance.random() < 0.05 else None
        if not lost:
            soul.sent[key] = (event.seq, text)

    soul.again = once
    once()


def label(world: World, soul: Soul) -> None:
    from webapp.models import Event
    from webapp.services.conversation import chat
    from webapp.services.rating import items
    from webapp.services.rules import access

    seat = access.seat(world.person(soul))
    rows = Event.objects.filter(
        conversation=seat.conversation_id, kind="message", side=1 - seat.side
    )
    for event in rows.order_by("seq"):
        for question in ("sensible", "specific"):
            soul.revision += 1
            revision, value = soul.revision, world.chance.choice("11110")
            value = "1" if question == "sensible" else value
            is_late = world.chance.random() < 0.1  # an older answer that comes after this one
            about: dict[str, Any] = {"seq": event.seq, "question": question, "now": world.now}
            chat.label(
                person=world.person(soul),
                client_id=uuid.uuid4(),
                value=value,
                revision=revision,
                **about,
            )
            key = items.candidate_for(event).pk, question
            soul.labels[key] = (revision, value)
            if is_late and question == "specific":
                old: dict[str, Any] = {"value": "0", "revision": max(1, revision - 1)}
                with contextlib.suppress(Exception):
                    chat.label(person=world.person(soul), client_id=uuid.uuid4(), **old, **about)


def finish(world: World, soul: Soul) -> None:
    from webapp.services.conversation import chat

    chat.finish(person=world.person(soul), client_id=uuid.uuid4(), now=world.now)


def rate(world: World, soul: Soul) -> None:
    from webapp.services.rating import submission

    person = world.person(soul)
    assignment = submission.current(person)
    if assignment is None:
        return
    shown = submission.shown_to(assignment)
    fields = {
        f"{about}.{question.name}": question.form_field(shown).options
        for about, question in submission.rate_of(person).form_questions(shown)
    }
    answers = {name: str(world.chance.choice(options).value) for name, options in fields.items()}
    if world.chance.random() < 0.2:
        submission.save_draft(person=person, answers=answers, now=world.now)
        return
    code = submission.submit(person=person, answers=answers, now=world.now)
    soul.answers.append((assignment.pk, answers))
    if code is not None:
        world.must(soul.code in ("", code.code), f"{soul.name} got two codes")
        soul.code = code.code


# --- actions of the platform --------------------------------------------------------------------


def sweep(world: World, soul: Soul) -> None:
    from webapp.services.ops import sweeper

    sweeper.tick(world.now)


def claim(world: World, soul: Soul) -> None:
    """Claim what waits; the answer comes later, or never."""
    from webapp.services.replies import queue

    world.claims += queue.claim(bot="parrot", owner="worker")


def answer(world: World, soul: Soul) -> None:
    from webapp.services.replies import delivery

    if world.claims:
        job = world.claims.pop(world.chance.randrange(len(world.claims)))
        delivery.answer([delivery.BotAnswer(job, "I see.", {})])


def expire(world: World, soul: Soul) -> None:
    """Let leases run out, as where a worker died or stalls; it may answer later all the same."""
    from django.db.models.functions import Now

    from webapp.models import ReplyJob

    past = Now() - timedelta(seconds=1)
    ReplyJob.objects.filter(state="CLAIMED").update(lease_until=past)
    ReplyJob.objects.filter(state="QUEUED", lease_until__isnull=False).update(lease_until=past)


def serve(world: World, soul: Soul) -> None:
    """Claim and answer all that is owed."""
    expire(world, soul)
    claim(world, soul)
    while world.claims:
        answer(world, soul)


PLATFORM: tuple[Action, ...] = (sweep, claim, answer, answer, serve, serve, serve, expire)
BY_STATE: dict[str, tuple[Action, ...]] = {
    "READY": (*[take("start")] * 9, *[ask] * 2, take("stop")),
    "WAITING": (ask, ask, ask, ask, take("give-up"), take("stop")),
    "MATCHED": (take("meet"), take("meet"), take("meet"), ask),
    "CHATTING": (*[send] * 12, *[label] * 5, *[finish] * 8, ask, take("stop")),
    "RATING": (*[rate] * 9, take("stop")),
    "ENDED": (ask, join, take("code")),
    "ADMISSION": (ask,),
    "WRITING": (ask,),
}
ANYTHING: tuple[Action, ...] = (
    *(take(name) for name in ("start", "meet", "bot", "give-up", "code")),
    *(send, finish, rate, join, ask),
)


@contextlib.contextmanager
def killed_after(statements: int) -> Iterator[None]:
    """Die at the statement of that number; 0: live on."""
    from django.db import connection

    if not statements:
        yield
        return
    left = [statements]

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0:
            raise Killed
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def refusals() -> tuple[type[Exception], ...]:
    """Return what a page answers to something that is not offered: nothing else may be raised."""
    from webapp.services.conversation import matching, opening
    from webapp.services.participation import consents
    from webapp.services.rating import labels
    from webapp.services.rules import access, events, states
    from webapp.services.rules.refusals import NotNow, Refused

    return (
        *(consents.Closed, consents.PayChanged, matching.NotWaiting, opening.NotMeeting),
        *(labels.LabelRefused, access.NotFound, events.Conflict, states.Illegal, NotNow, Refused),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    from tests import live
    from tests.trust.outages import _connect

    with tempfile.TemporaryDirectory() as folder:
        _connect(live.environment(Path(folder), LOG_LEVEL="CRITICAL"))
        world = World(wanted.seed)
        try:
            world.run(wanted.steps)
        except Wrong as found:
            print(f"seed {wanted.seed}, campaign {world.number}:\n{found}")
            return 1
    print(json.dumps({"seed": wanted.seed, "campaigns": world.number, **world.counts}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
