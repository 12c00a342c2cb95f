"""Duplicating, archiving, deleting and finding campaigns, by their pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign
from tests.webapp.services import third
from webapp.models import AuditEntry, Campaign, Conversation, Event, Participation, ReplyJob
from webapp.services.campaign import launch, message_items
from webapp.services.replies import rehearsal
from webapp.services.rules import audit

pytestmark = pytest.mark.django_db
PAGES = ("duplicate", "archive", "unarchive", "delete")


def actions() -> list[str]:
    return list(AuditEntry.objects.values_list("action", flat=True))


def post(client: Client, page: str, campaign: Campaign, /, **raw: str) -> Any:
    return client.post(reverse(page, args=[campaign.pk]), raw)


def listed(client: Client, query: str = "") -> set[str]:
    page = client.get(f"/campaigns/{query}").context["page"]
    return {line.campaign.name for line in page.object_list}


def tried(draft: Campaign) -> None:
    """Let a draft have a row of everything that a draft can have."""
    system = draft.systems.get()
    rehearsal.start(system=system, by="ann", now=NOW)
    ReplyJob.objects.update(state="DONE")
    conversation = draft.conversations.get()
    conversation.seats.update(persona=draft.personas.first())
    draft.contexts.create(key="c", messages=["Tea?"])
    item = draft.items.create(key="i", conversation=conversation, target=1)
    item.candidates.create(key="r1", conversation=conversation, system=system, side=1)


# --- who may, and when ------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_nobody_without_rights_changes_anything(client: Client, draft: Campaign, name: str) -> None:
    assert post(client, name, draft, name=draft.name, seed="1").status_code == 302
    client.force_login(get_user_model().objects.create_user("guest"))
    assert post(client, name, draft, name=draft.name, seed="1").status_code == 403
    assert Campaign.objects.get() == draft
    assert actions() == []


@pytest.mark.parametrize("state", Campaign.State.values)
def test_what_each_state_allows(ann: Client, state: str) -> None:
    """Deleted is a draft only; archived is what does not run; everything is duplicated."""
    campaign = make_campaign(state=state)
    assert post(ann, "duplicate", campaign, name="Again", seed="8").status_code == 302
    archived = 409 if state in ("OPEN", "PAUSED") else 302
    assert post(ann, "archive", campaign).status_code == archived
    deleted = 302 if state == "DRAFT" else 409
    assert post(ann, "delete", campaign, name=campaign.name).status_code == deleted
    assert ann.get(reverse("delete", args=[campaign.pk])).status_code == (404, 409)[deleted == 409]
    assert Campaign.objects.filter(pk=campaign.pk).exists() == (deleted == 409)
    page = ann.get(reverse("campaign", args=[Campaign.objects.get(name="Again").pk]))
    assert reverse("delete", args=[page.context["campaign"].pk]) in page.content.decode()


# --- deleting ---------------------------------------------------------------------------------


def test_a_draft_is_deleted_once_its_name_is_typed(ann: Client, draft: Campaign) -> None:
    tried(draft)
    for typed in ("", "delete", draft.name + "!"):
        refused = post(ann, "delete", draft, name=typed)
        assert refused.status_code == 422
        assert f"“{typed}” is not the name of this campaign" in refused.content.decode()
    assert Campaign.objects.filter(pk=draft.pk).exists()
    deleted = ann.post(reverse("delete", args=[draft.pk]), {"name": draft.name}, follow=True)
    assert f"The draft {draft.name} is deleted." in deleted.content.decode()
    assert post(ann, "delete", draft, name=draft.name).status_code == 404
    assert not Campaign.objects.exists()


def test_a_deleted_draft_leaves_no_row_but_those_of_the_audit_log(
    ann: Client, draft: Campaign
) -> None:
    tried(draft)
    other = make_campaign(state=Campaign.State.DRAFT)
    tried(other)
    post(ann, "settings", draft)
    post(ann, "delete", draft, name=draft.name)
    entry = AuditEntry.objects.get(action="campaign deleted")
    assert (entry.campaign_id, entry.actor, entry.detail["name"]) == (draft.pk, "ann", draft.name)
    assert list(audit.faults()) == []
    root = Client()
    root.force_login(get_user_model().objects.create_superuser("root"))
    assert root.get(f"/admin/webapp/auditentry/{entry.pk}/change/").status_code == 200
    for related in Campaign._meta.related_objects:
        if related.related_model is not AuditEntry:
            rows = related.related_model._default_manager
            assert not rows.filter(**{related.field.name: draft.pk}).exists()
    assert other.systems.count() == other.contexts.count() == other.items.count() == 1
    assert Conversation.objects.get().campaign == other
    assert Event.objects.count() == 1
    connection.check_constraints()


def test_a_draft_stays_while_a_reply_is_under_way(ann: Client, draft: Campaign) -> None:
    rehearsal.start(system=draft.systems.get(), by="ann", now=NOW)
    answer = ann.post(reverse("delete", args=[draft.pk]), {"name": draft.name}, follow=True)
    assert "Wait until it ends" in answer.content.decode()
    assert Campaign.objects.get() == draft
    assert "campaign deleted" not in actions()


# --- archiving --------------------------------------------------------------------------------


def test_an_archived_campaign_leaves_the_list_and_comes_back(ann: Client) -> None:
    campaign = make_campaign(state=Campaign.State.CLOSED, name="Old")
    make_campaign(name="New")
    for _ in range(2):
        assert post(ann, "archive", campaign).status_code == 302
    assert (listed(ann), listed(ann, "?archived=yes")) == ({"New"}, {"Old"})
    assert listed(ann, "?archived=all") == {"Old", "New"}
    assert ann.get(reverse("live", args=[campaign.pk])).status_code == 200
    Campaign.objects.exclude(pk=campaign.pk).update(archived_at=NOW)
    page = ann.get("/campaigns/").content.decode()
    assert "There is no campaign yet" not in page
    assert "No campaign matches" in page
    post(ann, "unarchive", Campaign.objects.get(name="New"))
    for _ in range(2):
        assert post(ann, "unarchive", campaign).status_code == 302
    assert listed(ann) == {"Old", "New"}
    mine = AuditEntry.objects.filter(campaign=campaign.pk).values_list("action", flat=True)
    assert list(mine) == ["campaign archived", "campaign unarchived"]


def test_a_launch_takes_a_draft_out_of_the_archive(
    ann: Client, draft: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "checklist", lambda *args: [])
    post(ann, "archive", draft)
    assert post(ann, "launch", draft).status_code == 302
    draft.refresh_from_db()
    assert (draft.state, draft.archived_at) == ("OPEN", None)


# --- filters ----------------------------------------------------------------------------------


def test_the_list_is_filtered_by_text_and_state(ann: Client) -> None:
    make_campaign(name="Spring pilot")
    make_campaign("meena_static", name="Autumn", state=Campaign.State.STOPPED)
    assert listed(ann, "?search=PILOT") == {"Spring pilot"}
    assert listed(ann, "?search=meena") == {"Autumn"}  # the protocol's title
    assert listed(ann, "?state=STOPPED") == {"Autumn"}
    assert listed(ann, "?state=STOPPED&search=pilot") == set()
    assert listed(ann, "?state=NONE&archived=maybe&search=%00") == {"Autumn", "Spring pilot"}
    page = ann.get("/campaigns/?search=nothing+at+all").content.decode()
    assert "No campaign matches the filters." in page
    assert 'value="nothing at all"' in page


def test_a_filter_goes_along_to_the_next_page(ann: Client) -> None:
    for number in range(51):
        make_campaign(name=f"Pilot {number}", personas=0)
    page = ann.get("/campaigns/?search=pilot").content.decode()
    assert 'href="?search=pilot&amp;page=2"' in page
    assert len(listed(ann, "?search=pilot&page=2")) == 1


# --- duplicating ------------------------------------------------------------------------------


def without_identity(campaign: Campaign) -> dict[str, Any]:
    plan = launch.plan_of(campaign)
    assert plan.pop("campaign") == {"name": campaign.name, "slug": campaign.slug}
    assert plan.pop("seed") == campaign.seed
    return plan


def everything(protocol: str) -> Campaign:
    """A campaign that was changed wherever a plan can show it."""
    campaign = make_campaign(
        protocol,
        pay="3.50",
        waiting_pay="0.20",
        minutes=17,
        return_url="https://panel.example.org/?cc={code}",
        quit_rule="MINIMUM",
        least_work=9,
        wait_seconds=77,
        reply_seconds=33,
        bot_when_alone=True,
        partner_left_counts=True,
        seed=7,
    )
    campaign.contexts.create(key="c1", messages=["Tea?", "Yes."])
    system = campaign.systems.get()
    system.options, system.sees_persona = {"opening": "Hi!"}, False
    system.version = {"model": "parrot", "parameters": "ab"}
    system.save()
    cell = system.cell
    cell.target, cell.completed = 23, 4
    cell.save()
    campaign.personas.update(taken=3)
    campaign.refresh_from_db()
    return campaign


@pytest.mark.parametrize("protocol", ["personachat_bot", "meena_static"])
def test_a_duplicate_s_plan_differs_in_name_slug_and_seed_only(ann: Client, protocol: str) -> None:
    source = everything(protocol)
    address = reverse("duplicate", args=[source.pk])
    first = ann.get(address).context["form"].typed()
    assert first["name"] == f"Copy of {source.name}"
    answer = ann.post(address, first | {"seed": "8"})
    made = Campaign.objects.get(name=first["name"])
    assert answer["Location"] == reverse("campaign", args=[made.pk])
    assert without_identity(made) == without_identity(source)
    assert (made.seed, made.state, made.plan, made.plan_hash) == (8, "DRAFT", None, "")
    assert made.slug != source.slug
    assert made.owner.get_username() == "ann"
    system, cell = made.systems.get(), made.systems.get().cell
    assert (system.rehearsal, cell.target, cell.completed) == ("UNTESTED", 23, 0)
    assert set(made.personas.values_list("taken", flat=True)) == {0}
    assert [p.order for p in made.personas.all()] != [p.order for p in source.personas.all()]
    assert made.participations.count() == made.conversations.count() == 0
    assert actions() == ["campaign duplicated"]


def test_messages_to_judge_come_along_but_for_those_withdrawn(ann: Client) -> None:
    source = third.labeling(third.chatted(2))
    third.judge_all(source, "rater")
    post(ann, "duplicate", source, name="Again", seed="8")
    made = Campaign.objects.get(name="Again")
    assert without_identity(made) == without_identity(source)
    assert set(made.items.values_list("completed", "reserved")) == {(0, 0)}
    assert {c.key for item in made.items.all() for c in item.candidates.all()} == {
        f"r{item.pk}" for item in made.items.all()
    }
    one = made.items.all()[0].conversation
    Participation.objects.filter(seats__conversation=one).update(excluded="A bot.")
    post(ann, "duplicate", source, name="Once more", seed="8")
    assert message_items.counts(Campaign.objects.get(name="Once more"))["conversations"] == 1


def test_a_double_click_makes_one_duplicate(ann: Client, campaign: Campaign) -> None:
    raw = {"name": "Again", "seed": "8"}
    answers = [post(ann, "duplicate", campaign, **raw) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert actions() == ["campaign duplicated"]
    post(ann, "duplicate", campaign, **raw | {"seed": "9"})
    assert Campaign.objects.filter(name="Again").count() == 2


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"name": "", "seed": "8"}, "Name: is empty"),
        ({"name": "x" * 121, "seed": "8"}, "Name: has 121 characters; write at most 120"),
        ({"name": "Again", "seed": "-1"}, "Random seed: “-1” is not a whole number from 0"),
    ],
)
def test_a_bad_duplicate_is_refused_and_keeps_what_was_typed(
    ann: Client, campaign: Campaign, raw: dict[str, str], complaint: str
) -> None:
    answer = post(ann, "duplicate", campaign, **raw)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert complaint in text
    assert f'value="{raw["name"]}"' in text
    assert Campaign.objects.get() == campaign
