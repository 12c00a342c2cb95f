"""Exports of wild and of live campaigns, through pages and frames, as their reports read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from django.db.models import F
from django.utils import timezone

from analysis import MessageTable, RatingTable, Report
from analysis.registry import get_report
from analysis.tables.reading import read
from analysis.tables.schema import Tables
from bots import Reply, Turn
from tests import serving
from tests.analysis.conversations.test_spam import LEFT, RIGHT
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.inference import Answers
from webapp.models import Campaign, Event
from webapp.services.data import exports

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def answers(text: str) -> Any:
    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        return Answers([Reply(text) for _ in turns], {})

    return respond


def chatting(campaign: Campaign) -> Visit:
    visit = Visit(campaign)
    visit.join()
    assert visit.post("start").context["screen"].name == "chat"
    return visit


def talk(visit: Visit, lines: Sequence[tuple[str, str]]) -> None:
    """Send what the person of a dialogue says; the bot answers what stands next."""
    for who, text in lines:
        if who == "human":
            sent = visit.send(type="message", id=str(uuid4()), text=text)
            assert [frame["type"] for frame in sent] == ["ack"], sent
        else:
            serving.serve(bot="parrot", owner="w", respond=answers(text))


def score(visit: Visit, value: str) -> None:
    visit.send(type="finish", id=str(uuid4()))
    page = visit.get()
    given = {field.name: field.answer.options[0].value for field in page.context["fields"]}
    visit.post("rate", given | {"p.score": value})
    assert visit.get().context["screen"].end.heading == "You are done"


def move_back(time: timedelta, **which: Any) -> None:
    """Let something have been written earlier."""
    events = Event.objects.filter(pk__in=Event.objects.filter(**which).values("pk"))
    events.update(made_at=F("made_at") - time)


def export(campaign: Campaign, folder: Path) -> Tables:
    return read(exports.write_to(campaign=campaign, path=folder / f"{campaign.pk}.zip"))


def sections(report: Report) -> dict[str, pd.DataFrame]:
    return {each.title: each.frame for each in report.sections}


def scored_twice(campaign: Campaign, folder: Path) -> Tables:
    """Return the export of the paper's two chats: the left one got 5 of 5, the right one 4."""
    for lines, value in ((LEFT, "5"), (RIGHT, "4")):
        visit = chatting(campaign)
        talk(visit, lines[1:])  # here the person writes first
        score(visit, value)
    return export(campaign, folder)


def test_the_papers_two_chats_come_out_right_beside_a_paid_campaign(tmp_path: Path) -> None:
    wild = scored_twice(campaign_of("convai2_wild", systems={"alpha": "parrot"}), tmp_path)
    paid = scored_twice(campaign_of("convai2_wild", systems={"alpha": "parrot"}), tmp_path)
    assert wild.ratings is not None
    assert wild.messages is not None
    report: Report = get_report("convai2_wild")(wild.ratings, wild.messages)
    tracks = sections(report)["Conversations flagged, by track"]
    assert tracks[["conversations", "flagged", "share"]].to_numpy().tolist() == [[2, 1, 0.5]]
    (shift,) = sections(report)[report.findings[0]].to_dict("records")
    assert (shift["question"], shift["flagged"], shift["shift"]) == ("score", 0.5, -0.5)
    both = [pd.concat([getattr(one, kind) for one in (wild, paid)]) for kind in KINDS]
    joined: Report = get_report("convai2_wild")(RatingTable(both[0]), MessageTable(both[1]))
    assert len(sections(joined)["Conversations flagged, by track"]) == 2


KINDS = ("ratings", "messages")


def test_labels_without_a_score_are_no_score(tmp_path: Path) -> None:
    campaign = campaign_of("convai2_wild", systems={"alpha": "parrot"})
    visit = chatting(campaign)
    talk(visit, RIGHT[1:])
    seq = Event.objects.filter(side=1, kind="message").first()
    assert seq is not None
    label = {"question": "good", "value": "1", "revision": 1, "seq": seq.seq}
    (ack,) = visit.send(type="label", id=str(uuid4()), **label)
    assert ack["type"] == "ack"
    found = export(campaign, tmp_path)
    report: Report = get_report("spam_flags")(found.messages, found.ratings)
    reasons = sections(report)["Reasons (a conversation may have several)"]
    assert reasons["reason"].tolist() == ["no_score"]


def test_every_figure_of_live_use_comes_from_an_export(tmp_path: Path) -> None:
    """Ann comes on two days and twice on the second; Bob once, long ago, and is rude."""
    campaign = campaign_of("live_engagement", systems={"ruuh": "parrot"}, personas=0)
    ann, bob = chatting(campaign), chatting(campaign)
    talk(ann, [("human", "I am so happy today!"), ("bot", "Why?"), ("human", "ok"), ("bot", "Hm")])
    talk(
        bob,
        [("human", "You are fucking stupid"), ("bot", "Oh."), ("human", "*are"), ("bot", "I see")],
    )
    move_back(DAY)
    move_back(200 * DAY, conversation__seats__participation=bob.person.pk)
    assert ann.join().context["screen"].name == "chat", "the same link leads back"
    talk(ann, [("human", "yes"), ("bot", "Welcome back")])
    move_back(timedelta(hours=1), made_at__gt=timezone.now() - timedelta(hours=2))
    talk(ann, [("human", "Me again")])
    move_back(timedelta(seconds=10), content__text="Me again")
    talk(ann, [("human", "Hello?"), ("bot", "Hi")])
    found = export(campaign, tmp_path)
    assert found.messages is not None
    assert set(found.messages["user"].fillna("")) == {
        "",
        ann.person.pseudonym,
        bob.person.pseudonym,
    }
    report: Report = get_report("ruuh_engagement")(found.messages)
    table = next(frame for frame in sections(report).values() if "estimate" in frame.columns)
    figures = table.set_index("metric")["estimate"].to_dict()
    sessions, turns = 4, 7  # Ann's three and Bob's; a turn is a message of a person
    wanted = {
        "exchanges_per_session": 6 / sessions,
        "return_rate": 0.5,
        "active_days": 1.5,
        "users_offensive": 0.5,
        "turns_offensive": 1 / turns,
        "turns_happiness": 1 / turns,
        "turns_assent": 2 / turns,
        "weekly_retention": 0.0,
    }
    assert {name: figures[name] for name in wanted} == pytest.approx(wanted)
    assert 10 <= figures["gap_seconds_without_follow_ups"] < 20
    assert not [metric for metric, estimate in figures.items() if estimate != estimate]
