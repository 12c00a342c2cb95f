"""Stopping early on the pages: stated at consent, named by Stop, and the code says the same."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.webapp.views.visiting import Visit, campaign_of, chat_through, text_of
from webapp.models import Campaign, CompletionCode, Participation

pytestmark = pytest.mark.django_db
SETTINGS = {"chat.minimum": [12]}
RULES = [  # rule, what the page of consent says, what stopping after six messages pays
    ("SHARE", "the conversation needs 12 messages", "1.00 USD"),
    ("FULL", "you are paid in full, 2.00 USD", "2.00 USD"),
    ("MINIMUM", "before the conversation has 12 messages", ""),
]


@pytest.mark.parametrize(("rule", "words", "paid"), RULES)
def test_entry_stop_and_code_name_the_same(rule: str, words: str, paid: str) -> None:
    visit = Visit(campaign_of(changes=SETTINGS, quit_rule=rule))
    assert words in visit.get("").content.decode().replace("&#x27;", "'")
    visit.join()
    at_first = visit.post("start").context["screen"].stop
    assert words in at_first
    assert "no pay is due" in at_first
    chat_through(visit, 3)
    now = visit.get("stop-means").json()["text"]
    assert now == visit.get().context["screen"].stop
    assert (f"are paid {paid}." in now) if paid else ("not enough for pay" in now)
    page = visit.post("stop")
    assert page.context["screen"].end.amount == paid
    assert ("There is no code" in page.content.decode()) != bool(paid)
    assert ("Come back to the study" in page.content.decode()) != bool(paid)
    assert visit.get("stop-means").json() == {"text": ""}


def test_one_word_from_each_of_many_pays_nobody() -> None:
    campaign = campaign_of()
    for _ in range(12):
        visit = Visit(campaign)
        form = visit.get("").context["who"]
        visit.post("consent", form)
        visit.post("start")
        visit.send(type="message", id="0b9f1f5e-6a3c-4c0e-9d0a-2f6a1c7f9f10", text="x")
        assert visit.post("stop").context["screen"].end.code == ""
    assert Participation.objects.filter(outcome="QUIT").count() == 12
    assert not CompletionCode.objects.exists()


def test_volunteers_read_of_no_rule() -> None:
    page = Visit(campaign_of(pay="0.00", waiting_pay="0.00")).get("").content.decode()
    assert "Stopping early" not in page


def test_staff_choose_and_see_the_rule(ann: Client, draft: Campaign) -> None:
    address = reverse("settings", args=[draft.pk])
    page = ann.get(address)
    assert "Pay for stopping early" in page.content.decode()
    raw = {field.html_name: field.value() for field in page.context["form"]}
    raw |= {"consent": "You may stop. " * 5}
    refused = ann.post(address, raw | {"quit_rule": "GENEROUS"})
    assert refused.status_code == 422
    assert ann.post(address, raw | {"quit_rule": "MINIMUM", "least_work": "6"}).status_code == 302
    draft.refresh_from_db()
    assert (draft.quit_rule, draft.least_work) == ("MINIMUM", 6)
    for name in ("campaign", "launch"):
        shown = text_of(ann, name, draft.pk)
        assert "nothing before the minimum, in full from there on; least work 6" in shown
