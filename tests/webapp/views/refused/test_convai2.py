"""CA-P0 to CA-P4 on pages: the board, lengths, answers that are refused, and what is hidden."""

from __future__ import annotations

import json
import random
import re
from datetime import timedelta
from io import StringIO
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from tests.analysis.examples import ROOT
from tests.factories import NOW, make_campaign, make_member, make_project, make_staff
from tests.webapp.services import rated
from tests.webapp.services.people import start
from tests.webapp.services.studies import make_study
from tests.webapp.services.written import SENTENCES, accepted, draft_of, opened
from tests.webapp.views.staff.addresses import filled, names, of
from tests.webapp.views.visiting import Visit, campaign_of, chat_through, good_answers
from webapp import clock
from webapp.models import Campaign, Competition, Entry, Rating, Study
from webapp.services.campaign import message_items
from webapp.services.conversation import updates
from webapp.views.audience import Audience

pytestmark = pytest.mark.django_db
TABLE = json.loads((ROOT / "analysis/reference/convai2_automatic.json").read_text("utf-8"))["rows"]
ENTERED = ("ppl", "hits@1", "F1")
NUMBER = r"(\d+|-)"


# --- CA-P0: the board -----------------------------------------------------------------------------


def sent(client: Client, study: Study, raw: dict[str, str]) -> str:
    """Send a form of the competition's page, which takes it; return the page."""
    answer = client.post(reverse("competition", args=[study.pk]), raw, follow=True)
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def named(row: dict[str, Any]) -> str:
    """Return a name by whose letters nobody could be put in the printed order."""
    if row["rank"] is None:
        return f"baseline{TABLE.index(row)}"
    return f"t{(row['rank'] * 37) % 101:03d}"


def entry(row: dict[str, Any]) -> dict[str, str]:
    metrics = ", ".join(name for name in ENTERED if row[name] is not None)
    given = {"action": "submit", "bot": "parrot", "options": "", "team": named(row)}
    given |= {"sources": "small talk | public | https://example.org", "ensemble": "no"}
    return given | {"metrics": metrics}


def test_table_3_comes_out_in_the_printed_order_and_seven_go_on_to_people(ann: Client) -> None:
    study, today = make_study(), clock.now().date()
    teams = [row for row in TABLE if row["rank"] is not None]
    base = TABLE[-1]
    days = {"opens": str(today - timedelta(days=9)), "closes": str(today)}
    rules = {"action": "announce", "baseline": named(base), "advance": "7", "candidates": "20"}
    sent(ann, study, rules | days | {"choice": ", ".join(ENTERED)})
    for row in random.Random(3).sample([*teams, base], len(teams) + 1):
        sent(ann, study, entry(row))
        scores = {name: row[name] for name in ENTERED if row[name] is not None}
        Entry.objects.filter(team=named(row)).update(scores=scores, ran_at=clock.now())
    board = _board(ann.get(reverse("competition", args=[study.pk])).content.decode())
    assert [team for _, team in board] == [named(row) for row in [*teams, base]]
    assert [rank for rank, _ in board] == [*map(str, range(1, 24)), "-"]
    _close_the_round(study)
    made = _of_people(study)
    assert made == [*(named(row) for row in teams[:7]), named(base)]


def _board(page: str) -> list[tuple[str, str]]:
    """Return rank and team of each line of the board on the page."""
    text = re.sub(r"\s+", " ", page)
    cells = [re.findall(r"<t[dh][^>]*>\s*(.*?)\s*</t[dh]>", line) for line in text.split("<tr>")]
    known = {named(row) for row in TABLE}
    lines = [(each[0], re.sub(r"<[^>]+>", "", each[1]).strip()) for each in cells if len(each) > 4]
    return [(rank, team) for rank, team in lines if team in known]


def _close_the_round(study: Study) -> None:
    """Let the last day be yesterday, as if a day had gone by."""
    row = Competition.objects.get(study=study)
    row.rules["closes"] = str(clock.now().date() - timedelta(days=1))
    row.save()


