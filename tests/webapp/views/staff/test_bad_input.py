"""Bad input to staff's pages: odd queries, hostile text, every form's fields filled by lot."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.webapp.views.staff.addresses import addresses
from tests.webapp.views.staff.as_it_stands import forms
from webapp.models import Campaign

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "query",
    ["page=x", "page=999", "page=-1", "system=9999999999999999999999", "state=%00", "step=none"],
)
@pytest.mark.parametrize("name", ["conversations", "people", "jobs"])
def test_odd_queries_show_a_page(ann: Client, campaign: Campaign, name: str, query: str) -> None:
    assert ann.get(f"{reverse(name, args=[campaign.pk])}?{query}").status_code == 200


def test_what_people_wrote_is_shown_as_text(ann: Client, campaign: Campaign) -> None:
    study = campaign.conversations.get(purpose="STUDY")
    study.events.create(
        seq=1, kind="message", side=0, content={"text": "<script>alert(1)</script>"}
    )
    page = ann.get(reverse("conversation", args=[campaign.pk, study.pk])).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("page", "raw", "summary"),
    [
        ("pay", {"pay": "2,75", "reason": "x"}, "Pay of later consents: “2,75”: write 2.75"),
        ("pay", {"pay": "3.00"}, "Reason: is empty; write something here"),
        ("extend", {"more.alpha": "x", "reason": "y"}, "alpha: “x” is not a whole number"),
        ("extend", {"reason": "y"}, "How many more: is 0 everywhere"),
        ("bonus-person", {"amount": "x", "bonus_reason": "y", "given": "0"}, "Amount: “x” is not"),
        ("bonus-person", {"amount": "1", "given": "0"}, "Reason of the bonus: is empty"),
        ("exclude-person", {}, "Reason: is empty; write something here"),
        ("exclude-conversation", {}, "Reason: is empty; write something here"),
    ],
)
def test_a_complaint_names_the_field_by_its_label(
    ann: Client, campaign: Campaign, page: str, raw: dict[str, str], summary: str
) -> None:
    rows = {
        "bonus-person": campaign.participations.get().pk,
        "exclude-person": campaign.participations.get().pk,
        "exclude-conversation": campaign.conversations.get(purpose="STUDY").pk,
    }
    args = [campaign.pk, *([rows[page]] if page in rows else [])]
    answer = ann.post(reverse(page, args=args), raw)
    assert answer.status_code == 422
    lines = re.findall(r'<li><a href="#id_[^"]*">([^<]*)</a>', answer.content.decode())
    assert [line for line in lines if line.startswith(summary)], lines


@pytest.mark.parametrize("page", ["personas", "contexts"])
def test_a_complaint_about_an_import_names_its_label(
    ann: Client, draft: Campaign, page: str
) -> None:
    text = ann.post(reverse(page, args=[draft.pk]), {"text": ""}).content.decode()
    assert '<a href="#id_text">Pasted text: is empty; paste lines here' in text


ODD = (
    *("", "\0", "x" * 5000, "-1", "9" * 400, "1e999", "NaN", "\u202e", "٣", "{", "[[[[", "true"),
    *('{"id": 1}', "🙂" * 50, "../..", "'; --", "store", "clear", "include"),
)
FIELDS = (
    *("name", "pay", "minutes", "currency", "waiting_pay", "contact", "consent", "return_url"),
    *("quit_rule", "least_work", "lower", "budget", "allow"),
    *("wait_seconds", "reply_seconds", "seed", "setting.chat.minimum", "setting.chat.maximum"),
    *("setting.chat.pool", "setting.chat.pace", "setting.chat.max_words.limit", "rate.votes"),
    *("target", "sees_persona", "option.opening", "option.weights", "text", "action", "reason"),
    *("more.alpha", "amount", "bonus_reason", "given", "page", "step", "system", "purpose"),
)


def another_of(ann: Client) -> Client:
    """Return a browser in the same session that waits for nothing."""
    browser = Client()
    browser.cookies = ann.cookies
    return browser


@pytest.mark.timeout(400)
@pytest.mark.parametrize("state", [Campaign.State.DRAFT, Campaign.State.OPEN])
def test_no_input_breaks_a_page(ann: Client, campaign: Campaign, state: str) -> None:
    draw = random.Random(f"odd {state}")
    pages = [*addresses(campaign), "/campaigns/new/meena_static/"]
    for number, address in enumerate(pages * 4):
        if number == len(pages):  # results are there; they need not be computed anew at each look
            ann = another_of(ann)
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        raw = {field: draw.choice(ODD) for field in FIELDS}
        for answer in (ann.post(address, raw), ann.get(address, raw)):
            assert answer.status_code < 500, (address, raw)


WRONG = "wrong <b> & “x”"


@pytest.mark.parametrize("state", [Campaign.State.DRAFT, Campaign.State.OPEN])
def test_every_form_that_refuses_keeps_what_was_typed(
    ann: Client, campaign: Campaign, state: str
) -> None:
    """Each form of each page, with every field wrong, and with each second one."""
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    refused, lost = 0, []
    for address in (*addresses(campaign), "/campaigns/new/meena_static/"):
        for form in (each for each in forms(ann.get(address)) if each.typed):
            for step in (1, 2):
                wrong = dict.fromkeys(sorted(form.typed)[::step], WRONG)
                answer = refusal(ann, form.action or address, form.fields | wrong)
                if answer is not None:
                    refused += 1
                    again = [each.fields for each in forms(answer)]
                    if not any(wrong.items() <= each.items() for each in again):
                        lost.append((address, sorted(wrong)))
    assert lost == []
    assert refused > 20


def refusal(client: Client, address: str, raw: dict[str, str]) -> Any:
    """Send a form, and take back what it did; None where it was taken."""
    with transaction.atomic():
        answer = client.post(address, raw)
        transaction.set_rollback(True)
    return answer if answer.status_code == 422 else None
