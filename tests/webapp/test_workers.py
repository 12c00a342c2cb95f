"""The threads that answer: woken by hints, and without any hint by looking for themselves."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from tests.bots.chat_completions import running
from tests.bots.examples import weights
from tests.factories import NOW, make_campaign, make_participation
from tests.journeys.unruly import FUNCTIONS
from webapp import realtime, workers
from webapp.children import Children
from webapp.models import Event, Heartbeat, ReplyCall, ReplyJob
from webapp.services.conversation import chat, opening
from webapp.services.replies import heartbeats, hosts

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
    host.stop(grace=0)
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


class Searching(workers.Host):
    """A host that notes when it searches for what was lost."""

    def __init__(self) -> None:
        super().__init__()
        self.searches: list[float] = []

    def _search(self) -> None:
        self.searches.append(time.monotonic())
        super()._search()


def test_what_was_lost_is_searched_for_twice_a_second_at_most() -> None:
    """However many replies come: each has what is due looked for."""
    host = Searching()

    def searched() -> bool:
        host._look.set()
        return len(host.searches) >= 4

    host.start()
    try:
        wait_for(searched)
    finally:
        host.stop(grace=0)
    assert min(later - one for one, later in pairwise(host.searches)) >= workers.SEARCH


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


def ask_bot(
    bot: str, options: dict[str, object], text: str = "Hello there.", people: int = 1
) -> None:
    """Let somebody wait for a reply of this bot."""
    campaign = make_campaign(systems={"alpha": bot}, changes={"chat.pace": 0.0}, target=people)
    system = campaign.systems.get()
    system.options = options
    system.save()
    for _ in range(people):
        person = make_participation(campaign)
        opening.open_with_bot(person=person, system=system, now=NOW)
        chat.send_message(person=person, client_id=uuid4(), text=text, now=NOW)


@pytest.fixture
def apart() -> Iterator[workers.Host]:
    """A host whose bots with models run in processes of their own."""
    host = workers.Host(children=Children(patience=20))
    yield host
    host.stop(grace=0)


def test_a_bot_is_loaded_before_a_worker_says_that_it_answers_for_it(apart: workers.Host) -> None:
    campaign = make_campaign(systems={"alpha": "tfidf"})
    campaign.systems.update(options={"weights": weights("tfidf")})
    apart.start()
    wait_for(lambda: heartbeats.hosting(heartbeats.alive(timezone.now()), "tfidf") == 1)
    assert apart._children is not None
    (size,) = apart._children.sizes()["tfidf"]
    wait_for(
        lambda: (
            heartbeats.state_of(Heartbeat.objects.get(kind="replies")).memory["tfidf"][0]
            == size.machine
        )
    )


def test_while_a_system_is_loaded_its_jobs_are_left_to_others(apart: workers.Host) -> None:
    ask()
    lane = apart._lane("parrot", {})
    lane.is_loading = True
    assert apart.admit("parrot") == 0
    assert ReplyJob.objects.get().state == ReplyJob.State.QUEUED
    lane.is_loading = False
    apart.wake("parrot")
    wait_for(is_answered)


def test_a_device_error_puts_the_job_back_uncounted_and_the_bot_is_loaded_anew(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R14."""
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Use your memory.")
    apart.wake("callable")
    wait_for(lambda: ReplyJob.objects.filter(details={"losses": 1}).exists())
    job = ReplyJob.objects.get()
    assert (job.state, job.attempt) == (ReplyJob.State.QUEUED, 0)
    assert "CUDA out of memory" in job.error
    (lane,) = apart._lanes.values()
    wait_for(lambda: lane.limit.losses >= 1)  # counted after the job was put back
    wait_for(lambda: not lane.is_loading)
    assert not apart._stopped.is_set()


def test_a_function_that_stalls_delays_no_other_function_of_the_same_bot(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Please stall.")
    apart.wake("callable")
    stalled = ReplyJob.objects.filter(state=ReplyJob.State.CLAIMED, attempt=1)
    wait_for(stalled.exists)
    ask_bot("callable", {"function": "tests.journeys.unruly.polite"})
    apart.wake("callable")
    wait_for(is_answered)
    assert stalled.exists()


def test_each_request_of_a_chat_server_is_delivered_when_it_arrives_and_has_a_place(
    host: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three people at two places: the third one waits unclaimed, until there is a place."""
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        for model in ("stalls", "good"):
            ask_bot("chat_server", {"url": fake.url, "model": model, "at_once": 2}, people=3)
        host.wake("chat_server")
        good = ReplyJob.objects.filter(conversation__system__options__model="good")
        wait_for(lambda: good.filter(state=ReplyJob.State.DONE).count() == 3)
        stalled = ReplyJob.objects.filter(conversation__system__options__model="stalls")
        assert sorted(stalled.values_list("state", "attempt")) == [
            *[("CLAIMED", 1)] * 2,
            ("QUEUED", 0),
        ]
    calls = ReplyCall.objects.filter(job__in=good)
    assert set(good.values_list("details__batch", flat=True)) == {1}
    assert all(0 < call.seconds < 20 for call in calls)


def test_what_is_in_hand_when_a_worker_stops_ends_or_is_put_back_at_once(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Please stall.")
    apart.wake("callable")
    wait_for(ReplyJob.objects.filter(state=ReplyJob.State.CLAIMED).exists)
    apart.stop(grace=0)
    job = ReplyJob.objects.get()
    assert (job.state, job.attempt, job.error) == ("QUEUED", 0, "the worker was stopped")


def test_a_call_that_a_stop_itself_ended_is_put_back_and_not_counted(
    apart: workers.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the end of its processes and that of its threads, a host sees its call lost."""
    monkeypatch.setenv("BOT_CALLABLES", FUNCTIONS)
    ask_bot("callable", {"function": "tests.journeys.unruly.told"}, "Please stall.")
    apart.wake("callable")
    wait_for(ReplyJob.objects.filter(state=ReplyJob.State.CLAIMED).exists)
    (thread,) = [each for each in apart._threads if each.name == "bot callable"]
    apart._stopped.set()
    assert apart._children is not None
    apart._children.close()
    wait_for(lambda: not thread.is_alive())  # it woke for the call that was lost
    apart.stop(grace=0)
    job = ReplyJob.objects.get()
    assert (job.state, job.attempt, job.error) == ("QUEUED", 0, "the worker was stopped")


def test_a_worker_takes_back_what_a_dead_process_of_its_host_held(host: workers.Host) -> None:
    """R12: at once, and not when the lease ends; a living owner's job is left alone."""
    dead = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = hosts._began(dead.pid)
    name = f"{hosts._host()}:{dead.pid}.{began}:abcd1234"
    held = {"state": "CLAIMED", "owner": name, "lease_until": Now() + timedelta(hours=1)}
    ask()
    ReplyJob.objects.update(attempt=1, **held)
    assert hosts.take_back() == 0
    dead.communicate()
    host.start()
    wait_for(is_answered)
    job = ReplyJob.objects.get()
    assert (job.attempt, job.details["losses"]) == (1, 1)


def test_a_name_that_another_host_or_a_later_process_has_is_not_taken_for_dead() -> None:
    own = hosts.owner_name()
    assert len(own) <= 50
    number = own.rpartition(":")[2].partition(".")[0]
    assert hosts._runs(own)
    assert not hosts._runs(f"{hosts._host()}:{number}.1")
    assert hosts._runs("elsewhere:worker")
