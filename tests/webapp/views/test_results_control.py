"""Results of a campaign with a control: scores with and without raters who failed it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.__main__ import main
from tests.factories import make_campaign, make_participation
from tests.webapp.services.rated import SCALES, judged
from webapp.models import Campaign, Conversation
from webapp.services.campaign import launch
from webapp.services.data import exports

pytestmark = pytest.mark.django_db
# Of seven raters two like the control and poor, and see nothing in good.
LIKES = {True: {"good": 4, "poor": 3, "noise": 1}, False: {"good": 1, "poor": 4, "noise": 4}}
FOUND = "Fluency: the order changes without 2 raters who failed the control"


@pytest.fixture
def controlled() -> Campaign:
    bots = dict.fromkeys(("good", "poor", "noise"), "parrot")
    campaign = make_campaign(systems=bots, personas=2)
    campaign.systems.filter(name="noise").update(is_control=True)
    campaign.plan = launch.plan_of(campaign)
    campaign.save()
    draw, now = random.Random(4), timezone.now()
    for number in range(7):
        person = make_participation(campaign, state="ENDED", outcome="COMPLETED")
        for system in campaign.systems.all():
            liked = LIKES[number > 1][system.name]
            for _ in range(3):
                talk = Conversation.objects.create(
                    campaign=campaign, system=system, seed=5, started_at=now, state="FINISHED"
                )
                scores = {name: liked + draw.randrange(2) for name in SCALES}
                judged(person, talk, scores | {"persona": "p1"})
    return campaign


def test_both_rankings_stand_on_the_page_with_n_of_each(
    client: Client, controlled: Campaign, settings: Any
) -> None:
    settings.RESULTS_SIMULATE = 0
    client.force_login(controlled.owner)
    page = client.get(reverse("results", args=[controlled.pk])).content.decode()
    assert FOUND in page
    table = page.split('id="control-fluency-title"')[1].split("</table>")[0]
    assert "n, all" in table
    assert "n, passed" in table
    rows = [row for row in table.split("<tr>") if "good" in row or "poor" in row]
    assert [(">21<" in row, ">15<" in row) for row in rows] == [(True, True)] * 2
    assert ">noise<" not in table
    assert "The control, noise, is set apart." in page


@pytest.mark.slow
def test_the_command_on_the_export_says_the_same(
    controlled: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.zip"
    with exports.download(campaign=controlled, by="ann", now=timezone.now()) as file:
        path.write_bytes(file.read())
    assert main([str(path), "--simulate", "0"]) == 0
    assert FOUND in capsys.readouterr().out


def test_a_campaign_has_one_control_at_most(client: Client) -> None:
    draft = make_campaign(state=Campaign.State.DRAFT)
    client.force_login(draft.owner)
    first = reverse("system", args=[draft.pk, draft.systems.get().pk])
    form = client.get(first).context["form"].typed()
    assert client.post(first, form | {"is_control": "true", "act": "save"}).status_code == 302
    assert launch.plan_of(draft)["systems"][0]["control"] is True
    assert client.get(first).context["form"]["is_control"].checked
    second = reverse("add-system", args=[draft.pk, "parrot"])
    typed = {**form, "name": "second", "is_control": "true", "act": "save"}
    refused = client.post(second, typed)
    assert refused.status_code == 422
    assert "“alpha” is the control already" in refused.content.decode()
    assert draft.systems.count() == 1