def _of_people(study: Study) -> list[str]:
    words = ("--owner", make_staff().get_username(), "--contact", "a@b.org", "--pay", "2.00")
    call_command("competition", str(study.pk), "people", *words, stdout=StringIO())
    return list(study.phases.get().systems.order_by("pk").values_list("name", flat=True))


# --- CA-P1 and CA-P1b: lengths and answers --------------------------------------------------------


def status(visit: Visit) -> dict[str, Any]:
    frames = visit.get("frames?version=2&after=0").json()["frames"]
    return next(frame for frame in frames if frame["type"] == "status")


def chatting(protocol: str, **changes: Any) -> Visit:
    visit = Visit(campaign_of(protocol, **changes))
    visit.join()
    visit.post("start")
    return visit


def test_4_to_6_exchanges_are_drawn_and_the_sixth_is_the_last() -> None:
    campaign = campaign_of("convai2_crowd", target=100, personas=40)
    drawn = set()
    for _ in range(23):
        frames = updates.conversation_updates(person=start(campaign), after=0, now=NOW)
        (now,) = (frame for frame in frames if frame["type"] == "status")
        drawn.add(now["minimum"])
        assert now["maximum"] == 12
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    assert status(visit)["maximum"] == 12
    assert {*drawn, status(visit)["minimum"]} == {8, 10, 12}
    chat_through(visit, 6)
    assert (status(visit)["messages"], status(visit)["must_finish"]) == (12, True)
    (more,) = visit.send(type="message", id=str(uuid4()), text="One more, please.")
    assert more["type"] != "ack"


def asked(protocol: str, exchanges: int) -> Visit:
    """Return somebody who has chatted and is asked the questions."""
    visit = chatting(protocol, changes={"chat.minimum": [2 * exchanges]})
    for number in range(exchanges):
        chat_through(visit, 1)
        assert status(visit)["may_finish"] is (number + 1 == exchanges)
    visit.send(type="finish", id=str(uuid4()))
    return visit


def filled_in(visit: Visit) -> dict[str, str]:
    """Return answers to every question of the page, with a reason where one is asked for."""
    fields = visit.get().context["fields"]
    reasons = {each.name: "It was." for each in fields if each.name.endswith("_reason")}
    scales = {
        each.name: each.answer.options[0].value for each in fields if each.name not in reasons
    }
    return scales | reasons


@pytest.mark.parametrize(
    ("value", "good"), [("0", False), ("1", True), ("4", True), ("5", False), ("", False)]
)
def test_enjoyment_is_of_1_to_4(value: str, good: bool) -> None:
    visit = asked("convai2_crowd", 4)
    wanted = ["p.enjoyment", "p.persona"]
    assert [field.name for field in visit.get().context["fields"]] == wanted
    page = visit.post("rate", good_answers(visit.get()) | {"p.enjoyment": value})
    assert (page.status_code, Rating.objects.count()) == ((200, 2) if good else (422, 0))


@pytest.mark.parametrize("question", ["fluency", "engagingness", "consistency"])
@pytest.mark.parametrize(("reason", "good"), [("", False), (" \n ", False), ("x", True)])
def test_an_empty_reason_is_refused_for_each_scale(question: str, reason: str, good: bool) -> None:
    visit = asked("convai2_crowd_reasons", 6)
    answers = filled_in(visit)
    wanted = [name for one in ("fluency", "engagingness", "consistency") for name in
              (f"p.{one}", f"p.{one}_reason")]  # fmt: skip
    assert list(visit_names(visit)) == [*wanted, "p.persona"]
    page = visit.post("rate", answers | {f"p.{question}_reason": reason})
    assert (page.status_code, Rating.objects.count()) == ((200, 7) if good else (422, 0))
    if not good:
        assert visit.get().context["screen"].name == "rate"


def visit_names(visit: Visit) -> list[str]:
    return [field.name for field in visit.get().context["fields"]]


# --- CA-P3: experts -------------------------------------------------------------------------------


