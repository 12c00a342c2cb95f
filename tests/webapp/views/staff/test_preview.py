"""Previews: a participant's own pages with sample words, from which nothing can be sent."""

from __future__ import annotations

from html import unescape

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from evaluation.registry import get_protocol, protocol_names
from tests.factories import make_campaign
from webapp.models import Campaign
from webapp.services.participation import samples

pytestmark = pytest.mark.django_db
STATES = pytest.mark.parametrize("state", [Campaign.State.DRAFT, Campaign.State.OPEN])


def shown(client: Client, campaign: Campaign, name: str) -> str:
    answer = client.get(reverse("preview-page", args=[campaign.pk, name]))
    assert answer.status_code == 200, name
    return unescape(answer.content.decode())


def counts() -> dict[str, int]:
    models = apps.get_app_config("webapp").get_models()
    return {model.__name__: model._default_manager.count() for model in models}


@STATES
@pytest.mark.parametrize("protocol", protocol_names())
def test_every_page_of_every_protocol_is_shown_and_nothing_is_stored(
    ann: Client, protocol: str, state: str
) -> None:
    campaign = make_campaign(protocol, state=state)
    before, about = counts(), get_protocol(protocol)
    overview = ann.get(reverse("preview", args=[campaign.pk])).content.decode()
    pages = {name: shown(ann, campaign, name) for name in samples.pages(about)}
    assert counts() == before
    assert all(f'href="?page={name}"' in overview for name in pages)
    assert "I agree and take part" in pages["entry"]
    assert "takes no new participants" not in pages["entry"]
    assert all(line in pages["ready"] for line in about.instructions)
    assert ("chat" in pages, "rate" in pages) == (about.chat is not None, about.after is not None)
    for question in about.after.each if about.after else ():
        assert question.text in pages["rate"]
    assert samples.CODE in pages["ended"]


def test_the_chat_has_a_persona_of_the_campaign_and_a_sample_conversation(ann: Client) -> None:
    campaign = make_campaign(state=Campaign.State.DRAFT)
    page = shown(ann, campaign, "chat")
    assert campaign.personas.get(key="p0").sentences[0] in page
    assert samples.dialogue()[0].text in page
    assert "chat.js" not in page
    campaign.personas.all().delete()
    assert shown(ann, campaign, "chat").count("<li dir=") == 5  # a sample stands in


def test_changed_settings_are_shown(ann: Client) -> None:
    campaign = make_campaign(state="DRAFT", pay="3.21", minutes=17, consent="We keep **nothing**.")
    entry = shown(ann, campaign, "entry")
    assert "3.21 USD" in entry
    assert "17 min" in entry
    assert "We keep <strong>nothing</strong>." in entry


def test_nothing_can_be_sent_from_a_preview_and_only_our_pages_frame_it(
    ann: Client, draft: Campaign
) -> None:
    answer = ann.get(reverse("preview-page", args=[draft.pk, "entry"]))
    policy = answer["Content-Security-Policy"]
    for directive in ("form-action 'none'", "connect-src 'none'", "frame-ancestors 'self'"):
        assert directive in policy
    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    outer = ann.get(reverse("preview", args=[draft.pk]))
    assert "frame-src 'self'" in outer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in outer["Content-Security-Policy"]
    other = ann.get(reverse("campaign", args=[draft.pk]))["Content-Security-Policy"]
    assert "frame-src" not in other


@pytest.mark.parametrize("name", ["chat", "nothing", "waiting"])
def test_a_page_that_the_protocol_does_not_have_is_not_found(ann: Client, name: str) -> None:
    static = make_campaign("meena_static", state="DRAFT")
    assert ann.get(reverse("preview-page", args=[static.pk, name])).status_code == 404
    overview = ann.get(reverse("preview", args=[static.pk]) + f"?page={name}")
    assert overview.context["chosen"] == "entry"
