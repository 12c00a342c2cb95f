"""Platform time: what was an outage, and what it is taken out of (R35, R36)."""

from __future__ import annotations

import inspect
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import after, conversation_of, join, pair, people_campaign, start
from webapp import clock
from webapp.models import Conversation, Event, Heartbeat, Outage, Participation
from webapp.services.conversation import matching, opening
from webapp.services.ops import sweeper
from webapp.services.participation import enrolment
from webapp.services.rules import uptime

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]


def outage(began: float, ended: float, **changes: object) -> Outage:
    values = {"part": "web", "reason": "silence"} | changes
    return Outage.objects.create(began_at=after(began), ended_at=after(ended), **values)


def seconds(span: timedelta) -> float:
    return span.total_seconds()


def test_time_without_pages_does_not_count() -> None:
    outage(100, 200), outage(250, 300), outage(120, 180, part="replies")
    up = uptime.known(after(400), grace=timedelta(0))
    assert seconds(up.since(after(0))) == 250
    assert seconds(up.since(after(150))) == 150
    assert seconds(up.since(after(350))) == 50
    assert up.ago(timedelta(seconds=100)) == after(300)
    assert up.ago(timedelta(seconds=101)) == after(249)
    assert up.ago(timedelta(seconds=151)) == after(99)
    for span in (1, 99, 100, 101, 150, 151, 240):
        moment = up.ago(timedelta(seconds=span))
        assert seconds(up.since(moment)) == span


def test_browsers_get_a_minute_to_come_back_and_outages_may_touch() -> None:
    outage(100, 200), outage(230, 300)
    assert uptime.known(after(500)).away == [(after(100), after(360))]
    assert uptime.known(after(310)).away == [(after(100), after(310))]
    assert seconds(uptime.without_grace(after(500)).since(after(90))) == 240


def test_a_silence_counts_while_it_goes_on() -> None:
    Heartbeat.objects.create(name="platform web", kind="platform", seen_at=after(100))
    assert uptime.known(after(106)).away == []
    assert uptime.known(after(107)).away == [(after(100), after(107))]
    assert uptime.known(after(107), "replies").away == []


def test_a_sign_of_life_stores_the_silence_before_it_once() -> None:
    Heartbeat.objects.create(name="platform web", kind="platform", seen_at=clock.now())
    uptime.beat("web")
    assert not Outage.objects.exists()
    silent_for(timedelta(seconds=98))
    for _ in range(2):
        uptime.beat("web")
    (stored,) = Outage.objects.all()
    assert 97 < seconds(stored.ended_at - stored.began_at) < 130


def silent_for(span: timedelta) -> None:
    uptime._beaten.clear()  # as a process that has just begun
    Heartbeat.objects.update(seen_at=clock.now() - span)


@pytest.mark.parametrize(("length", "told"), [(9, 0), (10.5, 1)])
def test_who_chats_is_told_of_ten_seconds(length: float, told: int) -> None:
    pair(people_campaign())
    uptime.beat("web")
    silent_for(timedelta(seconds=length))
    uptime.beat("web")
    assert Outage.objects.get().announced == bool(told)
    assert Event.objects.filter(content__notice="we_were_away").count() == told


def test_a_clock_that_jumps_is_an_outage_that_nobody_is_told_of() -> None:
    uptime.beat("web")
    Heartbeat.objects.update(seen_at=clock.now() - timedelta(hours=1))  # this process beat just now
    uptime.beat("web")
    stored = Outage.objects.get()
    assert (stored.reason, stored.announced) == ("forward", False)


def test_a_clock_that_goes_back_leaves_nobody_in_the_future() -> None:
    uptime.beat("web")
    ahead = clock.now() + timedelta(hours=1)
    person = make_participation(make_campaign(), seen_at=ahead, waiting_at=ahead)
    long_ago = make_participation(make_campaign(), seen_at=NOW)
    Outage.objects.create(part="web", began_at=NOW, ended_at=ahead, reason="forward")
    Heartbeat.objects.update(seen_at=ahead)
    uptime.beat("web")
    now = clock.now()
    person.refresh_from_db()
    long_ago.refresh_from_db()
    assert person.seen_at <= now
    assert person.waiting_at
    assert person.waiting_at <= now
    assert long_ago.seen_at == NOW, "nothing becomes older, or younger than it was"
    assert not Outage.objects.filter(ended_at__gt=now).exists()
    assert Outage.objects.latest("pk").reason == "back"


