"""The log of a conversation: in order, each entry once, whoever writes at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection

from tests.factories import NOW, make_campaign, make_participation
from webapp.models import Conversation, Event, Participation, ReplyJob
from webapp.services.conversation import chat, opening
from webapp.services.replies import queue
from webapp.services.rules import events

MESSAGE = Event.Kind.MESSAGE


def begun() -> tuple[Participation, Conversation]:
    campaign = make_campaign(changes={"chat.pace": 0.0})
    person = make_participation(campaign)
    system = campaign.systems.get()
    return person, opening.open_with_bot(person=person, system=system, now=NOW)


def append(conversation: Conversation, text: str = "Hello.", **more: Any) -> Event:
    return events.append(
        conversation=conversation, kind=MESSAGE, content={"text": text}, side=0, **more
    )


@pytest.mark.django_db
def test_entries_are_numbered_from_one_without_gaps() -> None:
    """R5."""
    _, conversation = begun()
    assert [append(conversation).seq for _ in range(3)] == [1, 2, 3]
    assert [event.seq for event in events.after(conversation, 1)] == [2, 3]
    conversation.refresh_from_db()
    assert conversation.last_seq == 3


@pytest.mark.django_db
def test_a_repeat_returns_the_first_and_another_content_is_a_conflict() -> None:
    """R4."""
    _, conversation = begun()
    client_id = uuid4()
    first = append(conversation, client_id=client_id)
    assert append(conversation, client_id=client_id).pk == first.pk
    with pytest.raises(events.Conflict):
        append(conversation, "Bye.", client_id=client_id)
    assert append(conversation).seq == 2


@pytest.mark.django_db
@pytest.mark.parametrize("twice", [{"seq": 1}, {"client_id": uuid4()}, {"in_reply_to": 0}])
def test_the_database_itself_refuses_a_second_one(twice: dict[str, Any]) -> None:
    """R4, R5, R12: a bug can fail but not corrupt."""
    _, conversation = begun()
    entry = {"conversation": conversation, "kind": MESSAGE, "side": 0, "content": {}}
    Event.objects.create(**{"seq": 1, **entry, **twice})
    with pytest.raises(IntegrityError):
        Event.objects.create(**{"seq": 2, **entry, **twice})


def at_once(count: int, work: Callable[[int], object]) -> list[object]:
    """Do some work in several threads that all begin together."""
    ready = threading.Barrier(count)

    def one(number: int) -> object:
        try:
            ready.wait(timeout=20)
            return work(number)
        except Exception as problem:  # handed back to be looked at
            return problem
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.django_db(transaction=True)
def test_a_hundred_parallel_copies_are_one_message_with_one_reply_owed() -> None:
    """G6: every copy succeeds with the same entry."""
    person, _ = begun()
    client_id = uuid4()
    copies = at_once(
        100,
        lambda _: chat.send_message(person=person, client_id=client_id, text="Hello.", now=NOW).pk,
    )
    assert copies == [Event.objects.get().pk] * 100
    assert ReplyJob.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_entries_made_at_once_are_in_one_order_without_gaps() -> None:
    """R5."""
    _, conversation = begun()
    seqs = at_once(20, lambda number: append(conversation, f"Message {number}.").seq)
    assert sorted(str(seq) for seq in seqs) == sorted(str(seq) for seq in range(1, 21))


@pytest.mark.django_db(transaction=True)
def test_jobs_claimed_at_once_go_to_one_claim_each() -> None:
    """R12."""
    campaign = make_campaign(changes={"chat.pace": 0.0}, target=30)
    for _ in range(30):
        person = make_participation(campaign)
        opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
        chat.send_message(person=person, client_id=uuid4(), text="Hello.", now=NOW)

    def claim(number: int) -> list[int]:
        return [job.pk for job in queue.claim(bot="parrot", owner=f"worker {number}")]

    claimed = [pk for found in at_once(8, claim) if isinstance(found, list) for pk in found]
    assert sorted(claimed) == sorted(ReplyJob.objects.values_list("pk", flat=True))
