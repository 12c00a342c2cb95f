"""Work that was acknowledged is a sign of life: who is at work does not end as gone (R21, R35)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from tests.webapp.services.people import pair, people_campaign, send_message, start
from tests.webapp.services.written import fields, of_replies
from tests.webapp.views.visiting import Visit, campaign_of, good_answers, rating_visit
from webapp import clock
from webapp.models import Participation
from webapp.services.conversation import messages
from webapp.services.ops import sweeper

pytestmark = pytest.mark.django_db
AWAY = timedelta(minutes=31)


def silent(person: Participation, span: timedelta = AWAY) -> None:
    """Let the last sign of life that was noted be long ago; the state began a minute ago."""
    now = clock.now()
    rows = Participation.objects.filter(pk=person.pk)
    rows.update(seen_at=now - span, state_at=now - timedelta(minutes=1))


def draft(visit: Visit) -> None:
    answers = dict.fromkeys(list(good_answers(visit.get()))[:1], "1")
    kept = visit.post("draft", json.dumps({"answers": answers}), content_type="application/json")
    assert kept.json() == {"saved": True}


def rate(visit: Visit) -> None:
    answers = good_answers(visit.get())
    assert visit.post("rate", dict(list(answers.items())[:1])).status_code == 422, "one is missing"


@pytest.mark.parametrize("act", [draft, rate])
def test_who_fills_in_a_form_does_not_end_as_gone(act: Callable[[Visit], None]) -> None:
    visit = rating_visit()
    silent(visit.person)
    act(visit)
    assert sweeper.tick(clock.now())["gone"] == 0
    assert (visit.person.state, visit.person.outcome) == ("RATING", "")


def test_who_writes_one_text_after_another_does_not_end_as_gone() -> None:
    visit = Visit(of_replies())
    visit.join()
    visit.post("start")
    silent(visit.person)
    (name,) = fields(visit.person)
    visit.post("write", {name: "A walk, I should think."})
    assert sweeper.tick(clock.now())["gone"] == 0
    assert visit.person.state == "WRITING"


def test_who_does_nothing_is_gone_and_a_look_at_the_page_alone_does_not_help() -> None:
    visit = rating_visit()
    silent(visit.person)
    visit.get()
    assert sweeper.tick(clock.now())["gone"] == 1
    assert visit.person.outcome == "LEFT"


def meanwhile(monkeypatch: pytest.MonkeyPatch, found: list[dict[str, int]]) -> None:
    """Let the sweeper come between a message's commit and the note of its sender's life."""
    note = messages.note_signs_of_life

    def late(people: Sequence[int], now: datetime) -> None:
        found.append(sweeper.tick(clock.now()))
        note(people, now)

    monkeypatch.setattr(messages, "note_signs_of_life", late)


def test_a_message_after_the_deadline_counts_before_anything_else_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[dict[str, int]] = []
    person = start(campaign_of(), now=clock.now())
    meanwhile(monkeypatch, found)
    silent(person)
    send_message(person, "I am back.", clock.now())
    assert [each["gone"] for each in found] == [0]
    assert Participation.objects.get(pk=person.pk).state == "CHATTING"


def test_neither_of_a_pair_is_told_that_who_just_wrote_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[dict[str, int]] = []
    first, second = pair(people_campaign(), now=clock.now())
    meanwhile(monkeypatch, found)
    silent(first, timedelta(seconds=120))
    send_message(first, "I am back.", clock.now())
    assert [each["vanished"] for each in found] == [0]
    states = Participation.objects.filter(pk__in=(first.pk, second.pk)).values_list("state")
    assert set(states) == {("CHATTING",)}


def test_a_message_of_a_clock_that_went_back_keeps_nobody() -> None:
    person = start(campaign_of(), now=clock.now())
    made = send_message(person, "I was here.", clock.now())
    type(made).objects.filter(pk=made.pk).update(made_at=clock.now() + timedelta(hours=1))
    silent(person)
    assert sweeper.tick(clock.now())["gone"] == 1
