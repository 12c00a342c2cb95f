"""MEENA on pages: what is locked, too short, too long, hidden from a panel, or not for all."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from analysis.metrics.ssa import ssa
from tests.webapp.services.people import bot_says
from tests.webapp.services.third import chatted, labeling
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.models import Campaign, Context, Participation, Rating
from webapp.services.campaign import message_items
from webapp.services.data import tables
from webapp.services.rating import contexts
from webapp.services.replies import delivery

pytestmark = pytest.mark.django_db
LEAST, MOST = 14, 28
VOTES = 5


# --- fixed replies (ME-P1) ------------------------------------------------------------------------


@pytest.fixture
def judging() -> Visit:
    """Somebody who judges one reply to one context."""
    campaign = campaign_of("meena_static", changes={"rate.batch": 1})
    Context.objects.create(campaign=campaign, key="x", messages=["How are you?"])
    contexts.build(campaign=campaign, now=timezone.now())
    bot_says(campaign.conversations.get(), "Well, thank you.")
    contexts.settle(campaign=campaign, now=timezone.now())
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    return visit


@pytest.mark.parametrize(
    ("sensible", "specific", "stored"),
    [
        ("1", "1", {"sensible": 1, "specific": 1}),
        ("1", "0", {"sensible": 1, "specific": 0}),
        ("1", "", {}),
        ("", "1", {}),
        ("0", "1", {}),
        ("0", "", {"sensible": 0, "specific": 0}),
    ],
)
def test_specific_is_locked_unless_sensible(
    judging: Visit, sensible: str, specific: str, stored: dict[str, int]
) -> None:
    page = judging.get()
    names = [field.name for field in page.context["fields"]]
    answers = dict(zip(names, (sensible, specific), strict=True))
    answer = judging.post("rate", {name: value for name, value in answers.items() if value})
    assert answer.status_code == (200 if stored else 422)
    assert dict(Rating.objects.values_list("question", "value")) == stored


def test_nothing_on_the_page_names_the_system(judging: Visit) -> None:
    judging.get()
    assert not [told for told in judging.told if re.search("alphasystem|parrot", told)]


# --- chats with labels (ME-P2) --------------------------------------------------------------------


@pytest.fixture
def chat() -> Visit:
    visit = Visit(campaign_of("meena_interactive", personas=0))
    visit.join()
    visit.post("start")
    return visit


def conversation(visit: Visit) -> Any:
    return visit.person.seats.earliest("pk").conversation


def send(visit: Visit) -> dict[str, Any]:
    return visit.send(type="message", id=str(uuid4()), text="Hello again.")[0]


def finish(visit: Visit) -> dict[str, Any]:
    return visit.send(type="finish", id=str(uuid4()))[0]


def talk_to(visit: Visit, count: int) -> None:
    """Take turns with the bot, which began, until there are so many messages."""
    for number in range(2, count + 1):
        if number % 2:
            delivery.drop(conversation(visit))
            bot_says(conversation(visit), "I see.")
        else:
            assert send(visit)["type"] == "ack"


def label_all(visit: Visit, leave: int = 0) -> None:
    """Label what the bot said, or leave the last messages out."""
    mine = conversation(visit).events.filter(kind="message", side=1)
    seqs = list(mine.order_by("seq").values_list("seq", flat=True))
    for seq in seqs[: len(seqs) - leave]:
        about = {"type": "label", "seq": seq, "question": "sensible", "value": "0", "revision": 1}
        assert visit.send(id=str(uuid4()), **about)[0]["type"] == "ack"


def test_who_labels_is_told_of_the_bot_which_opens(chat: Visit) -> None:
    assert "experimental chatbot" in chat.told[0] + chat.told[1]
    assert [e.content["text"] for e in conversation(chat).events.all()] == ["Hi!"]


@pytest.mark.parametrize(("count", "ends"), [(LEAST - 1, False), (LEAST, True), (LEAST + 1, True)])
def test_nobody_finishes_before_fourteen_messages(chat: Visit, count: int, ends: bool) -> None:
    talk_to(chat, count)
    label_all(chat)
    assert finish(chat)["type"] == ("ack" if ends else "refused")
    assert chat.person.outcome == ("COMPLETED" if ends else "")


@pytest.mark.parametrize("left", [1, 0])
def test_nobody_finishes_with_a_message_unlabeled(chat: Visit, left: int) -> None:
    talk_to(chat, LEAST)
    label_all(chat, leave=left)
    assert finish(chat)["type"] == ("refused" if left else "ack")
    assert Rating.objects.filter(question="sensible").count() == LEAST // 2 - left


def test_the_twenty_eighth_message_is_the_last(chat: Visit) -> None:
    talk_to(chat, MOST)
    assert not conversation(chat).jobs.filter(state="QUEUED").exists()
    assert send(chat)["type"] == "refused"
    assert conversation(chat).events.filter(kind="message").count() == MOST
    label_all(chat)
    assert finish(chat)["type"] == "ack"
    assert chat.person.outcome == "COMPLETED"


# --- third parties (ME-P3) and a second panel (ME-P7) ---------------------------------------------


def came(campaign: Campaign, name: str) -> Visit:
    visit = Visit(campaign)
    visit.name = name
    visit.join()
    return visit


def label_batch(visit: Visit) -> int:
    """Say of every message that it makes sense and is not specific; return how many there were."""
    page, count = visit.post("start"), 0
    while page.context and page.context.get("fields"):
        names = [field.name for field in page.context["fields"]]
        page = visit.post("rate", dict(zip(names, ("1", "0"), strict=True)))
        count += 1
    return count


def test_a_message_is_open_until_five_have_labeled_it() -> None:
    campaign = labeling(chatted())
    for number in range(1, VOTES + 1):
        assert label_batch(came(campaign, f"rater{number}")) == 4
        found = ssa(tables.ratings(campaign)).set_index("metric").loc["ssa"]
        assert (found["n"], found["open_items"]) == ((4, 0) if number == VOTES else (0, 4))
    assert label_batch(came(campaign, "a sixth")) == 0


@pytest.mark.parametrize(("name", "labels"), [("p0", 0), ("p1", 0), ("stranger", 4)])
def test_who_took_part_labels_nothing(name: str, labels: int) -> None:
    assert label_batch(came(labeling(chatted()), name)) == labels
    assert Rating.objects.filter(question="sensible").count() == labels


def panel(value: str) -> tuple[Campaign, Visit]:
    """Return a second panel's campaign, and who labeled first, all alike."""
    source = campaign_of("meena_interactive", personas=0)
    first = Visit(source)
    first.join()
    first.post("start")
    talk_to(first, LEAST)
    seqs = conversation(first).events.filter(kind="message", side=1).values_list("seq", flat=True)
    for seq in seqs:
        for question in ("sensible", "specific") if value == "1" else ("sensible",):
            about = {"seq": seq, "question": question, "value": value, "revision": 1}
            assert first.send(type="label", id=str(uuid4()), **about)[0]["type"] == "ack"
    assert finish(first)["type"] == "ack"
    Campaign.objects.filter(pk=source.pk).update(state=Campaign.State.CLOSED)
    draft = campaign_of("meena_second_panel", state="DRAFT", opened_at=None, personas=0)
    draft.systems.get().cell.delete()
    draft.systems.all().delete()
    message_items.take(campaign=draft, source=str(source.pk), by=source.owner, now=timezone.now())
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.OPEN)
    draft.refresh_from_db()
    return draft, first


def test_pages_of_a_second_panel_are_the_same_whatever_the_first_labels_were() -> None:
    pages = []
    for value in ("0", "1"):
        visit = came(panel(value)[0], "panelist")
        page = visit.post("start")
        while page.context.get("fields"):
            names = [field.name for field in page.context["fields"]]
            main = page.content.decode().partition("<main")[2].partition("</main>")[0]
            main = main.replace(visit.campaign.slug, "slug")
            pages.append((value, re.sub(r'nonce="[^"]+"|[0-9a-zA-Z_-]{20,}|\d+', "", main)))
            page = visit.post("rate", dict(zip(names, ("1", "0"), strict=True)))
    first, second = ([page for value, page in pages if value == each] for each in "01")
    assert len(first) == len(second) == LEAST // 2
    assert sorted(first) == sorted(second)


def test_who_gave_the_first_labels_gives_no_second_ones() -> None:
    draft, first = panel("1")
    before = Rating.objects.count()
    assert label_batch(came(draft, first.name)) == 0
    assert Rating.objects.count() == before
    assert label_batch(came(draft, "panelist")) == LEAST // 2
    assert Participation.objects.filter(campaign=draft, outcome="COMPLETED").count() == 1
