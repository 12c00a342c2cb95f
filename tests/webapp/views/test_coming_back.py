"""Who left at the form and comes back to a full study is paid as if they had stopped (R21, R38)."""

from __future__ import annotations

import math
from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from tests.webapp.services import third
from tests.webapp.views.test_one_side_rates import vanish
from tests.webapp.views.visiting import (
    Visit,
    campaign_of,
    chat_through,
    good_answers,
    rating_visit,
)
from webapp import clock, notices
from webapp.models import AuditEntry, Campaign, CompletionCode, PayLedger
from webapp.services.ops import sweeper
from webapp.services.receipts import checking, issuing

pytestmark = pytest.mark.django_db
SHORT = {"chat.minimum": [2]}


def left_at_the_form(**changes: Any) -> Visit:
    """Return somebody whose place was given away while they were to rate."""
    campaign = campaign_of(target=1, changes=SHORT, pay="2.00", **changes)
    visit = rating_visit(campaign)
    vanish(visit)
    assert not CompletionCode.objects.exists()
    return visit


def fill(campaign: Campaign) -> None:
    """Let somebody else take the last place, to the end."""
    other = rating_visit(campaign)
    other.post("rate", good_answers(other.get()))
    sweeper.tick(clock.now())
    assert CompletionCode.objects.get().participation == other.person


def page(visit: Visit) -> str:
    return unescape(visit.get().content.decode())


def code_of(visit: Visit) -> CompletionCode:
    return CompletionCode.objects.get(participation=visit.person)


def private(visit: Visit) -> str:
    return f"private/{visit.get().context['screen'].private}"


def test_the_private_link_gives_the_code_where_the_study_is_over() -> None:
    visit = left_at_the_form()
    link = private(visit)
    fill(visit.campaign)
    stranger = Visit(visit.campaign)
    assert "You have no completion code so far." in stranger.get(link).content.decode()
    shown = unescape(stranger.post(link).content.decode())
    code = code_of(visit)
    assert (code.kind, f"{code.amount}", code.code in shown) == ("FULL", "2.00", True)
    assert notices.text("left_paid", pay="2.00 USD") in shown
    assert stranger.post(link).status_code == 200
    assert code_of(visit) == code, "the same for ever"
    assert code.code in stranger.get(link).content.decode()
    receipt = checking.check(issuing.latest(visit.person))
    assert receipt.is_valid
    assert receipt.statement["pay"] == "2.00"
    assert visit.person.outcome == "LEFT"
    entry = AuditEntry.objects.get(action="paid after leaving")
    assert entry.detail["pays"] == "2.00"
    books = PayLedger.objects.get()
    assert (books.reserved, books.spent) == (0, 400)


def test_the_page_offers_the_code_and_looking_gives_none() -> None:
    visit = left_at_the_form()
    assert "Come back to the study" in page(visit), "there is a place still"
    fill(visit.campaign)
    for address in ("now", ""):
        found = unescape(visit.client.get(visit.base + address, follow=True).content.decode())
        assert notices.text("left_owed", pay="2.00 USD") in found
        assert "Get my code" in found
        assert "Come back to the study" not in found
    assert CompletionCode.objects.count() == 1, "of who took the place"
    shown = unescape(visit.post("code").content.decode())
    assert code_of(visit).code in shown


def test_it_is_the_same_where_the_place_is_taken_and_nobody_is_done() -> None:
    visit = left_at_the_form()
    other = rating_visit(visit.campaign)
    assert "Get my code" in page(visit)
    vanish(other)
    assert "Come back to the study" in page(visit), "the place is free again"
    visit.join()
    assert visit.person.state == "RATING"


def test_a_study_that_is_paused_may_go_on() -> None:
    visit = left_at_the_form()
    Campaign.objects.update(state=Campaign.State.PAUSED)
    assert "Get my code" not in page(visit)
    visit.post("code")
    visit.post(private(visit))
    assert not CompletionCode.objects.exists()


def test_part_of_the_minimum_earns_its_part_and_nothing_below_the_least_work() -> None:
    for exchanges, amount in ((3, "1.00"), (0, "")):
        campaign = campaign_of(target=1, changes={"chat.minimum": [12]}, pay="2.00", least_work=4)
        visit = Visit(campaign)
        visit.join()
        visit.post("start")
        chat_through(visit, exchanges)
        vanish(visit)
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
        visit.post("code")
        found = CompletionCode.objects.filter(participation=visit.person).first()
        assert (f"{found.amount}" if found else "") == amount


def test_of_replies_that_were_given_the_share_that_was_judged_is_paid() -> None:
    campaign = third.labeling(third.chatted(messages=4))
    Campaign.objects.filter(pk=campaign.pk).update(least_work=1)
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    visit.post("rate", good_answers(visit.get()))
    count = visit.person.assignments.count()
    vanish(visit)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    visit.post("code")
    code = code_of(visit)
    cents = math.ceil(campaign.pay * 100 / count)
    assert (code.kind, code.amount) == ("PART", Decimal(cents) / 100)


def test_who_has_a_code_gets_no_other() -> None:
    visit = left_at_the_form()
    fill(visit.campaign)
    visit.post("code")
    first = code_of(visit)
    assert f"{first.code}" in page(visit)
    visit.post("code")
    visit.join()
    assert code_of(visit) == first


def test_who_withdrew_is_paid_no_more() -> None:
    visit = left_at_the_form()
    visit.post(private(visit).replace("private/", "withdraw/"))
    Campaign.objects.update(state=Campaign.State.CLOSED)
    visit.post("code")
    assert not CompletionCode.objects.exists()
