"""The deliberate faults themselves: each replaces a service of the process it runs in."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

STALL = 8.0  # seconds that a worker stalls at most; the others look for what it lost every two
DELAY = 1.0  # seconds by which what should be first comes later
FAULTS: dict[str, Callable[[], None]] = {}


def fault(inject: Callable[[], None]) -> Callable[[], None]:
    """Let a function be a fault of its name."""
    FAULTS[inject.__name__] = inject
    return inject


# --- conditions that a right program stands ---------------------------------------------------


@fault
def hurried() -> None:
    """Bots among people reply as quickly as simulated people do, before any of these are known."""
    from webapp.services.replies import pace

    pace._default_speed = lambda conversation: 0.1


@fault
def stalled_worker() -> None:
    """A worker's first attempt at a reply stalls until another worker has answered.

    Nobody renews its lease. Where all workers stall at once, they go on after a while.
    """
    from webapp.models import ReplyJob
    from webapp.services.replies import queue, worker

    real = worker.ask

    def slow(work: Any, respond: Any) -> Any:
        job = work.jobs[0]
        if job.attempt == 1:
            owed = ReplyJob.objects.filter(pk=job.pk, state__in=("QUEUED", "CLAIMED"))
            end = time.monotonic() + STALL
            while owed.exists() and time.monotonic() < end:
                time.sleep(0.1)
        return real(work, respond)

    queue.LEASE = timedelta(seconds=1.5)
    queue.renew = lambda owners: 0
    worker.ask = slow


@fault
def thinking_bot() -> None:
    """Every bot takes a moment, so that its reply finds its reader coming back."""
    from webapp.services.replies import worker

    real = worker.ask

    def slow(work: Any, respond: Any) -> Any:
        time.sleep(0.7)
        return real(work, respond)

    worker.ask = slow


@fault
def no_poll() -> None:
    """Sockets do not look by themselves: all depends on the replay and on hints."""
    from webapp.sockets.lookout import Lookout

    async def look(self: Lookout) -> None:
        """Look at nothing."""

    Lookout.look = look  # type: ignore[method-assign]


@fault
def patient_worker() -> None:
    """A reply worker does not look by itself: all depends on hints."""
    from webapp import workers

    workers.POLL = 600.0


# --- bugs -------------------------------------------------------------------------------------


@fault
def ack_before_commit() -> None:
    from webapp.models import Conversation, Event
    from webapp.services.conversation import messages
    from webapp.services.rules import access

    real = messages.send_all

    def early(
        outgoing: Sequence[messages.OutgoingMessage], *, now: datetime, notes_life: bool = True
    ) -> list[Any]:
        _later(lambda: real(outgoing, now=now, notes_life=notes_life))
        seats = access.seats(each.seat_key for each in outgoing)
        return [_promised(seats[each.seat_key].conversation, each.text) for each in outgoing]

    def _promised(conversation: Conversation, text: str) -> Event:
        seq = conversation.last_seq + 1
        content = {"text": text}
        return Event(conversation=conversation, seq=seq, kind="message", content=content)

    messages.send_all = early


@fault
def no_fence() -> None:
    from webapp.models import ReplyJob
    from webapp.services.replies import delivery

    def store(answers: Sequence[delivery.BotAnswer], event: str) -> list[delivery.BotAnswer]:
        rows = ReplyJob.objects.filter(pk__in=[answer.job.pk for answer in answers])
        rows.update(state=ReplyJob.State.DONE, lease_until=None)
        return list(answers)

    delivery._store = store


@fault
def read_then_write_quota() -> None:
    from webapp.models import Participation, QuotaCell
    from webapp.services.participation import enrolment
    from webapp.services.rules import quota

    real = enrolment.start
    seen = threading.local()

    def start(*, person: Participation, now: datetime, has_page: bool = True) -> Participation:
        cells = QuotaCell.objects.filter(system__campaign=person.campaign)
        seen.cells = {cell.pk: cell for cell in cells}
        time.sleep(0.5)
        return real(person=person, now=now, has_page=has_page)

    def reserve(row: Any, count: int = 1) -> bool:
        cell = getattr(seen, "cells", {}).get(row.pk) if isinstance(row, QuotaCell) else None
        if cell is None:  # no cell, or somebody on the waiting list, whose turn comes by a look
            return quota_reserve(row, count)
        QuotaCell.objects.filter(pk=row.pk).update(reserved=cell.reserved + count)
        return bool(cell.free >= count)

    quota_reserve: Callable[..., bool] = quota.reserve
    enrolment.start = start
    quota.reserve = reserve


@fault
def subscribe_after_replay() -> None:
    from webapp.sockets import frames
    from webapp.sockets.consumers import ChatConsumer

    listen = ChatConsumer._listen

    async def greet(self: ChatConsumer, frame: frames.Hello) -> None:
        self.tab, self.greeted = frame.tab, True

    def listen_late(self: ChatConsumer) -> None:
        asyncio.get_running_loop().call_later(DELAY, listen, self)

    ChatConsumer._greet = greet  # type: ignore[method-assign]
    ChatConsumer._listen = listen_late  # type: ignore[method-assign]


@fault
def code_before_commit() -> None:
    from webapp.models import Assignment, CompletionCode, Participation
    from webapp.services.rating import submission
    from webapp.services.rules import payment

    def submit(
        *, person: Participation, answers: Mapping[str, str], now: datetime
    ) -> CompletionCode | None:
        assignment = submission.current(person)
        if assignment is None:
            return payment.code_of(person)
        given = submission.rate_of(person).parse(answers, submission.shown_to(assignment))
        code = payment.settle(person=person, outcome=Participation.Outcome.COMPLETED, now=now)

        def store() -> None:
            Assignment.objects.filter(pk=assignment.pk).update(state=submission.State.RESERVED)
            submission._store(assignment, given, now)

        _later(store, seconds=2.5)
        return code

    submission.submit = submit


@fault
def no_unique_client_id() -> None:
    from webapp.services.conversation import messages
    from webapp.services.rules import events

    real = messages._Batch.lock.__func__  # type: ignore[attr-defined]

    def lock(kind: Any, outgoing: Any) -> Any:
        batch = real(kind, outgoing)
        batch.firsts.clear()
        return batch

    messages._Batch.lock = classmethod(lock)  # type: ignore[assignment]
    events._first = lambda *_: None


@fault
def rating_off_by_one() -> None:
    from webapp.services.rating import submission

    real = submission._store

    def store(assignment: Any, answers: Any, now: datetime) -> None:
        moved = {key: _moved(value) for key, value in answers.items()}
        real(assignment, moved, now)

    submission._store = store


def _moved(value: Any) -> Any:
    return value + (1 if value < 2 else -1) if isinstance(value, int) else value


@fault
def label_flipped() -> None:
    from webapp.services.rating import labels

    real: Any = labels._parse
    labels._parse = lambda question, value, candidate: 1 - real(question, value, candidate)


def _later(work: Callable[[], object], seconds: float = DELAY) -> None:
    def run() -> None:
        from django.db import connection

        time.sleep(seconds)
        try:
            work()
        finally:
            connection.close()

    threading.Thread(target=run, daemon=True).start()


@fault
def judged_by_wall_time() -> None:
    """The first sweep after an outage counts it as everybody's absence."""
    from webapp.services.rules import uptime

    uptime.known = lambda now, *parts, **_: uptime.Uptime(now, ())
