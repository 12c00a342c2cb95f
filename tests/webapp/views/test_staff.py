"""Staff's pages: who may see what, every form's bad input, and states that refuse.

Long because one table of addresses and bad inputs serves every test of staff's pages.
"""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, reverse

from tests.factories import NOW, make_campaign, make_participation, make_staff, make_system
from webapp.models import (
    Amendment,
    Bonus,
    Campaign,
    CompletionCode,
    Conversation,
    Flag,
    Heartbeat,
    Participation,
    Persona,
    QuotaCell,
    ReplyJob,
    System,
)
from webapp.services import heartbeats
from webapp.views import staff, staff_live, staff_review, staff_setup, staff_systems

pytestmark = pytest.mark.django_db
MODULES = (staff, staff_setup, staff_systems, staff_live, staff_review)
PATTERNS = [pattern for module in MODULES for pattern in module.urlpatterns]
OPEN_TO_ALL = {"login", "logout", None}
NAMES = sorted({p.name for p in PATTERNS if p.name and p.name not in OPEN_TO_ALL})


@pytest.fixture
def campaign() -> Campaign:
    """An open campaign with one row of everything."""
    row = make_campaign()
    person = make_participation(row, state="ENDED", outcome="COMPLETED", system=row.systems.get())
    CompletionCode.objects.create(participation=person, code="AB-CD", kind="FULL", amount="2.00")
    for purpose in ("STUDY", "REHEARSAL"):
        chat = Conversation.objects.create(
            campaign=row, system=row.systems.get(), seed=1, started_at=NOW, purpose=purpose
        )
    study = row.conversations.get(purpose="STUDY")
    Flag.objects.create(campaign=row, conversation=study, participation=person, kind="quick")
    ReplyJob.objects.create(
        conversation=study, in_reply_to=1, bot="parrot", queued_at=NOW, state="FAILED"
    )
    assert chat.purpose == "REHEARSAL"
    return row


@pytest.fixture
def draft() -> Campaign:
    row = make_campaign(state=Campaign.State.DRAFT, opened_at=None)
    Heartbeat.objects.create(name="w", kind="replies", bots=["*"], seen_at=NOW)
    return row


@pytest.fixture
def ann(client: Client) -> Client:
    client.force_login(make_staff("ann"))
    return client


@pytest.fixture
def always_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heartbeat of the fixture is of the tests' own time."""
    monkeypatch.setattr(heartbeats, "ALIVE", NOW - NOW.replace(year=1990))


def arguments(pattern: URLPattern, campaign: Campaign) -> dict[str, Any]:
    values = {
        "pk": campaign.pk,
        "system": campaign.systems.get().pk,
        "bot": "parrot",
        "protocol": "personachat_bot",
        "action": "pause",
        "person": campaign.participations.get().pk,
        "flag": campaign.flags.get().pk,
        "job": ReplyJob.objects.get(conversation__campaign=campaign).pk,
        "chat": campaign.conversations.get(
            purpose="REHEARSAL" if "chats/" in str(pattern.pattern) else "STUDY"
        ).pk,
    }
    return {name: values[name] for name in re.findall(r"<\w+:(\w+)>", str(pattern.pattern))}


def addresses(campaign: Campaign) -> Iterator[str]:
    for pattern in PATTERNS:
        if pattern.name not in OPEN_TO_ALL:
            yield reverse(str(pattern.name), kwargs=arguments(pattern, campaign))


# --- who may see what -------------------------------------------------------------------------


def test_the_matrix_has_every_address() -> None:
    assert len(NAMES) == len(PATTERNS) - 3  # login, its place under admin/, logout
    assert {"campaigns", "live", "conversation", "person", "launch", "test-chat"} <= set(NAMES)


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_is_sent_to_the_login(
    client: Client, campaign: Campaign, method: str
) -> None:
    for address in addresses(campaign):
        answer = getattr(client, method)(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/login/"), address


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_account_that_is_no_staff_is_refused(
    client: Client, campaign: Campaign, method: str
) -> None:
    client.force_login(get_user_model().objects.create_user("guest"))
    for address in addresses(campaign):
        assert getattr(client, method)(address).status_code == 403, address


def test_staff_see_every_page_and_no_get_changes_anything(ann: Client, campaign: Campaign) -> None:
    before = [*Campaign.objects.values(), *System.objects.values(), *ReplyJob.objects.values()]
    for address in addresses(campaign):
        assert ann.get(address).status_code in (200, 302, 405, 409), address
    assert before == [
        *Campaign.objects.values(),
        *System.objects.values(),
        *ReplyJob.objects.values(),
    ]


def test_a_post_without_its_token_is_refused(campaign: Campaign) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_staff("bob"))
    for address in addresses(campaign):
        assert strict.post(address).status_code == 403, address


