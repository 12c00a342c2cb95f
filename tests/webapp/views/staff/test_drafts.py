"""Staff's pages of a draft: creating, systems, personas and contexts, rehearsal and test chat."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from evaluation.registry import protocol_names
from tests import serving
from tests.factories import make_campaign
from webapp import inference
from webapp.models import (
    IMPORTED,
    PEOPLE,
    Campaign,
    QuotaCell,
    ReplyJob,
    System,
)
from webapp.services.replies import rehearsal

pytestmark = pytest.mark.django_db


def test_the_empty_list_says_what_to_do_first(ann: Client) -> None:
    assert "There is no campaign yet" in ann.get("/campaigns/").content.decode()


@pytest.mark.parametrize("state", Campaign.State.values)
def test_only_an_open_campaign_shows_its_start_link(ann: Client, state: str) -> None:
    campaign = make_campaign(state=state)
    page = ann.get("/campaigns/").content.decode()
    assert (f'href="/c/{campaign.slug}/"' in page) == (state == "OPEN")


def test_a_rehearsal_that_ends_while_the_page_is_made_is_asked_about_again(
    ann: Client, draft: Campaign
) -> None:
    """The system is read, then its test ends, then the rest of the page is made."""
    draft.systems.update(rehearsal="QUEUED")

    def ends(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if sql.startswith("SELECT") and 'FROM "webapp_system"' in sql:
            with connection.cursor() as cursor:
                cursor.execute("UPDATE webapp_system SET rehearsal = 'PASSED'")
        return found

    address = reverse("rehearsals", args=[draft.pk])
    with connection.execute_wrapper(ends):
        during = ann.get(address).content.decode()
    afterwards = ann.get(address).content.decode()
    assert draft.systems.get().rehearsal == "PASSED"
    assert f'hx-get="{address}"' in during
    assert f'hx-get="{address}"' not in afterwards
    assert "Not passed by" not in afterwards


def test_a_campaign_is_created_from_a_protocol(ann: Client) -> None:
    page = ann.get("/campaigns/new/meena_static/")
    raw = page.context["form"].typed()
    address = "/campaigns/new/meena_static/"
    refused = ann.post(address, raw | {"pay": "lots"})
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "“lots” is not an amount" in text
    assert 'value="lots"' in text
    created = ann.post(address, raw | {"name": "One", "pay": "1.50", "contact": "me"})
    assert created["Location"] == reverse("campaign", args=[Campaign.objects.get(name="One").pk])
    assert ann.get(created["Location"]).status_code == 200


@pytest.mark.parametrize("name", ["nothing", "__init__", "meena_static.py"])
def test_an_unknown_protocol_is_not_found(ann: Client, name: str) -> None:
    assert ann.get(f"/campaigns/new/{name}/").status_code == 404


def test_a_departure_is_marked_on_every_page(ann: Client, draft: Campaign) -> None:
    draft.changes = {"chat.minimum": [6, 8]}
    draft.save()
    shown = ann.get(reverse("campaign", args=[draft.pk])).content.decode()
    assert "Departs from the source" in shown
    assert "6, 8" in shown
    form = ann.get(reverse("settings", args=[draft.pk])).content.decode()
    assert "departs from the source: 12, 14, 16" in form
    page = ann.get(reverse("launch", args=[draft.pk])).content.decode()
    assert "departs: source has 12, 14, 16" in page
    assert "<td>6, 8 " in page
    assert "<td>yes</td>" in page
    assert "True" not in page
    assert "chat with the other person naturally" in page
    assert "S · section 3.3 · quoted" in page


def test_where_a_system_is_added_a_guide_says_which(ann: Client, draft: Campaign) -> None:
    link = f'href="{reverse("guide", args=["which_bot"])}"'
    for page in ("campaign", "choose-system", "add-system"):
        kind = ["parrot"] if page == "add-system" else []
        assert link in ann.get(reverse(page, args=[draft.pk, *kind])).content.decode()


def test_a_system_is_added_changed_and_removed(ann: Client, draft: Campaign) -> None:
    add = reverse("add-system", args=[draft.pk, "parrot"])
    raw = {"name": "echo", "target": "3", "sees_persona": "true", "option.opening": "Hi!"}
    assert ann.post(add, raw | {"target": "none"}).status_code == 422
    assert ann.post(add, raw).status_code == 302
    system = System.objects.get(name="echo")
    change = reverse("system", args=[draft.pk, system.pk])
    assert "Change echo" in ann.get(change).content.decode()
    assert ann.post(change, raw | {"name": "Echo!"}).status_code == 422
    assert ann.post(change, raw | {"target": "4"}).status_code == 302
    assert QuotaCell.objects.get(system=system).target == 4
    assert ann.post(reverse("remove-system", args=[draft.pk, system.pk])).status_code == 302
    assert not System.objects.filter(pk=system.pk).exists()
    assert ann.get(reverse("add-system", args=[draft.pk, "nobody"])).status_code == 404


@pytest.mark.parametrize(
    ("protocol", "pay", "budget", "shown"),
    [
        ("personachat_bot", "2.00", None, "<dd>22.00 USD"),
        ("reply_ranking", "2.00", None, "<dd>counted at the launch <"),
        ("reply_ranking", "2.00", "0.00", "<dd>0.00 USD"),
        ("reply_ranking", "0.00", None, "<dd>0.00 USD"),
    ],
)
def test_a_budget_that_nobody_can_count_yet_is_not_shown_as_nothing(
    ann: Client, protocol: str, pay: str, budget: str | None, shown: str
) -> None:
    amounts: dict[str, Any] = {"pay": pay, "waiting_pay": "0.00", "budget": budget}
    draft = make_campaign(protocol, state=Campaign.State.DRAFT, **amounts)
    page = ann.get(f"/campaigns/{draft.pk}/").content.decode()
    assert page.partition("<dt>Budget</dt>")[2].startswith(shown)


@pytest.mark.parametrize("protocol", protocol_names())
def test_each_line_of_the_checklist_leads_to_the_page_that_puts_it_right(
    ann: Client, protocol: str
) -> None:
    draft = make_campaign(protocol, state=Campaign.State.DRAFT)
    page = ann.get(f"/campaigns/{draft.pk}/")
    lines = [line for line in page.context["checks"] if line.where]
    assert lines
    for line in lines:
        at = "campaign" if line.where == "systems" else line.where
        address = reverse(at, args=[draft.pk]) + "#systems" * (line.where == "systems")
        assert f'<a href="{address}">{line.name}</a>' in page.content.decode()
        assert ann.get(address).status_code == 200


@pytest.mark.parametrize(
    ("protocol", "bot"), [("reply_ranking", IMPORTED), ("meena_human", PEOPLE)]
)
def test_what_is_no_bot_is_renamed_and_neither_rehearsed_nor_tried(
    ann: Client, protocol: str, bot: str
) -> None:
    draft = make_campaign(protocol, state=Campaign.State.DRAFT, systems={"mine": bot})
    system = draft.systems.get()
    page = ann.get(f"/campaigns/{draft.pk}/").content.decode()
    change = reverse("system", args=[draft.pk, system.pk])
    assert change in page
    for name in ("rehearse", "begin-test-chat"):
        assert reverse(name, args=[draft.pk, system.pk]) not in page
    assert "Change mine" in ann.get(change).content.decode()
    typed = ann.get(change).context["form"].typed() | {"name": "ours"}
    assert ann.post(change, typed | {"act": "try"}).status_code == 404
    assert ann.post(change, typed).status_code == 302
    system.refresh_from_db()
    assert (system.name, system.bot) == ("ours", bot)


def test_a_rehearsal_and_a_test_chat_go_the_path_of_every_reply(
    ann: Client, draft: Campaign
) -> None:
    system = draft.systems.get()
    ann.post(reverse("rehearse", args=[draft.pk, system.pk]))
    assert "being tested" in ann.get(reverse("rehearsals", args=[draft.pk])).content.decode()
    chat = ann.post(reverse("begin-test-chat", args=[draft.pk, system.pk]))["Location"]
    assert ann.post(chat, {"text": " "}).status_code == 422
    assert ann.post(chat, {"text": "x" * 4001}).status_code == 422
    assert ann.post(chat, {"text": "Hello"}).status_code == 302
    assert "is answering" in ann.get(f"{chat}part/").content.decode()
    assert ann.post(chat, {"text": "Hello?"}).status_code == 422
    assert ReplyJob.objects.filter(bot="parrot", state="QUEUED").count() == 2


def test_what_a_system_answered_in_its_rehearsal_is_read_on_the_page(
    ann: Client, draft: Campaign
) -> None:
    system = draft.systems.get()
    ann.post(reverse("rehearse", args=[draft.pk, system.pk]))
    for _ in range(rehearsal.REPLIES):
        serving.serve(bot=system.bot, owner="test", respond=inference.respond_here)
    page = ann.get(f"/campaigns/{draft.pk}/").content.decode()
    answers = page.partition("What it answered")[2].partition("</details>")[0]
    for text in rehearsal.MESSAGES:
        assert answers.count(f'<p dir="auto">{text}</p>') == 2  # heard, and said by a parrot


@pytest.mark.parametrize("name", ["personas", "contexts"])
def test_an_import_is_previewed_before_it_is_stored(ann: Client, name: str) -> None:
    protocol = {"personas": "personachat_bot", "contexts": "meena_static"}[name]
    draft = make_campaign(protocol, state=Campaign.State.DRAFT, personas=0)
    address = reverse(name, args=[draft.pk])
    assert ann.post(address, {"text": ""}).status_code == 422
    assert "Error" in ann.post(address, {"text": "{}"}).content.decode()
    assert ann.post(address, {"text": "{}", "action": "store"}).status_code == 422
    upload = SimpleUploadedFile("x.jsonl", b"\xff\xff")
    assert ann.post(address, {"file": upload}).status_code == 422
    page = ann.post(address, {"action": "bundled"})
    assert page.context["preview"].good
    rows = getattr(draft, name)
    assert rows.count() == 0
    stored = ann.post(address, {"action": "store", "text": page.context["text"]})
    assert stored.status_code == 302
    assert rows.count() == len(page.context["preview"].rows)
    assert ann.get(address).status_code == 200
    assert ann.post(address, {"action": "clear"}).status_code == 302
    assert rows.count() == 0


def test_replies_to_contexts_are_collected_once(ann: Client) -> None:
    draft = make_campaign("meena_static", state=Campaign.State.DRAFT, personas=0)
    draft.contexts.create(key="c1", messages=["Tea?"])
    for _ in range(2):
        assert ann.post(reverse("collect", args=[draft.pk])).status_code == 302
    assert draft.conversations.filter(purpose="CONTEXT").count() == 1
    refused = ann.post(reverse("contexts", args=[draft.pk]), {"action": "clear", "text": "x"})
    assert refused.status_code == 422
