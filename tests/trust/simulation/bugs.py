"""Deliberate faults that the simulation must find: each replaces a service of this process (G23).

Apart because they are of no use to a server: those of `faults` are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

Changes = list[tuple[Any, str, Any]]
BUGS: dict[str, Callable[[], Changes]] = {}


def bug(make: Callable[[], Changes]) -> Callable[[], Changes]:
    """Let a function be a bug of its name; it returns what it replaces."""
    BUGS[make.__name__] = make
    return make


@contextlib.contextmanager
def injected(name: str) -> Iterator[None]:
    """Let a bug be there for a while."""
    changes = BUGS[name]()
    former = [(where, what, getattr(where, what)) for where, what, _ in changes]
    for where, what, new in changes:
        setattr(where, what, new)
    try:
        yield
    finally:
        for where, what, old in former:
            setattr(where, what, old)


@bug
def an_answer_is_dropped() -> Changes:
    from webapp.services.rating import submission

    real = submission._store

    def store(assignment: Any, answers: Any, now: Any) -> None:
        real(assignment, dict([*answers.items()][:-1]), now)

    return [(submission, "_store", store)]


@bug
def a_label_is_changed() -> Changes:
    from webapp.services.rating import labels

    real = labels._parse

    def parse(question: Any, value: str, candidate: Any) -> Any:
        parsed: Any = real(question, value, candidate)
        return 1 - parsed

    return [(labels, "_parse", parse)]


@bug
def the_latest_label_wins_whatever_its_revision() -> Changes:
    from webapp.services.rating import labels

    real = labels._rows

    def rows(assignment: Any, candidate: Any, question: str) -> Any:
        from django.db.models import F

        found = real(assignment, candidate, question)
        found.update(revision=F("revision") % 7)
        return found

    return [(labels, "_rows", rows)]


@bug
def a_message_is_cut() -> Changes:
    from webapp.services.conversation import messages

    real = messages._storable
    return [(messages, "_storable", lambda text: real(text)[:-1])]


@bug
def a_repeat_is_a_new_message() -> Changes:
    from webapp.services.conversation import messages

    real = messages._found

    def found(seats: Any, client_ids: Any) -> Any:
        return real(seats, client_ids)[0], {}

    return [(messages, "_found", found)]


@bug
def a_place_is_not_given_back() -> Changes:
    from webapp.services.rules import quota

    return [(quota, "release", lambda row, count=1: None)]


@bug
def pay_follows_the_campaign() -> Changes:
    from webapp.services.rules import payment

    return [(payment, "promised", lambda person: payment.offered(person.campaign))]


@bug
def waiting_is_not_paid() -> Changes:
    return _unpaid("NOBODY")


def _unpaid(unpaid: str) -> Changes:
    from webapp.services.rules import payment

    real = payment._due_of_round

    def due(person: Any, terms: Any, outcome: str, done: Any, known: Any) -> Any:
        return None if outcome == unpaid else real(person, terms, outcome, done, known)

    return [(payment, "_due_of_round", due)]


@bug
def an_id_is_enough() -> Changes:
    from webapp.services.rules import access

    return [(access, "held", lambda person, secrets: next(filter(None, secrets), ""))]


@bug
def a_withdrawal_leaves_the_words() -> Changes:
    from webapp.services.participation import privacy

    return [(privacy, "_delete_words", lambda seat: None)]


@bug
def a_late_answer_counts() -> Changes:
    from webapp.models import ReplyJob
    from webapp.services.replies import delivery

    def store(answers: Any, event: str) -> Any:
        rows = ReplyJob.objects.filter(pk__in=[each.job.pk for each in answers])
        rows.update(state=ReplyJob.State.DONE, lease_until=None)
        return list(answers)

    return [(delivery, "_store", store)]


@bug
def a_dead_workers_lease_is_renewed() -> Changes:
    from django.db.models.functions import Now

    from webapp.models import ReplyJob
    from webapp.services.replies import queue

    real = queue.claim

    def claim(**wanted: Any) -> Any:
        ReplyJob.objects.filter(state="CLAIMED").update(lease_until=Now() + queue.LEASE)
        return real(**wanted)

    return [(queue, "claim", claim)]