def test_what_is_not_there_or_another_campaign_s_is_not_found(
    ann: Client, campaign: Campaign
) -> None:
    other = make_campaign()
    for pattern in PATTERNS:
        kwargs = arguments(pattern, campaign) if pattern.name not in OPEN_TO_ALL else {}
        for pk in (10**6, other.pk):
            if pk == other.pk and not kwargs.keys() & {"system", "person", "flag", "job", "chat"}:
                continue
            if "pk" in kwargs:
                address = reverse(str(pattern.name), kwargs=kwargs | {"pk": pk})
                statuses = {ann.get(address).status_code, ann.post(address).status_code}
                assert statuses <= {404, 405}, address
                assert 404 in statuses, address


# --- signing in -------------------------------------------------------------------------------


def sign_in(client: Client, password: str, address: str = "/login/") -> int:
    raw = {"username": "ann", "password": password}
    return client.post(address, raw).status_code


def test_signing_in_and_out(client: Client) -> None:
    make_staff("ann")
    assert sign_in(client, "wrong") == 200
    assert sign_in(client, "ann") == 302
    assert client.get("/campaigns/").status_code == 200
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").status_code == 302
    assert client.get("/campaigns/").status_code == 302


@pytest.mark.parametrize("address", ["/login/", "/admin/login/"])
def test_a_sixth_attempt_within_a_minute_is_refused(client: Client, address: str) -> None:
    make_staff("ann")
    statuses = [sign_in(client, "wrong", address) for _ in range(5)]
    answer = client.post(address, {"username": "ann", "password": "ann"})
    assert statuses == [200] * 5
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")


def test_an_account_that_is_no_staff_cannot_sign_in(client: Client) -> None:
    get_user_model().objects.create_user("ann", password="ann")
    assert sign_in(client, "ann") == 200
    assert client.get("/campaigns/").status_code == 302


# --- a draft ----------------------------------------------------------------------------------


def test_the_empty_list_says_what_to_do_first(ann: Client) -> None:
    assert "There is no campaign yet" in ann.get("/campaigns/").content.decode()


def test_a_campaign_is_created_from_a_protocol(ann: Client) -> None:
    page = ann.get("/campaigns/new/meena_static/")
    fields = [*page.context["own"], *page.context["source"]]
    raw = {field.name: field.raw for field in fields}
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
    assert "departs: source has" in ann.get(reverse("launch", args=[draft.pk])).content.decode()


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


# --- launch, and what comes after -------------------------------------------------------------


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
        assert "OPEN" in answer.content.decode()


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


def test_a_reply_given_up_is_retried_once(ann: Client, campaign: Campaign) -> None:
    job = ReplyJob.objects.get()
    retry = reverse("retry", args=[campaign.pk, job.pk])
    assert [ann.post(retry).status_code for _ in range(2)] == [302, 409]


# --- review -----------------------------------------------------------------------------------


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


def test_the_admin_shows_rows_and_changes_none(client: Client, campaign: Campaign) -> None:
    client.force_login(get_user_model().objects.create_superuser("root"))
    assert client.get("/admin/webapp/campaign/").status_code == 200
    address = f"/admin/webapp/campaign/{campaign.pk}/change/"
    assert client.get(address).status_code == 200
    assert client.post(address, {"name": "x"}).status_code == 403
    assert client.post(f"/admin/webapp/campaign/{campaign.pk}/delete/").status_code == 403
    assert client.get("/admin/webapp/externalid/").status_code == 404
    assert Participation.objects.filter(campaign=campaign).count() == 1


ODD = (
    *("", "\0", "x" * 5000, "-1", "9" * 400, "1e999", "NaN", "\u202e", "٣", "{", "[[[[", "true"),
    *('{"id": 1}', "🙂" * 50, "../..", "'; --", "store", "clear", "include"),
)
FIELDS = (
    *("name", "pay", "minutes", "currency", "waiting_pay", "contact", "consent", "return_url"),
    *("wait_seconds", "reply_seconds", "seed", "setting.chat.minimum", "setting.chat.maximum"),
    *("setting.chat.pool", "setting.chat.pace", "setting.chat.max_words.limit", "rate.votes"),
    *("target", "sees_persona", "option.opening", "option.weights", "text", "action", "reason"),
    *("more.alpha", "amount", "bonus_reason", "given", "page", "step", "system", "purpose"),
)


@pytest.mark.parametrize("state", [Campaign.State.DRAFT, Campaign.State.OPEN])
def test_no_input_breaks_a_page(ann: Client, campaign: Campaign, state: str) -> None:
    draw = random.Random(f"odd {state}")
    pages = [*addresses(campaign), "/campaigns/new/meena_static/"]
    for address in pages * 4:
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        raw = {field: draw.choice(ODD) for field in FIELDS}
        for answer in (ann.post(address, raw), ann.get(address, raw)):
            assert answer.status_code < 500, (address, raw)


def test_a_second_system_appears_in_the_filters(ann: Client, campaign: Campaign) -> None:
    make_system(campaign, "beta")
    page = ann.get(reverse("conversations", args=[campaign.pk])).content.decode()
    assert "beta" in page
