"""Staff's pages from the launch on: states that refuse, the live page, review."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_participation, make_system
from webapp.models import (
    Amendment,
    Bonus,
    Campaign,
    CompletionCode,
    Participation,
    Persona,
    ReplyJob,
)
from webapp.services.replies import heartbeats
from webapp.services.rules import ledger

pytestmark = pytest.mark.django_db


@pytest.fixture
def always_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heartbeat of the fixture is of the tests' own time."""
    monkeypatch.setattr(heartbeats, "ALIVE", NOW - NOW.replace(year=1990))


def test_the_budget_is_seen_and_raised_and_people_are_let_in(
    ann: Client, campaign: Campaign
) -> None:
    """R37: page, live page and amendments."""
    Campaign.objects.update(state="OPEN", opened_at=NOW)
    campaign.refresh_from_db()
    ledger.spend(campaign, Decimal("1.50"))
    budget, total = reverse("budget", args=[campaign.pk]), ledger.books(campaign).budget
    spent = ledger.books(campaign).spent  # of the fixture's codes too
    assert f"It is {total} USD now: {spent} spent" in ann.get(budget).content.decode()
    answer = ann.post(budget, {"budget": str(total), "reason": "More."})
    assert answer.status_code == 422
    assert f"is not more than the present budget of {total}" in answer.content.decode()
    assert ann.post(budget, {"budget": "many", "reason": "More."}).status_code == 422
    assert ann.post(budget, {"budget": "900.5", "reason": "More."}).status_code == 302
    text = f"Budget: {total} → 900.50 USD. More."
    shown = ann.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert text in shown
    assert f"900.50 USD: {spent} spent, 0.00 held" in shown
    assert "of 900.50 USD" in ann.get(reverse("live-part", args=[campaign.pk])).content.decode()
    ledger.keep_new_people_out(campaign, "quit", NOW)
    alarm = "Nobody new gets a place until you have looked: most of the latest people stopped early"
    assert alarm in ann.get(reverse("live-part", args=[campaign.pk])).content.decode()
    assert "Let people in again" in ann.get(budget).content.decode()
    assert ann.post(budget, {"allow": "yes", "reason": "Seen."}).status_code == 302
    assert not ledger.is_held(campaign)
    Campaign.objects.update(state="STOPPED")
    assert ann.get(budget).status_code == 409


@pytest.mark.usefixtures("always_alive")
def test_a_launch_opens_once_and_freezes_the_pages(ann: Client, draft: Campaign) -> None:
    launch = reverse("launch", args=[draft.pk])
    Persona.objects.filter(campaign=draft, key__gte="p2").delete()
    assert ann.post(launch).status_code == 422
    for number in range(2, 6):
        Persona.objects.create(
            campaign=draft, key=f"q{number}", split="test", order=number, sentences=[f"I {number}."]
        )
    assert "Freeze the plan" in ann.get(launch).content.decode()
    assert ann.post(launch).status_code == 302
    assert ann.post(launch).status_code == 409
    assert ann.get(launch).status_code == 409
    draft.refresh_from_db()
    assert draft.plan is not None
    assert draft.plan["pay"]["budget"] == str(ledger.books(draft).budget)
    plan = ann.get(reverse("plan", args=[draft.pk]))
    assert plan["Content-Type"].startswith("application/json")
    page = ann.get(reverse("campaign", args=[draft.pk])).content.decode()
    assert draft.plan_hash in page
    assert reverse("entry", args=[draft.slug]) in page
    system = draft.systems.get()
    frozen = [
        reverse("settings", args=[draft.pk]),
        reverse("add-system", args=[draft.pk, "parrot"]),
        reverse("system", args=[draft.pk, system.pk]),
        reverse("remove-system", args=[draft.pk, system.pk]),
        reverse("personas", args=[draft.pk]),
        reverse("collect", args=[draft.pk]),
    ]
    for address in frozen:
        answer = ann.post(address, {"text": "x"})
        assert answer.status_code == 409, address
        assert "It is in the state open," in answer.content.decode()


def test_pause_resume_extend_pay_and_stop(ann: Client, campaign: Campaign) -> None:
    pause, resume, stop = (
        reverse("act", args=[campaign.pk, name]) for name in ("pause", "resume", "stop")
    )
    extend, pay = reverse("extend", args=[campaign.pk]), reverse("pay", args=[campaign.pk])
    assert "Pause the campaign?" in ann.get(pause).content.decode()
    assert ann.post(pause, {"reason": ""}).status_code == 422
    assert ann.post(resume, {"reason": "x"}).status_code == 409
    assert ann.post(extend, {"reason": "x", "more.alpha": "-1"}).status_code == 422
    assert ann.post(pay, {"reason": "x", "pay": "free"}).status_code == 422
    assert not Amendment.objects.exists()
    for address, raw in (
        (pause, {}),
        (resume, {}),
        (extend, {"more.alpha": "5"}),
        (pay, {"pay": "2.50"}),
        (stop, {}),
    ):
        answer = ann.post(address, raw | {"reason": "As agreed."})
        assert answer.status_code == 302, address
    assert Amendment.objects.filter(campaign=campaign).count() == 5
    for address in (pause, resume, extend, pay, stop):
        assert ann.post(address, {"reason": "x"}).status_code == 409
    assert ann.get(reverse("act", args=[campaign.pk, "explode"])).status_code == 404


