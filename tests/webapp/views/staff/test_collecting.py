"""Staff's pages by what a campaign collects: answers, texts, or conversations that nobody rates."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.views.staff.test_planner import shown
from webapp.models import Campaign
from webapp.services.participation import study_info
from webapp.services.results import computing, stored

pytestmark = pytest.mark.django_db
COLLECTED = {
    "personachat_bot": "answers",
    "meena_static": "answers",
    "personachat_personas": "texts",
    "personachat_revisions": "texts",
    "meena_human": "conversations",
    "live_engagement": "conversations",
}
SCORES, PLANNER = "Scores so far", "How much to collect"


def tab(name: str, campaign: Campaign) -> str:
    return f'<a href="{reverse(name, args=[campaign.pk])}"'


@pytest.mark.parametrize(("protocol", "collects"), COLLECTED.items())
def test_pages_speak_of_scores_and_systems_only_where_there_are_some(
    ann: Client, protocol: str, collects: str
) -> None:
    campaign = make_campaign(protocol)
    live = shown(ann, campaign, "live")
    assert (SCORES in live) == (collects == "answers")
    assert (tab("contributions", campaign) in live) == (collects == "texts")
    assert (tab("conversations", campaign) in live) == (collects != "texts")
    setup = shown(ann, campaign, "campaign")
    assert ('id="systems"' in setup) == (collects != "texts")
    draft = make_campaign(protocol, state=Campaign.State.DRAFT)
    assert (PLANNER in shown(ann, draft, "launch")) == (collects == "answers")


@pytest.mark.parametrize(("protocol", "collects"), COLLECTED.items())
def test_the_results_say_where_what_was_collected_is(
    ann: Client, protocol: str, collects: str
) -> None:
    campaign = make_campaign(protocol)
    shown(ann, campaign, "results")
    computing.compute_wanted(stored.subject_of(campaign))
    page = shown(ann, campaign, "results")
    assert ("Nobody has completed a rating" in page) == (collects == "answers")
    assert ("Here people write, and nobody rates." in page) == (collects == "texts")
    assert ("Here people talk, and nobody rates." in page) == (collects == "conversations")


@pytest.mark.parametrize(("batch", "told"), [(1, "before you have sent in a task"), (3, "below 3")])
def test_the_least_work_is_never_more_than_one_person_is_given(batch: int, told: str) -> None:
    campaign = make_campaign("personachat_personas", least_work=4, changes={"write.batch": batch})
    assert f"Nothing is paid {told}" in study_info.of(campaign).stopping


@pytest.mark.parametrize(
    ("protocol", "has_crisis", "has_tokens", "has_those_of_one"),
    [
        ("personachat_bot", True, True, True),
        ("meena_static", False, True, False),  # bots reply to contexts
        ("meena_second_panel", False, False, False),
        ("personachat_personas", False, False, False),
    ],
)
def test_a_form_asks_only_for_what_can_have_an_effect(
    ann: Client, protocol: str, has_crisis: bool, has_tokens: bool, has_those_of_one: bool
) -> None:
    page = ann.get(reverse("create-campaign", args=[protocol])).content.decode()
    asked = {
        name: f'name="{name}"' in page for name in ("crisis_text", "tokens", "conversation_tokens")
    }
    assert tuple(asked.values()) == (has_crisis, has_tokens, has_those_of_one)
    assert (">Writing</h2>" in page) == (protocol == "personachat_personas")