def blind() -> Campaign:
    """Return an open campaign of experts, of conversations with two systems."""
    systems = {"alphasystem": "parrot", "betasystem": "parrot"}
    source = make_campaign("convai2_crowd", systems=systems, name="Secret name")
    for system in source.systems.all():
        for _ in range(2):
            person, talk = rated.chatted(source, system)
            rated.judged(person, talk, {"enjoyment": 3, "persona": "p1"})
    Campaign.objects.filter(pk=source.pk).update(state=Campaign.State.CLOSED)
    draft = draft_of("convai2_blind")
    message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=clock.now())
    return opened(draft)


def test_an_expert_reads_whole_conversations_and_nothing_names_a_system() -> None:
    expert = Visit(blind())
    expert.join()
    expert.post("start")
    read = []
    for _ in range(4):
        page = expert.get()
        text = page.content.decode()
        assert "Speaker A" in text
        assert "Speaker B" in text
        read.append(re.findall(r"line \d of \d+", text))
        for value in ("0", "5", "2.5", ""):
            score, comment = visit_names(expert)
            refused = expert.post("rate", {score: value, comment: "It asks too much."})
            assert refused.status_code == 422
        done = expert.post("rate", {score: "4", comment: "It asks too much."})
    assert done.context["screen"].name == "ended"
    assert all(len(lines) >= 4 for lines in read)
    assert all(one != other for one, other in pairwise(read))
    assert Rating.objects.filter(assignment__participation=expert.person).count() == 8
    secret = re.compile(r"alphasystem|betasystem|parrot|Secret name", re.IGNORECASE)
    assert [found.group() for text in expert.told if (found := secret.search(text))] == []


# --- CA-P4: the hidden split ----------------------------------------------------------------------


@pytest.fixture
def hidden() -> list[Campaign]:
    """The hidden test's campaigns, in a project of the organizers: one with what was written."""
    apart = make_project("Organizers")
    sizes = {"write.count": 1, "write.test": 1}
    personas = opened(draft_of("convai2_hidden_personas", **sizes))
    accepted(personas, "author", *SENTENCES)
    chats = make_campaign("convai2_hidden_chats", systems={"humans": "people"})
    for row in (personas, chats, make_study(personas, chats, name="Hidden test")):
        row.project = apart
        row.save()
    return [personas, chats]


def routes() -> list[str]:
    """Return the routes of a campaign's pages that are made of nothing else of it."""
    known = {"pk", "name", "study", "action"}
    found = (each for each in of(Audience.STAFF) if each.startswith("campaigns/<int:pk>/"))
    return [each for each in found if names(each) <= known]


def statuses(client: Client, campaign: Campaign, *methods: str) -> dict[str, set[int]]:
    """Return what the server answers at each route of a campaign."""
    values = {"pk": campaign.pk, "name": "summary", "study": campaign.study_id, "action": "pause"}
    return {
        route: {getattr(client, each)(filled(route, **values)).status_code for each in methods}
        for route in routes()
    }


def test_an_entrant_reaches_no_page_of_the_hidden_campaigns_and_organizers_do(
    hidden: list[Campaign], client: Client
) -> None:
    personas, chats = hidden
    written = reverse("contributions", args=[personas.pk]) + "?state=ACCEPTED"
    theirs = make_study(name="Competition").project
    client.force_login(make_member("eve", "runner", "exporter", "administrator", project=theirs))
    for campaign in (personas, chats):
        refused = statuses(client, campaign, "get", "post")
        assert len(refused) > 30
        assert {route for route, codes in refused.items() if codes - {404, 405}} == set()
    for address in ("/campaigns/", "/studies/", written):
        page = client.get(address).content.decode()
        assert [word for word in (SENTENCES[0], personas.name, "Hidden test") if word in page] == []
    client.force_login(make_member("ada", "runner", "exporter", project=personas.project))
    assert sum(200 in codes for codes in statuses(client, personas, "get").values()) > 10
    assert SENTENCES[0] in client.get(written).content.decode()