def test_the_live_page_leads_from_each_number_to_its_list(ann: Client, campaign: Campaign) -> None:
    part = ann.get(reverse("live-part", args=[campaign.pk])).content.decode()
    links = re.findall(r'href="([^"]+)"', part)
    assert len(links) >= 9
    for link in links:
        assert ann.get(link.replace("&amp;", "&")).status_code == 200, link
    assert 'id="step-done"' in part
    assert "<!doctype" not in part


def test_the_money_tile_leads_to_a_list_of_the_same_sum(ann: Client, campaign: Campaign) -> None:
    """In every state, and for every way to end: with a code, with a bonus only, with neither."""
    system = campaign.systems.get()
    for number, outcome in enumerate(Participation.Outcome.values, start=1):
        person = make_participation(campaign, state="ENDED", outcome=outcome, system=system)
        if number % 3:
            amount = f"{number}.10"
            person.code = CompletionCode.objects.create(
                participation=person, code=f"C{number}", kind="FULL", amount=amount
            )
        for _ in range(number % 3):
            bonus = {"amount": "0.25", "reason": "Kind.", "given_by": campaign.owner}
            Bonus.objects.create(participation=person, **bonus)
    for state in Participation.State.values[:-1]:
        person = make_participation(campaign, state=state)
        bonus = {"amount": "0.05", "reason": "Kind.", "given_by": campaign.owner}
        Bonus.objects.create(participation=person, **bonus)
    ledger.begin(campaign)
    part = ann.get(reverse("live-part", args=[campaign.pk]))
    (link,) = re.findall(r'id="paid" href="([^"]+)"', part.content.decode())
    page = ann.get(link)
    rows = page.context["page"].object_list
    paid = [row.code.amount if row.code else 0 for row in rows]
    paid += [bonus.amount for row in rows for bonus in row.bonuses]
    spent = part.context["live"].money.spent
    assert spent == sum(paid) == page.context["paid"] > 30
    assert f"paid {spent:.2f} USD" in page.content.decode()
    assert len({row.pk for row in rows}) == len(rows)


def test_a_reply_given_up_is_retried_once(ann: Client, campaign: Campaign) -> None:
    job = ReplyJob.objects.get()
    retry = reverse("retry", args=[campaign.pk, job.pk])
    assert [ann.post(retry).status_code for _ in range(2)] == [302, 409]


# --- review -----------------------------------------------------------------------------------


def test_a_conversation_s_page_has_the_hash_of_the_parameters_once(
    ann: Client, campaign: Campaign
) -> None:
    study = campaign.conversations.get(purpose="STUDY")
    study.jobs.all().delete()
    details = {"model": "parrot", "parameters": "ab" * 32, "seed": 0, "seconds": 0.2}
    for number in range(3):
        message = {"kind": "message", "side": 1, "content": {"text": f"Reply {number}."}}
        study.events.create(seq=number + 1, in_reply_to=number, **message)
        study.jobs.create(
            in_reply_to=number, bot="parrot", queued_at=NOW, state="DONE", details=details
        )
    study.events.create(seq=9, kind="state", side=0, content={"state": "finished"})
    page = ann.get(reverse("conversation", args=[campaign.pk, study.pk])).content.decode()
    assert page.count("ab" * 32) == 1
    assert page.count('<article class="line line-second">') == 3
    assert re.search(r'<p class="line-platform">\s+first side: <span dir="auto">Finished', page)


def test_a_conversation_and_a_person_are_excluded_with_a_reason(
    ann: Client, campaign: Campaign
) -> None:
    study = campaign.conversations.get(purpose="STUDY")
    person = campaign.participations.get()
    for name, row in (("exclude-conversation", study), ("exclude-person", person)):
        address = reverse(name, args=[campaign.pk, row.pk])
        assert ann.post(address, {"reason": ""}).status_code == 422
        assert ann.post(address, {"reason": "A test."}).status_code == 302
        row.refresh_from_db()
        assert row.excluded == "A test."
        ann.post(address, {"action": "include"})
        row.refresh_from_db()
        assert row.excluded == ""


def test_a_bonus_needs_an_amount_and_a_reason(ann: Client, campaign: Campaign) -> None:
    address = reverse("bonus-person", args=[campaign.pk, campaign.participations.get().pk])
    assert ann.post(address, {"amount": "x", "given": "0"}).status_code == 422
    raw = {"amount": "0.50", "bonus_reason": "Kind.", "given": "0"}
    assert [ann.post(address, raw).status_code for _ in range(2)] == [302, 302]
    assert Bonus.objects.count() == 1


def test_a_flag_is_looked_at(ann: Client, campaign: Campaign) -> None:
    flag = campaign.flags.get()
    answer = ann.post(reverse("settle-flag", args=[campaign.pk, flag.pk]))
    assert answer["Location"] == reverse("conversation", args=[campaign.pk, flag.conversation_id])
    flag.refresh_from_db()
    assert flag.settled_at is not None


def test_a_second_system_appears_in_the_filters(ann: Client, campaign: Campaign) -> None:
    make_system(campaign, "beta")
    page = ann.get(reverse("conversations", args=[campaign.pk])).content.decode()
    assert "beta" in page
