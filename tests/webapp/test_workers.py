"""The threads that answer: woken by hints, and without any hint by looking for themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from tests.bots.examples import weights
from tests.factories import NOW, make_campaign, make_participation
from tests.journeys.unruly import FUNCTIONS
from webapp import inference, realtime, workers
from webapp.children import Children
from webapp.models import Event, Heartbeat, ReplyJob
from webapp.services.conversation import chat, opening
from webapp.services.replies import heartbeats

pytestmark = pytest.mark.django_db(transaction=True)


def ask(pace: float = 0.0) -> None:
    """Let somebody wait for a reply of the parrot."""
    campaign = make_campaign(changes={"chat.pace": pace})
    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    chat.send_message(person=person, client_id=uuid4(), text="Hello there.", now=NOW)


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> float:
    """Return how long it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds
        time.sleep(0.02)
    return time.monotonic() - started


def is_answered() -> bool:
    return Event.objects.filter(side=1).exists()


@pytest.fixture
def host() -> Iterator[workers.Host]:
    host = workers.Host()
    yield host
    host.stop()
    realtime.listen(None)


def test_a_hint_wakes_a_worker(host: workers.Host) -> None:
    realtime.listen(host.wake)
    ask()
    wait_for(is_answered)


def test_jobs_whose_hint_was_lost_are_found(host: workers.Host) -> None:
    """R11, G16."""
    ask()
    host.start()
    wait_for(is_answered)
    ReplyJob.objects.all().delete()
    Event.objects.all().delete()
    ask()
    assert wait_for(is_answered) < 10  # 2 s on a machine that has time


def test_jobs_of_a_dead_worker_are_taken_over_when_its_lease_ends(host: workers.Host) -> None:
    """R12."""
    ask()
    ReplyJob.objects.update(
        state=ReplyJob.State.CLAIMED,
        owner="dead",
        attempt=1,
        lease_until=Now() + timedelta(seconds=1),
    )
    host.start()
    wait_for(is_answered)
    assert ReplyJob.objects.get().attempt == 2


def test_an_answer_is_shown_when_it_is_due(host: workers.Host) -> None:
    realtime.listen(host.wake)
    host.start()
    ask(pace=0.3)
    wait_for(lambda: ReplyJob.objects.filter(state=ReplyJob.State.ANSWERED).exists())
    assert not is_answered()
    wait_for(is_answered)


def test_a_worker_answers_only_for_its_bots() -> None:
    """A worker loads the models it is asked to host and no others."""
    host = workers.Host(["generic"])
    host.wake("parrot")
    assert not host._threads
    assert host.hosts("generic")


def test_a_worker_is_seen_to_live(host: workers.Host) -> None:
    host.start()
    wait_for(lambda: Heartbeat.objects.filter(name=host.name, kind="replies").exists())


def ask_bot(bot: str, options: dict[str, object], text: str = "Hello there.") -> None:
    """Let somebody wait for a reply of this bot."""
    campaign = make_campaign(systems={"alpha": bot}, changes={"chat.pace": 0.0})
    system = campaign.systems.get()
    system.options = options
    system.save()
    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=system, now=NOW)
    chat.send_message(person=person, client_id=uuid4(), text=text, now=NOW)


@pytest.fixture
def apart() -> Iterator[workers.Host]:
    """A host whose bots with models run in processes of their own."""
    host = workers.Host(children=Children(patience=20))
    yield host
    host.stop()


def test_a_bot_is_loaded_before_a_worker_says_that_it_answers_for_it(apart: workers.Host) -> None:
    campaign = make_campaign(systems={"alpha": "tfidf"})
    campaign.systems.update(options={"weights": weights("tfidf")})
    apart.start()
    wait_for(lambda: heartbeats.hosting(heartbeats.alive(timezone.now()), "tfidf") == 1)
    assert apart._children is not None
    (size,) = apart._children.sizes()["tfidf"]
    wait_for(
        lambda: heartbeats.state_of(Heartbeat.objects.get()).memory["tfidf"][0] == size.machine
    )


def test_while_a_bot_is_loaded_its_jobs_are_left_to_others(apart: workers.Host) -> None:
    ask()
    apart._warming.add("parrot")
    assert apart.serve("parrot") == 0
    assert ReplyJob.objects.get().state == ReplyJob.State.QUEUED
    apart._warming.clear()
    assert apart.serve("parrot") == 1


def test_a_device_error_puts_the_job_back_uncounted_and_the_bot_is_loaded_anew(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R14."""
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Use your memory.")
    with pytest.raises(inference.WorkerLost) as lost:
        apart.serve("callable")
    job = ReplyJob.objects.get()
    assert (job.state, job.attempt, job.details) == (ReplyJob.State.QUEUED, 0, {"losses": 1})
    assert "CUDA out of memory" in job.error
    apart.reload_after_loss("callable", lost.value)
    wait_for(lambda: "callable" not in apart._warming)
    assert apart._limits["callable"].losses == 1
    assert not apart._stopped.is_set()


def test_a_bot_that_stalls_keeps_no_other_bot_of_a_celery_worker_waiting(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task only wakes the bot's thread, so Celery's own is free for the next hint."""
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    monkeypatch.setattr(workers, "_host", [apart])
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Please stall.")
    stalled = ReplyJob.objects.filter(bot="callable", state=ReplyJob.State.CLAIMED, attempt=1)
    workers.answer("callable")
    wait_for(stalled.exists)
    ask()
    workers.answer("parrot")
    wait_for(is_answered)
    assert stalled.exists()
