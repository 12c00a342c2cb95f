"""Stop rule: chosen in the draft, frozen in the plan, told on the live page, and heeded once."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import NOW, make_campaign, make_context, make_participation
from tests.webapp.services.computed import computed
from webapp.models import (
    Assignment,
    AuditEntry,
    Campaign,
    Candidate,
    Conversation,
    Item,
    Rating,
    StoredResult,
)
from webapp.services.campaign import launch
from webapp.services.ops import sweeper
from webapp.services.results import computing

pytestmark = pytest.mark.django_db
RULE = {
    **{"stop_question": "sensible", "stop_difference": "0.5", "stop_alpha": "0.05"},
    **{"stop_margin": "", "stop_items": "", "stop_recruiting": ""},
}


def running(
    good: float, poor: float, *, contexts: int = 15, raters: int = 9, **rule: Any
) -> Campaign:
    """Return a launched campaign: each reply to each context judged by three of the raters."""
    columns = {"stop_question": "sensible", "stop_difference": "0.5", **rule}
    systems = {"good": "parrot", "poor": "parrot"}
    campaign = make_campaign("meena_static", systems=systems, personas=0, **columns)
    campaign.plan = launch.plan_of(campaign)
    campaign.save()
    draw, ratings = random.Random(3), []
    people = [make_participation(campaign) for _ in range(raters)]
    for number in range(contexts):
        chosen = draw.sample(people, 3)
        for system, share in zip(campaign.systems.order_by("pk"), (good, poor), strict=True):
            reply = _reply(campaign, system, f"k{number}")
            for person in chosen:
                done = Assignment.objects.create(
                    item=reply.item, participation=person, place=number, state="DONE", done_at=NOW
                )
                about = {"assignment": done, "candidate": reply, "made_at": NOW}
                value = int(draw.random() < share)
                ratings += [
                    Rating(question=each, value=value, **about) for each in ("sensible", "specific")
                ]
    Rating.objects.bulk_create(ratings)
    return campaign


def _reply(campaign: Campaign, system: Any, key: str) -> Candidate:
    talk = Conversation.objects.create(
        campaign=campaign, system=system, purpose="CONTEXT", context=key, seed=1,
        started_at=NOW, state="FINISHED",
    )  # fmt: skip
    item = Item.objects.create(
        campaign=campaign, key=f"{key}:{system.pk}", context=make_context(campaign, key), target=3
    )
    return Candidate.objects.create(
        item=item, key=f"r{item.pk}", conversation=talk, system=system, seq=2, side=1
    )


def told(client: Client, campaign: Campaign) -> str:
    return str(client.get(reverse("score-part", args=[campaign.pk])).content.decode())


def test_a_planted_difference_is_decided_and_the_page_only_advises(ann: Client) -> None:
    campaign = running(0.95, 0.15)
    page = told(ann, campaign)
    assert "Decided: every pair of systems." in page
    assert "decided (higher)" in page
    assert "This is advice: nothing is paused." in page
    campaign.refresh_from_db()
    assert (campaign.state, campaign.decided_at) == ("OPEN", None)


def test_equal_systems_are_not_decided(ann: Client) -> None:
    page = told(ann, running(0.5, 0.5))
    assert "Not yet: at least one pair of systems is open." in page
    assert "decided (" not in page


@pytest.mark.slow
def test_the_budget_and_what_is_too_small_to_matter_have_verdicts(ann: Client) -> None:
    page = told(ann, running(0.5, 0.5, stop_items=16))
    assert "Cannot be decided with this budget" in page
    assert "At most 16 items of each pair." in page
    assert "decided (equivalent)" in told(ann, running(0.99, 0.99, stop_margin="0.45"))


@pytest.mark.slow
def test_contexts_are_the_items_of_a_pair(ann: Client) -> None:
    page = told(ann, running(0.5, 0.5, contexts=9))
    row = page.split('id="stop-table"')[1].split("</tr>")[1]
    assert '<td class="num">9</td><td class="num">9</td>' in row.replace("\n", "")


def test_a_campaign_without_a_rule_has_no_verdict(ann: Client) -> None:
    assert "stop-table" not in told(ann, running(0.9, 0.1, contexts=2, stop_difference=None))


@pytest.mark.slow
def test_a_system_that_nobody_rated_yet_keeps_its_share_of_the_error(ann: Client) -> None:
    campaign = running(0.95, 0.15)
    assert campaign.plan is not None
    plan = campaign.plan | {
        "systems": [*campaign.plan["systems"], {"name": "new", "bot": "parrot"}]
    }
    Campaign.objects.filter(pk=campaign.pk).update(plan=plan)
    page = told(ann, campaign)
    assert "Not yet" in page
    assert page.count("no rater judged both") == 2


def test_a_decided_campaign_is_paused_once_where_its_plan_says_so(ann: Client) -> None:
    campaign = running(0.95, 0.15, stop_recruiting=True)
    page = told(ann, campaign)
    campaign.refresh_from_db()
    assert campaign.state == "PAUSED"
    assert campaign.decided_at is not None
    assert "The campaign was paused by its plan at" in page
    entry = AuditEntry.objects.latest("number")
    assert (entry.actor, entry.action) == ("stop rule", "campaign pause")
    assert entry.detail == {"reason": "every pair of systems is decided"}
    Campaign.objects.filter(pk=campaign.pk).update(state="OPEN")  # somebody resumed it
    computed(campaign, "scores")
    campaign.refresh_from_db()
    assert campaign.state == "OPEN"


@pytest.mark.slow
def test_the_sweeper_looks_where_no_page_is_open_and_at_most_once_a_minute() -> None:
    campaign = running(0.95, 0.15, contexts=12, stop_recruiting=True)
    running(0.95, 0.15, contexts=1)
    now = timezone.now()
    assert sweeper.tick(now)["looks"] == 1
    assert computing.compute_wanted(f"campaign-{campaign.pk}") == 1
    campaign.refresh_from_db()
    assert campaign.state == "PAUSED"
    assert sweeper.tick(now)["looks"] == 0
    undecided = running(0.5, 0.5, contexts=9, stop_recruiting=True)
    computed(undecided, "scores")
    last = Rating.objects.filter(assignment__item__campaign=undecided).first()
    assert last is not None
    last.delete()
    Campaign.objects.filter(pk=undecided.pk).update(archived_at=now)  # something is new
    assert sweeper.tick(timezone.now())["looks"] == 0
    StoredResult.objects.update(made_at=timezone.now() - timedelta(seconds=61))
    assert sweeper.tick(timezone.now())["looks"] == 1


def test_the_rule_is_chosen_in_the_draft_and_frozen(ann: Client) -> None:
    draft = make_campaign("meena_static", state=Campaign.State.DRAFT, personas=0)
    address = reverse("settings", args=[draft.pk])
    raw = ann.get(address).context["form"].typed() | {"consent": "You will rate replies. " * 3}
    refused = ann.post(address, raw | RULE | {"stop_items": "60"})
    assert refused.status_code == 302, refused.context["form"].errors
    plan = ann.get(reverse("plan", args=[draft.pk])).json()
    assert plan["stop_rule"] == {
        "question": "sensible",
        "difference": 0.5,
        "alpha": 0.05,
        "margin": None,
        "items": 60,
        "pauses": False,
        "own_raters": False,
    }
    assert ann.post(address, raw).status_code == 302
    assert ann.get(reverse("plan", args=[draft.pk])).json()["stop_rule"] is None


def test_participants_of_one_system_each_are_planned_as_such(ann: Client) -> None:
    draft = make_campaign("meena_static", state=Campaign.State.DRAFT, personas=0)
    address = reverse("settings", args=[draft.pk])
    raw = ann.get(address).context["form"].typed() | {"consent": "You will rate replies. " * 3}
    assert ann.post(address, raw | RULE | {"setting.rate.batch": "1"}).status_code == 302
    assert ann.get(reverse("plan", args=[draft.pk])).json()["stop_rule"]["own_raters"] is True


def test_systems_with_raters_of_their_own_are_decided_by_their_means(ann: Client) -> None:
    """The same ratings, each by a person of its own: nobody judged both systems."""
    campaign = running(0.95, 0.15)
    for assignment in Assignment.objects.filter(item__campaign=campaign):
        assignment.participation = make_participation(campaign)
        assignment.save()
    assert campaign.plan is not None
    assert "no rater judged both" in told(ann, campaign)
    rule = campaign.plan["stop_rule"] | {"own_raters": True}
    Campaign.objects.filter(pk=campaign.pk).update(plan=campaign.plan | {"stop_rule": rule})
    StoredResult.objects.all().delete()
    page = told(ann, campaign)
    assert "decided (higher)" in page
    assert "Each participant judges one system, so a pair is compared by the means" in page


@pytest.mark.parametrize(
    ("changes", "field", "complaint"),
    [
        ({"stop_difference": "x"}, "stop_difference", "“x” is not a number above 0"),
        ({"stop_alpha": "0.6"}, "stop_alpha", "“0.6” is not a number above 0 and up to 0.5"),
        ({"stop_margin": "0"}, "stop_margin", "“0” is not a number above 0"),
        ({"stop_items": "0"}, "stop_items", "“0” is not a whole number from 1"),
        ({"stop_question": "wit"}, "stop_question", "“wit” is not a question with a scale; write"),
        ({"stop_question": ""}, "stop_question", "write one of: sensible, specific"),
        ({"stop_difference": ""}, "stop_question", "there is no difference to be found"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_with_what_was_typed(
    ann: Client, changes: dict[str, str], field: str, complaint: str
) -> None:
    draft = make_campaign("meena_static", state=Campaign.State.DRAFT, personas=0)
    address = reverse("settings", args=[draft.pk])
    raw = ann.get(address).context["form"].typed()
    typed = {(f"setting.{name}" if "." in name else name): value for name, value in changes.items()}
    refused = ann.post(address, raw | RULE | typed)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert complaint in page
    assert f'href="#id_{field}"' in page
    draft.refresh_from_db()
    assert draft.stop_difference is None
