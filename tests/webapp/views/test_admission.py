"""Screening and quiz before the work: who fails is thanked, ends for good, and works for nothing.

R3, R21.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from evaluation import AnsweredExample, ours
from evaluation.registry import get_protocol
from tests.factories import make_campaign, make_own_protocol
from tests.webapp.admitted import QUIZ, SCREENING, campaign_with
from tests.webapp.services.written import opened
from tests.webapp.views.visiting import Visit
from webapp.models import AdmissionTry, Assignment, Campaign, Conversation, Participation
from webapp.services.chat_service import offering
from webapp.services.data import exports
from webapp.services.participation import privacy, stopping

pytestmark = pytest.mark.django_db
WATCHED = {"screening.watched": "1"}
RIGHT = {"quiz.partner_is": "bot", "quiz.length": "0"}


def name_of(page: Any) -> str:
    return str(page.context["screen"].name)


def send(visit: Visit, answers: dict[str, str]) -> Any:
    page = visit.get().context["screen"].admission
    return visit.post("answer", answers | {"try": page.try_name})


def joined(*steps: Any, **changes: Any) -> Visit:
    visit = Visit(campaign_with(*steps, **changes))
    visit.join()
    return visit


def test_the_first_page_announces_what_may_end_the_study_and_what_that_pays() -> None:
    visit = Visit(campaign_with(SCREENING, QUIZ, screening_pay="0.20"))
    page = visit.get("").content.decode()
    assert "some questions about you" in page
    assert "a short quiz about the instructions, which you can try up to 2 times" in page
    assert page.count("you are paid 0.20 USD") == 2
    unpaid = Visit(campaign_with(SCREENING)).get("").content.decode()
    assert "it ends there for you, and no pay is due" in unpaid
    assert "Before you begin" not in Visit(campaign_with()).get("").content.decode()


def test_who_passes_reads_the_instructions_then_the_quiz_and_starts_at_once() -> None:
    visit = joined(SCREENING, QUIZ)
    first = visit.get()
    assert (name_of(first), first.context["screen"].step) == ("admission", 2)
    assert "Have you watched the series?" in first.content.decode()
    assert name_of(visit.post("start")) == "admission", "nobody gets past it"
    ready = send(visit, WATCHED)
    assert (name_of(ready), ready.context["screen"].step) == ("ready", 3)
    quiz = visit.post("start")
    assert (name_of(quiz), quiz.context["screen"].step) == ("admission", 3)
    assert quiz.context["study"].instructions[0] in quiz.content.decode(), "they can be reread"
    assert not Conversation.objects.exists()
    assert name_of(send(visit, RIGHT)) == "chat"
    assert visit.person.system is not None


@pytest.mark.parametrize("pay", ["0.00", "0.20"])
def test_who_is_screened_out_is_thanked_and_never_given_work(pay: str) -> None:
    address = "https://app.prolific.com/submissions/complete?cc=SCREENED"
    visit = joined(SCREENING, screening_pay=pay, screened_url=address)
    end = send(visit, {"screening.watched": "0"}).context["screen"].end
    assert (visit.person.outcome, end.return_url) == ("SCREENED_OUT", address)
    assert end.text.startswith("Thank you for your answers.")
    assert (end.code != "", end.amount) == ((True, "0.20 USD") if pay == "0.20" else (False, ""))
    assert address in visit.get().content.decode()
    for again in (visit.join(), visit.post("start"), send_again(visit)):
        assert name_of(again) == "ended", "nobody tries until they pass"
    assert not Conversation.objects.exists()
    assert not Assignment.objects.exists()


def send_again(visit: Visit) -> Any:
    return visit.post("answer", WATCHED | {"try": "screening-2"})


def test_a_form_that_is_sent_twice_is_one_try() -> None:
    visit = joined(QUIZ)
    visit.post("start")
    wrong = RIGHT | {"quiz.length": "1", "try": "quiz-1"}
    for _ in range(2):
        visit.post("answer", wrong)
    assert visit.person.state == "ADMISSION"
    assert AdmissionTry.objects.count() == 1


def test_a_wrong_answer_is_explained_and_the_last_try_ends_it() -> None:
    visit = joined(QUIZ, screening_pay="0.10")
    visit.post("start")
    page = send(visit, RIGHT | {"quiz.length": "1"})
    text = page.content.decode()
    assert "You need ten messages." in text
    assert "This is your last try" in text
    fields = {field.name: (field.value, bool(field.error)) for field in page.context["fields"]}
    assert fields == {"quiz.partner_is": ("bot", False), "quiz.length": ("1", True)}
    page = send(visit, RIGHT | {"quiz.partner_is": "pet"})
    assert (visit.person.outcome, page.context["screen"].end.amount) == ("CHECK_FAILED", "0.10 USD")
    assert name_of(visit.join()) == "ended"


@pytest.mark.parametrize(("wrong", "screen"), [(2, "chat"), (3, "ended")])
def test_the_tries_are_a_setting(wrong: int, screen: str) -> None:
    visit = joined(QUIZ, changes={"quiz.tries": 3})
    visit.post("start")
    for _ in range(wrong):
        page = send(visit, RIGHT | {"quiz.length": "1"})
    if screen == "chat":
        page = send(visit, RIGHT)
    assert name_of(page) == screen


def test_a_missing_answer_is_named_and_is_no_try() -> None:
    visit = joined(QUIZ)
    visit.post("start")
    page = send(visit, {"quiz.partner_is": "pet"})
    assert page.status_code == 422
    assert [field.name for field in page.context["problems"]] == ["quiz.length"]
    assert {field.value for field in page.context["fields"]} == {"pet", ""}
    assert not AdmissionTry.objects.exists()


def test_who_stops_or_leaves_before_answering_comes_back_to_the_questions() -> None:
    visit = joined(SCREENING)
    visit.post("stop")
    assert visit.person.outcome == "DECLINED"
    assert name_of(visit.join()) == "admission"
    later = timezone.now() + timedelta(hours=1)
    stopping.give_away(person=visit.person, now=later)
    assert name_of(visit.join()) == "admission"
    assert name_of(send(visit, WATCHED)) == "ready"
    visit.post("stop")
    assert name_of(visit.join()) == "ready", "what was passed stays passed"


def test_answers_are_exported_and_go_with_a_withdrawal(tmp_path: Path) -> None:
    visit = joined(SCREENING, QUIZ)
    send(visit, WATCHED)
    visit.post("start")
    send(visit, RIGHT | {"quiz.length": "1"})
    send(visit, RIGHT)
    now = timezone.now()
    rows = admission_rows(exports.write(campaign=visit.campaign, folder=tmp_path, now=now))
    assert [(row["step"], row["try"], row["question"], row["right"]) for row in rows] == [
        ("screening", "1", "watched", "1"),
        ("quiz", "1", "partner_is", "1"),
        ("quiz", "1", "length", "0"),
        ("quiz", "2", "partner_is", "1"),
        ("quiz", "2", "length", "1"),
    ]
    assert [row["passed"] for row in rows] == ["1", "0", "0", "1", "1"]
    assert {row["participant"] for row in rows} == {visit.person.pseudonym}
    privacy.withdraw(token=privacy.withdraw_token(visit.person), now=now)
    assert not any(each.answers for each in AdmissionTry.objects.all())
    assert admission_rows(exports.write(campaign=visit.campaign, folder=tmp_path, now=now)) == []


def admission_rows(path: Path) -> list[dict[str, str]]:
    with zipfile.ZipFile(path) as archive:
        text = archive.read("admission.csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_study_without_questions_before_the_work_has_none() -> None:
    visit = joined()
    assert visit.person.state == Participation.State.READY
    assert name_of(visit.post("start")) == "chat"


def test_definitions_and_examples_stand_before_the_chat_and_in_it() -> None:
    base = get_protocol("meena_interactive")
    live = base.live
    assert live is not None
    example = AnsweredExample(ours("Hi! And you?"), ours("Yes"), ours("It fits a greeting."))
    sensible = dataclasses.replace(live.each[0], examples=(example,))
    asked = dataclasses.replace(live, each=(sensible, *live.each[1:]))
    steps = tuple(asked if step is live else step for step in base.steps)
    own = make_own_protocol(protocol=dataclasses.replace(base, name="my_study", steps=steps))
    visit = Visit(make_campaign("my_study", own_protocol=own))
    ready = visit.join().content.decode()
    chat = visit.post("start").content.decode()
    for page in (ready, chat):
        assert sensible.text in page
        assert sensible.help.split(".")[0] in page
        assert "It fits a greeting." in page
    assert "What you will judge" not in joined(SCREENING).get().content.decode()


def test_who_writes_can_be_asked_before_it() -> None:
    draft = campaign_with(SCREENING, QUIZ, protocol="personachat_personas", state="DRAFT")
    draft.systems.get().cell.delete()
    draft.systems.all().delete()
    visit = Visit(opened(Campaign.objects.get(pk=draft.pk)))
    visit.join()
    assert name_of(send(visit, WATCHED)) == "ready"
    assert name_of(visit.post("start")) == "admission"
    assert name_of(send(visit, RIGHT)) == "write"


def test_what_has_pages_before_the_work_is_not_for_a_chat_service() -> None:
    assert not offering.unfit(campaign_with(protocol="convai2_wild"))
    assert offering.unfit(campaign_with(QUIZ, protocol="convai2_wild"))
