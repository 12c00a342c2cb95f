"""Promised pay on the pages: join at 2.00, cut to 0.10, finish; every page says 2.00 (R21)."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from tests.webapp.views.visiting import Visit, campaign_of, chat_through, good_answers, text_of
from webapp import notices
from webapp.models import Amendment, AuditEntry, Campaign, CompletionCode, Participation

pytestmark = pytest.mark.django_db


def lower(staff: Client, campaign: Campaign, pay: str) -> None:
    """Lower the pay as staff do: typed, warned, confirmed."""
    address = reverse("pay", args=[campaign.pk])
    raw = {"pay": pay, "reason": "Funds."}
    warned = staff.post(address, raw)
    assert warned.status_code == 422
    sent = re.search(r'name="lower" value="([^"]+)"', warned.content.decode())
    assert sent is not None
    assert staff.post(address, raw | {"lower": sent[1]}).status_code == 302


def top_bar(page: str) -> str:
    found = re.search(r"<span>Pay ([^<]+)</span>", page)
    assert found is not None
    return found[1]


def test_who_joined_at_two_dollars_reads_and_gets_two_dollars(ann: Client) -> None:
    campaign = campaign_of(changes={"chat.minimum": [4]}, waiting_pay="0.05")
    visit = Visit(campaign)
    assert "2.00 USD" in visit.get("?PROLIFIC_PID=x").content.decode()
    visit.join()
    visit.post("start")
    chat_through(visit, 1)
    lower(ann, campaign, "0.10")
    seen = [page := visit.get()]
    chat_through(visit, 1)
    seen.append(visit.get())
    visit.send(type="finish", id=str(uuid4()))
    seen.append(page := visit.get())
    for each in seen:
        assert top_bar(each.content.decode()) == "2.00 USD"
        assert "2.00 USD" in each.context["screen"].stop
        assert "0.10" not in each.content.decode()
    done = visit.post("rate", good_answers(page)).content.decode()
    assert notices.text("completed", pay="2.00 USD") in done
    assert "It stands for 2.00 USD." in done
    assert "0.10" not in done
    code = CompletionCode.objects.get()
    assert (str(code.amount), code.code in done) == ("2.00", True)
    assert AuditEntry.objects.get(action="participation ended").detail["pays"] == "2.00"
    assert "2.00 USD" in text_of(ann, "person", campaign.pk, visit.person.pk)
    assert re.search(r"2\.00</span>\s*of 22\.55 USD", text_of(ann, "live-part", campaign.pk))
    assert [row["promised"] for row in exported(ann, campaign)] == ["2.00"]


def exported(staff: Client, campaign: Campaign) -> list[dict[str, str]]:
    content = staff.post(reverse("results-export", args=[campaign.pk])).getvalue()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read("participants.csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_who_joins_after_the_cut_reads_and_gets_the_lower_pay(ann: Client) -> None:
    campaign = campaign_of(changes={"chat.minimum": [2]}, waiting_pay="0.05")
    Visit(campaign).join()
    lower(ann, campaign, "0.10")
    visit = Visit(campaign)
    entry = visit.get("").content.decode()
    assert "0.10 USD" in entry
    assert "2.00" not in entry
    visit.join()
    visit.post("start")
    chat_through(visit, 1)
    visit.send(type="finish", id=str(uuid4()))
    page = visit.get()
    assert top_bar(page.content.decode()) == "0.10 USD"
    assert visit.post("rate", good_answers(page)).context["screen"].end.amount == "0.10 USD"


def test_a_raise_is_for_later_consents_as_well(ann: Client) -> None:
    campaign = campaign_of()
    first, second = Visit(campaign), Visit(campaign)
    first.join()
    raised = {"pay": "2.50", "reason": "Fair."}
    assert ann.post(reverse("pay", args=[campaign.pk]), raised).status_code == 302
    second.join()
    bars = [top_bar(visit.get().content.decode()) for visit in (first, second)]
    assert bars == ["2.00 USD", "2.50 USD"]


def test_a_page_opened_before_the_cut_is_shown_again_before_it_binds(ann: Client) -> None:
    campaign = campaign_of(waiting_pay="0.05")
    visit = Visit(campaign)
    form = {"platform": "prolific", "external_id": visit.name, "pay": form_pay(visit.get(""))}
    assert form["pay"] == "2.00"
    lower(ann, campaign, "0.10")
    again = visit.post("consent", form)
    assert again.status_code == 409
    assert notices.text("pay_changed") in again.content.decode()
    assert "I agree and take part" in again.content.decode()
    assert not Participation.objects.exists()
    joined = visit.post("consent", form | {"pay": form_pay(again)})
    assert top_bar(joined.content.decode()) == "0.10 USD"


def form_pay(page: object) -> str:
    found = re.search(r'name="pay" value="([^"]+)"', page.content.decode())  # type: ignore[attr-defined]
    assert found is not None
    return found[1]


@pytest.mark.parametrize("pay", ["two", "-1", "1.005", "NaN", "9" * 40])
def test_a_pay_that_no_page_shows_joins_nobody(pay: str) -> None:
    visit = Visit(campaign_of())
    claim = {"platform": "prolific", "external_id": "x", "pay": pay}
    assert visit.post("consent", claim).status_code == 404
    assert not Participation.objects.exists()


def test_who_comes_back_is_shown_what_they_were_promised(ann: Client) -> None:
    campaign = campaign_of(waiting_pay="0.05")
    visit = Visit(campaign)
    visit.join()
    visit.post("stop")
    lower(ann, campaign, "0.10")
    mine = visit.get("")
    assert form_pay(mine) == "2.00"
    assert form_pay(visit.get("?PROLIFIC_PID=another")) == "0.10"
    back = visit.post("consent", mine.context["who"] | {"pay": "2.00"})
    assert top_bar(back.content.decode()) == "2.00 USD"


def test_lowering_is_asked_for_twice_and_says_whom_it_binds(ann: Client) -> None:
    campaign = campaign_of(waiting_pay="0.05")
    for _ in range(2):
        Visit(campaign).join()
    address = reverse("pay", args=[campaign.pk])
    assert "2 people were promised 2.00 USD and keep it" in ann.get(address).content.decode()
    raw = {"pay": "1.00", "reason": "Funds."}
    page = ann.post(address, raw)
    assert page.status_code == 422
    text = page.content.decode()
    assert "lower the pay from 2.00 to 1.00 USD" in text
    assert "It applies to participants who consent from now on" in text
    other = raw | {"pay": "0.90", "lower": "1.00"}  # not the amount that was warned of
    assert ann.post(address, other).status_code == 422
    campaign.refresh_from_db()
    assert (str(campaign.pay), Amendment.objects.count()) == ("2.00", 0)
    assert ann.post(address, raw | {"lower": "1.00"}).status_code == 302
    campaign.refresh_from_db()
    assert str(campaign.pay) == "1.00"
    text = Amendment.objects.get().text
    assert text == "Pay of later consents changed: 2.00 → 1.00 USD. Funds."


def test_the_same_pay_or_more_is_not_warned_of(ann: Client) -> None:
    campaign = campaign_of()
    address = reverse("pay", args=[campaign.pk])
    same = ann.post(address, {"pay": "2.00", "reason": "x"})
    assert "is what is paid already" in same.content.decode()
    assert "about to lower" not in same.content.decode()
    assert ann.post(address, {"pay": "2.01", "reason": "x"}).status_code == 302
