"""NL-P12 on pages: people come back by their browser on other days; each figure from their log.

Nobody waits for those days: what a visit left behind is moved back to its day.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from analysis import get_report, read
from tests.webapp.services.people import bot_says
from tests.webapp.views.judging import export_of
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.models import Event
from webapp.services.replies import delivery

pytestmark = pytest.mark.django_db
BEGAN = datetime(2026, 1, 5, 12, tzinfo=UTC)
# Visits by day after the first: seconds within the visit, and what is said.
Talk = tuple[tuple[int, str], ...]
LOYAL: dict[int, Talk] = {
    0: ((0, "I am angry about this"),),
    # 182 days after the first contact end four weeks; each of them has a visit.
    155: ((0, "Snow fell on the pier"),),
    162: ((0, "yes"),),
    169: ((0, "It made me sad"),),
    176: ((0, "My boat is blue"),),
}
LAPSED: dict[int, Talk] = {0: ((0, "You are stupid"),), 176: ((0, "My boat is red"),)}
LATE: dict[int, Talk] = {
    190: ((0, "I am so happy"), (2, "very happy indeed"), (16, "The harbor opens at nine"))
}
WANTED = {
    "exchanges_per_session": 10 / 8,
    "return_rate": 2 / 3,
    "weekly_retention": 1 / 2,
    "active_days": 8 / 3,
    "turns_anger": 1 / 10,
    "turns_sadness": 1 / 10,
    "turns_happiness": 2 / 10,
    "turns_non_neutral": 4 / 10,
    "users_offensive": 1 / 3,
    "turns_offensive": 1 / 10,
    "turns_assent": 1 / 10,
    "gap_seconds": 8,
    "gap_seconds_without_follow_ups": 14,
    "turns_follow_up": 1 / 2,
}


def visits_on(visit: Visit, days: dict[int, Talk]) -> None:
    """Let somebody come on days by the same browser, say something and be answered."""
    visit.join()
    for day, talk in days.items():
        visit.post("start")
        assert visit.get().context["screen"].name == "chat", "also on another day"
        conversation = visit.person.seats.get(active=True).conversation
        for second, text in talk:
            (answer,) = visit.send(type="message", id=str(uuid4()), text=text)
            assert answer["type"] == "ack"
            delivery.drop(conversation)
            bot_says(conversation, "I see.")
            first, reply = conversation.events.filter(kind="message").order_by("-seq")[:2][::-1]
            at = BEGAN + timedelta(days=day, seconds=second)
            Event.objects.filter(pk=first.pk).update(made_at=at)
            Event.objects.filter(pk=reply.pk).update(made_at=at + timedelta(seconds=1))


def test_every_figure_of_a_log_is_as_counted_by_hand(tmp_path: Path) -> None:
    campaign = campaign_of("live_engagement", personas=0)
    people = [(Visit(campaign), days) for days in (LOYAL, LAPSED, LATE)]
    for visit, days in people:
        visits_on(visit, days)
    messages = read(export_of(campaign, tmp_path)).messages
    assert messages is not None
    figures, ratios = (part.frame for part in get_report("ruuh_engagement")(messages).sections[:2])
    assert dict(zip(figures["metric"], figures["estimate"], strict=True)) == pytest.approx(WANTED)
    named = ratios[["turns_anger", "turns_sadness", "turns_happiness"]]
    assert named.to_numpy().tolist() == [[1, 1, 2]]


def test_nobody_is_asked_anything_or_may_finish() -> None:
    visit = Visit(campaign_of("live_engagement", personas=0))
    visit.join()
    visit.post("start")
    conversation = visit.person.seats.get(active=True).conversation
    for number in range(4):
        visit.send(type="message", id=str(uuid4()), text=f"Boat number {number}.")
        delivery.drop(conversation)
        bot_says(conversation, "I see.")
    frames = visit.get("frames?version=2&after=0").json()["frames"]
    status = next(frame for frame in frames if frame["type"] == "status")
    assert (status["may_finish"], status["must_finish"]) == (False, False)
    visit.send(type="finish", id=str(uuid4()))
    page = visit.get()
    assert page.context["screen"].name == "chat"
    assert not page.context.get("fields")