def test_a_clock_that_goes_back_lets_a_bot_answer_the_ready_check_in_time() -> None:
    """Its answer was planned an hour ahead, when the check would have run out long since."""
    uptime.beat("web")
    ahead = clock.now() + timedelta(hours=1)
    campaign = make_campaign(systems={"humans": "people", "bot": "parrot"})
    came = (start(campaign, now=ahead) for _ in range(4))
    met, person = next((one.partner_at, one) for one in came if one.partner_at)  # a bot is drawn
    matching.match_with_bot(person=person, now=met)  # unless it came at once
    opening.meet(person=person, now=met)
    Heartbeat.objects.update(seen_at=ahead)
    uptime.beat("web")
    back = clock.now()
    assert conversation_of(person).state == "CHECKING"
    seat = conversation_of(person).seats.get(participation=None)
    assert seat.answers_at is not None
    assert seat.answers_at <= back + timedelta(seconds=15)
    sweeper.tick(back + timedelta(seconds=16))
    assert conversation_of(person).state == "OPEN"


PLANNED = re.compile(r"due_at|deadline_at|lease_until|answers_at|partner_at|^until|wanted_at")
LATE_AT_MOST = {  # what is later by the jump, and harms nobody who is at work
    "PanelCall.due_at",
    "PanelBatch.due_at",
    "PanelPayment.due_at",
    "PayHold.until",
    "StoredResult.wanted_at",
}


def test_every_planned_time_is_put_back_or_known_to_be_late() -> None:
    """A field of this kind that is new has to be in one of the two."""
    planned = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config("webapp").get_models()
        for field in model._meta.fields
        if PLANNED.search(field.name)
    }
    source = inspect.getsource(uptime._put_back)
    put_back = {
        f"{model}.{field}" for model, field in re.findall(r'\((\w+)\.objects.*?"(\w+)"', source)
    }
    assert planned <= put_back | LATE_AT_MOST, planned - put_back - LATE_AT_MOST
    assert not LATE_AT_MOST & put_back
    assert planned >= LATE_AT_MOST


def test_a_pair_is_parted_by_absence_while_we_were_there_only() -> None:
    pair(people_campaign())
    outage(10, 2000)
    assert sweeper.tick(after(2000 + 60 + 80))["vanished"] == 0
    assert sweeper.tick(after(2000 + 60 + 81))["vanished"] == 1


def test_a_ready_check_goes_on_after_an_outage() -> None:
    campaign = people_campaign()
    start(campaign), start(campaign)
    outage(5, 1000)
    assert sweeper.tick(after(1060 + 10))["ready_checks"] == 0
    assert sweeper.tick(after(1060 + 11))["ready_checks"] == 1
    assert Conversation.objects.get().state == "ABANDONED"


def test_half_an_hour_away_counts_only_while_we_were_there() -> None:
    join(make_campaign())
    outage(60, 86_460)
    assert sweeper.tick(after(86_460 + 60 + 1740))["gone"] == 0
    assert sweeper.tick(after(86_460 + 60 + 1741))["gone"] == 1


def test_a_wait_stands_still_and_its_page_is_drawn_anew() -> None:
    person = start(people_campaign())
    before = enrolment.status(person=person, now=after(30))
    outage(30, 5000, announced=True)
    later = enrolment.status(person=person, now=after(5001))
    assert (before["seconds_waiting"], later["seconds_waiting"]) == (30, 31)
    assert later["stamp"] != before["stamp"]
    assert matching.choices(Participation.objects.get(), after(5001)) == ()


def test_no_process_asks_its_own_clock() -> None:
    """R27, R36: only the clock's module may; a file's date and a minute are no deadlines."""
    limits = "webapp/services/participation/limits.py"
    allowed = {"webapp/clock.py", "webapp/views/security.py", limits}
    asking = ("timezone.now", "datetime.now(", "utcnow(", "auto_now", "time.time()")
    found = {
        str(file.relative_to(ROOT)): each
        for file in (ROOT / "webapp").rglob("*.py")
        if not {"migrations", "crowd"} & set(file.parts)
        for each in asking
        if each in file.read_text()
    }
    assert set(found) - allowed == set(), found
