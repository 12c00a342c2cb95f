"""Rows of the statements that are put together once: what Django itself would read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import NOW
from tests.webapp.services import people
from webapp.models import ReplyJob, Seat
from webapp.services.rules import statements

pytestmark = pytest.mark.django_db


def test_seats_and_all_that_they_lead_to_are_as_django_reads_them() -> None:
    campaign = people.people_campaign()
    first, second = people.pair(campaign)
    people.send_message(first, "Do you like boats?")
    talk = people.conversation_of(first)
    found = statements.lock_seats({first.pk, second.pk}, {talk.pk})
    read = list(Seat.objects.filter(conversation=talk).order_by("side"))
    assert found == read
    assert found[0].conversation is found[1].conversation
    for one, other in zip(found, read, strict=True):
        for path in ("", "conversation", "conversation.campaign", "conversation.system", "persona"):
            assert fields(reached(one, path)) == fields(reached(other, path))


def test_what_a_reply_needs_is_as_django_reads_it() -> None:
    campaign = people.people_campaign()
    talk = people.conversation_of(people.pair(campaign)[0])
    job = ReplyJob.objects.create(conversation=talk, in_reply_to=1, bot="x", queued_at=NOW)
    ReplyJob.objects.update(state="CLAIMED", owner="me", lease_until=NOW, details={"losses": 1})
    (held,) = statements.held_jobs("me")
    locked = statements.lock_conversations([talk.pk, talk.pk + 1])
    assert (held, list(locked)) == (job, [talk.pk])
    read = ReplyJob.objects.get()
    for path in ("", "conversation", "conversation.campaign", "conversation.system"):
        assert fields(reached(held, path)) == fields(reached(read, path))
        if path:
            rest = path.removeprefix("conversation").lstrip(".")
            assert fields(reached(locked[talk.pk], rest)) == fields(reached(read, path))
    assert statements.held_jobs("another") == []


def reached(row: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        row = getattr(row, name)
    return row


def fields(row: Any) -> dict[str, Any]:
    """Return all values, those too that are looked up only now."""
    return {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields}


def test_nobody_is_asked_about_without_a_statement(
    django_assert_num_queries: Callable[..., Any],
) -> None:
    with django_assert_num_queries(0):
        assert statements.lock_seats(set(), {1}) == []
        assert statements.lock_conversations([]) == {}
        assert statements.senders([], [uuid4()]) == []
