"""Overload: nobody new begins while the server cannot keep up, and people at work go on (R23)."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
from django.conf import LazySettings

from tests.factories import NOW, make_campaign
from tests.live import Server, Study, serving
from tests.webapp.services.people import join
from tests.webapp.views.visiting import Visit
from webapp.models import Heartbeat
from webapp.services.monitoring import monitor
from webapp.services.participation import consents, overload

PATIENCE = 90.0
RUNS, HELD = 0.1, 1.5  # seconds: of a look's second the end is always within a pause


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    overload._late.clear()
    yield
    overload._late.clear()


def late(*seconds: float) -> None:
    for each in seconds:
        overload.note(each)


@pytest.mark.parametrize(
    ("looks", "overloaded"),
    [
        ((9.0,) * (overload.LOOKS - 1), False),
        ((2.0,) * overload.LOOKS, True),
        ((1.99,) * overload.LOOKS, False),
        ((9.0,) * (overload.LOOKS - 1) + (1.99,), False),
        ((1.99, *(9.0,) * overload.LOOKS), True),
    ],
)
def test_only_slow_looks_in_a_row_are_overload(
    settings: LazySettings, looks: tuple[float, ...], overloaded: bool
) -> None:
    settings.OVERLOAD_SECONDS = 2.0
    late(*looks)
    assert overload.is_overloaded() is overloaded
    settings.OVERLOAD_SECONDS = 0
    assert not overload.is_overloaded()


@pytest.mark.django_db
def test_who_is_new_is_refused_and_who_is_here_goes_on() -> None:
    campaign = make_campaign()
    here = join(campaign, "here")
    late(*(99.0,) * overload.LOOKS)
    with pytest.raises(consents.Closed, match=consents.BUSY):
        join(campaign, "new")
    assert join(campaign, "here").pk == here.pk
    late(0.0)
    assert join(campaign, "new").state == "READY"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"), [("en", "nobody new can begin"), ("de", "niemand neu beginnen")]
)
def test_the_page_says_when_to_come_again_in_the_campaigns_language(
    language: str, words: str
) -> None:
    visit = Visit(make_campaign(languages=[language]))
    late(*(99.0,) * overload.LOOKS)
    answer = visit.join()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert words in answer.content.decode()
    late(0.0)
    assert visit.join().status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(("after", "shown"), [(30, True), (31, False)])
def test_staff_see_an_alarm_of_any_process(after: int, shown: bool) -> None:
    campaign = make_campaign()
    overload.tell(NOW)
    overload.tell(NOW)
    assert Heartbeat.objects.filter(kind="overload").count() == 1
    found = monitor.alarms(campaign, NOW + timedelta(seconds=after))
    assert ("overload" in {alarm.name for alarm in found}) is shown


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Study]]:
    folder = tmp_path_factory.mktemp("server")
    wanted = {"people": 2, "free": 1_000}
    with serving(folder, wanted, OVERLOAD_SECONDS=str(HELD - RUNS - overload.EVERY)) as found:
        yield found


@contextmanager
def starved(server: Server) -> Iterator[None]:
    """Leave a server a twentieth of the time: each of its looks, of a second, ends in a pause."""
    is_over, process = threading.Event(), server.process
    assert process is not None

    def starve() -> None:
        while not is_over.wait(RUNS):
            process.send_signal(signal.SIGSTOP)
            is_over.wait(HELD)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=starve)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def until(status: int, ask: Callable[[], httpx.Response]) -> httpx.Response:
    """Ask until a status comes."""
    end = time.monotonic() + PATIENCE
    while (answer := ask()).status_code != status:
        assert time.monotonic() < end, answer.status_code
        time.sleep(0.2)
    return answer


@pytest.mark.timeout(300)
def test_a_server_that_cannot_keep_up_refuses_the_new_answers_those_at_work_and_recovers(
    place: tuple[Server, Study],
) -> None:
    server, study = place
    base = f"http://{server.host}"
    token = httpx.get(f"{base}/c/{study.slug}/", timeout=PATIENCE).cookies["csrf"]

    def come() -> httpx.Response:
        """Come as somebody else each time."""
        form = {"platform": "volunteer", "external_id": str(uuid4()), "csrfmiddlewaretoken": token}
        with httpx.Client(cookies={"csrf": token}, headers={"Origin": base}) as newcomer:
            address = f"{base}/c/{study.slug}/consent"
            return newcomer.post(address, data=form, timeout=PATIENCE)

    with starved(server):
        assert until(503, come).headers["Retry-After"] == "60"
        cookie = {"Cookie": f"parley-{study.slug}={study.secrets[0]}"}
        page = httpx.get(f"{base}/c/{study.slug}/now", headers=cookie, timeout=PATIENCE)
        assert page.status_code == 200
    assert until(302, come).headers["Location"].endswith("/now")
