"""One screen for each state of a participation, each with a way on (R3, R19, S13)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.webapp.services.people import bot_says
from tests.webapp.views.visiting import Visit, campaign_of, chat_through, good_answers, rating_visit
from webapp import notices
from webapp.models import Campaign, Context, Participation
from webapp.services.conversation import chat
from webapp.services.participation import privacy, stopping
from webapp.services.rating import contexts

pytestmark = pytest.mark.django_db
Outcome, State = Participation.Outcome, Participation.State
LONG_AGO = timedelta(hours=2)


def test_from_consent_to_the_code_with_one_screen_a_state() -> None:
    visit = Visit(campaign_of(changes={"chat.minimum": [4]}, return_url="https://e.org/?cc={code}"))
    assert visit.join().context["screen"].name == "ready"
    page = visit.post("start")
    assert page.context["screen"].name == "chat"
    assert "I own boat number" in page.content.decode()
    chat_through(visit, 2)
    visit.send(type="finish", id=str(uuid4()))
    page = visit.get()
    assert page.context["screen"].name == "rate"
    assert [field.kind for field in page.context["fields"]] == ["likert"] * 3 + ["persona_choice"]
    assert "Hello number 1" in page.content.decode()
    done = visit.post("rate", good_answers(page))
    end = done.context["screen"].end
    assert end.code in done.content.decode()
    assert end.return_url == f"https://e.org/?cc={end.code}"
    assert "computer program" in end.debrief
    for again in (visit.post("rate", good_answers(page)), visit.join()):
        shown = again.context["screen"].end
        assert replace(shown, withdraw=end.withdraw) == end  # a token says when it was signed
        assert privacy.holder(shown.withdraw) == visit.person


def test_what_is_missing_is_named_and_what_was_answered_is_kept() -> None:
    visit = rating_visit()
    answers = good_answers(visit.get())
    left_out = answers.popitem()[0]
    page = visit.post("rate", answers)
    assert page.status_code == 422
    assert [field.name for field in page.context["problems"]] == [left_out]
    shown = {field.name: field.value for field in page.context["fields"]}
    assert shown == answers | {left_out: ""}
    assert page.content.decode().count(" checked>") == len(answers) == 3
    assert visit.person.state == State.RATING


def test_unfinished_answers_are_there_again() -> None:
    visit = rating_visit()
    draft = json.dumps({"answers": {"p.fluency": "3"}})
    assert visit.post("draft", draft, content_type="application/json").json() == {"saved": True}
    page = visit.get()
    assert page.context["fields"][0].value == "3"
    assert page.content.decode().count('value="3" data-key="3" checked>') == 1


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '{"answers": []}', '{"answers": {"a": 1}}', '{"answers": {"a": "\\u0000"}}'],
)
def test_a_draft_that_cannot_be_read_is_refused(body: str) -> None:
    answer = rating_visit().post("draft", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_waiting_tells_the_position_and_ends_with_a_choice() -> None:
    visit = Visit(campaign_of("personachat_human", systems={"alphasystem": "people"}))
    visit.join()
    assert visit.post("start").context["screen"].name == "waiting"
    status = visit.get("status?version=2").json()
    assert (status["state"], status["position"], status["choices"]) == ("WAITING", 1, [])
    Participation.objects.update(waiting_at=timezone.now() - LONG_AGO)
    assert visit.get("status?version=2").json()["choices"] == ["give_up"]
    end = visit.post("give-up").context["screen"].end
    assert (end.heading, end.amount) == ("No partner was found", "0.50 USD")


def test_a_waiting_page_of_version_1_gets_the_words_that_it_knows() -> None:
    visit = Visit(campaign_of("personachat_human", systems={"alphasystem": "people"}))
    visit.join()
    assert 'status?version=2"' in visit.post("start").content.decode()
    former, current = (visit.get(f"status{query}").json() for query in ("", "?version=2"))
    renamed = {"position": "place", "seconds_waiting": "waited"}
    assert {renamed.get(name, name) for name in current} == former.keys()
    assert (former["place"], former["state"]) == (1, "WAITING")
    assert renamed.keys() < current.keys()


def test_the_ready_check_is_a_screen_of_its_own() -> None:
    campaign = campaign_of("personachat_human", systems={"alphasystem": "people"})
    one, two = Visit(campaign), Visit(campaign)
    for visit in (one, two):
        visit.join()
        visit.post("start")
    screen = one.get().context["screen"]
    assert (screen.name, screen.matched, screen.answered) == ("waiting", True, False)
    assert one.post("meet").context["screen"].answered
    assert two.post("meet").context["screen"].name == "chat"
    assert one.get().context["screen"].name == "chat"


def test_static_replies_come_one_after_another() -> None:
    campaign = campaign_of("meena_static", changes={"rate.batch": 2})
    for number in range(2):
        Context.objects.create(campaign=campaign, key=f"x{number}", messages=["How are you?"])
    contexts.build(campaign=campaign, now=timezone.now())
    for conversation in campaign.conversations.all():
        bot_says(conversation, "Well, thank you.")
    contexts.settle(campaign=campaign, now=timezone.now())
    visit = Visit(campaign)
    visit.join()
    page = visit.post("start")
    judging = page.context["screen"].form
    assert (judging.number, judging.total, judging.of_context) == (1, 2, True)
    assert [line.judged for line in judging.lines].count(True) == 1
    first = {page.context["fields"][0].name: "0"}
    page = visit.post("rate", first)
    assert page.context["screen"].form.number == 2
    assert visit.post("rate", first).context["screen"].form.number == 2
    page = visit.post("rate", {page.context["fields"][0].name: "0"})
    assert page.context["screen"].end.code


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_page_that_says_what_happened(outcome: str) -> None:
    visit = Visit(campaign_of())
    visit.join()
    Participation.objects.update(state=State.ENDED, outcome=outcome, ended_at=timezone.now())
    page = visit.get()
    end = page.context["screen"].end
    assert end.heading in page.content.decode()
    assert end.text
    assert "%(" not in page.content.decode()
    assert "return the task" in page.content.decode() or end.may_return or end.code == ""


@pytest.mark.parametrize("worked", [False, True])
def test_stopping_pays_who_has_worked(worked: bool) -> None:
    visit = Visit(campaign_of())
    visit.join()
    said = visit.post("start").context["screen"].stop
    assert "2.00 USD" in said
    if worked:
        chat_through(visit, 2)
    end = visit.post("stop").context["screen"].end
    assert bool(end.code) is worked
    assert end.may_return is not worked


def test_who_stopped_before_any_work_may_come_back_by_the_bare_link() -> None:
    visit = Visit(campaign_of())
    visit.join()
    visit.post("stop")
    page = visit.get("")
    assert page.status_code == 200
    assert visit.post("consent", page.context["who"]).context["screen"].name == "ready"
    assert Participation.objects.count() == 1


def test_who_was_left_reads_why_above_the_questions() -> None:
    campaign = campaign_of("personachat_human", systems={"alphasystem": "people"})
    one, two = Visit(campaign), Visit(campaign)
    for visit in (one, two):
        visit.join()
        visit.post("start")
    for visit in (one, two):
        visit.post("meet")
    chat.send_message(person=one.person, client_id=uuid4(), text="Hello there", now=timezone.now())
    stopping.stop(person=two.person, now=timezone.now())
    assert notices.text("partner_left", pay="2.00 USD") in one.get().context["screen"].notice


def test_starting_while_paused_says_so_on_the_page() -> None:
    visit = Visit(campaign_of())
    visit.join()
    Campaign.objects.update(state=Campaign.State.PAUSED)
    page = visit.post("start")
    assert page.context["screen"].name == "ready"
    assert notices.text("paused") in page.content.decode()
