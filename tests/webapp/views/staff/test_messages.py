"""ME-P3 on its pages: staff take the messages, who chatted is refused, others judge them blind."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.factories import NOW
from tests.webapp.services.third import MESSAGES, chatted, draft_of, labeling
from tests.webapp.views.visiting import Visit
from webapp import notices
from webapp.models import Campaign
from webapp.services.participation import enrolment

pytestmark = pytest.mark.django_db


def test_staff_take_messages_once_and_may_remove_them(ann: Client) -> None:
    source, draft = chatted(2), draft_of()
    address = reverse("messages", args=[draft.pk])
    setup = reverse("campaign", args=[draft.pk])
    assert "Add a system" not in ann.get(setup).content.decode()
    page = ann.get(address).content.decode()
    assert "2 finished conversations" in page
    assert f"Take all {2 * MESSAGES}" in page
    assert "without an id" not in page
    refused = ann.post(address, {"source": "0"})
    assert refused.status_code == 422
    assert "“0” is not one of the campaigns listed" in refused.content.decode()
    for systems in ([], ["people", "other"]):
        refused = ann.post(address, {"source": str(source.pk), "system": systems})
        assert "Systems: choose one or more of: people" in refused.content.decode()
    raw = {"source": str(source.pk), "system": ["people"]}
    taken = ann.post(address, raw, follow=True).content.decode()
    assert f"{2 * MESSAGES} were taken." in taken
    assert "Take " not in taken.partition("<main")[2]
    shown = ann.get(setup).content.decode()
    assert f"{2 * MESSAGES} messages of 2 conversations." in shown
    assert ann.get(reverse("launch", args=[draft.pk])).context["ready"]
    assert ann.post(address, {"action": "clear"}).status_code == 302
    assert draft.items.count() == 0


def test_people_without_an_id_are_told_of(ann: Client) -> None:
    source = chatted()
    person = source.participations.earliest("pk")
    person.external.platform = "volunteer"
    person.external.save()
    page = ann.get(reverse("messages", args=[draft_of().pk])).content.decode()
    assert "1 person who chatted came without an id" in page


def test_an_open_campaign_keeps_what_it_has(ann: Client) -> None:
    campaign = labeling(chatted())
    address = reverse("messages", args=[campaign.pk])
    assert ann.get(address).status_code == 200
    assert ann.post(address, {"action": "clear"}).status_code == 409
    assert campaign.items.count() == MESSAGES
    listed = ann.get(reverse("conversations", args=[campaign.pk])).content.decode()
    assert "were held in other campaigns" in listed
    assert address in listed


def test_an_id_of_who_chatted_is_refused_and_nothing_is_told_of_it() -> None:
    visit = Visit(labeling(chatted()))
    page = visit.post("consent", {"platform": "prolific", "external_id": "p0"})
    assert page.status_code == 409
    assert notices.text("claimed") in page.content.decode().replace("&#x27;", "'")
    nobody = {"platform": "volunteer", "external_id": "made up"}
    assert notices.text("needs_id") in visit.post("consent", nobody).content.decode()


def test_the_browser_in_which_somebody_chatted_is_refused() -> None:
    """Who chatted as a volunteer comes back, to judge, with a panel's id."""
    source = chatted()
    Campaign.objects.filter(pk=source.pk).update(state=Campaign.State.OPEN)
    source.refresh_from_db()
    known = {"platform": "prolific", "external_id": "p0"}
    _, secret = enrolment.join(
        campaign=source,
        platform=known["platform"],
        external_id=known["external_id"],
        language="en",
        now=NOW,
        is_proven=True,
    )
    visit = Visit(source)
    visit.client.cookies[f"{settings.PARTICIPANT_COOKIE}-{source.slug}"] = secret
    Campaign.objects.filter(pk=source.pk).update(state=Campaign.State.CLOSED)
    source.refresh_from_db()
    page = visit.client.post(
        f"/c/{labeling(source).slug}/consent", known | {"external_id": "another"}
    )
    assert page.status_code == 409
    assert notices.text("took_part") in page.content.decode().replace("&#x27;", "'")


def test_a_rater_judges_message_by_message_and_is_told_no_name() -> None:
    source = chatted()
    visit = Visit(labeling(source))
    visit.join()
    page = visit.post("start")
    for number in range(1, MESSAGES + 1):
        judging = page.context["screen"].form
        assert (judging.number, len(judging.lines)) == (number, number)
        sensible, specific = (field.name for field in page.context["fields"])
        assert visit.post("rate", {sensible: "0", specific: "1"}).status_code == 422
        page = visit.post("rate", {sensible: "1", specific: "0"})
    assert page.context["screen"].end.code
    told = " ".join(visit.told)
    secret = [source.name, source.slug, "human", "meena"]
    assert [word for word in secret if word in told] == []
    pseudonyms = source.participations.values_list("pseudonym", flat=True)
    assert not any(name[:8] in told for name in pseudonyms)
