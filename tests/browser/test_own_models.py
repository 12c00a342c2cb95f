"""An own model from the browser: a server and its key, the doors, a prompt, a preview, a try."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from bots.guards import egress
from tests.bots.chat_completions import Fake, running
from tests.browser.test_staff_pages import check, refused, sign_in
from tests.factories import NOW, make_campaign
from webapp.models import Campaign, ModelServer, ServerKey, System

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
__all__ = ["refused"]  # the fixture
PROMPT = "Be brief and kind.\n\nYou are:\n{{persona}}\n\n" + "Never mention the weather. " * 112


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake
    egress.enter(egress.Entered())


@pytest.fixture
def draft(page: Page, live_server: LiveServer, fake: Fake) -> Campaign:
    """An administrator's draft without a system."""
    sign_in(page, live_server)
    get_user_model().objects.update(is_superuser=True)
    campaign = make_campaign(state=Campaign.State.DRAFT)
    campaign.systems.get().cell.delete()
    campaign.systems.all().delete()
    return campaign


@pytest.mark.timeout(240)
def test_a_server_is_allowed_and_given_a_key(
    page: Page, live_server: LiveServer, refused: list[str], fake: Fake, draft: Campaign
) -> None:
    page.goto(f"{live_server.url}/servers/")
    page.get_by_label("Server", exact=True).fill("no server")
    page.get_by_role("button", name="Allow it").click()
    check(page, "servers-errors")
    page.get_by_label("Server", exact=True).fill(f"127.0.0.1:{fake.port}")
    page.get_by_label("A server of ours").check()
    page.get_by_role("button", name="Allow it").click()
    page.get_by_text("Enter a key").click()
    page.get_by_label("Name of the key").fill("lab-key")
    page.get_by_label("Key", exact=True).fill("k-0123456789")
    page.get_by_role("button", name="Store the key").click()
    check(page, "servers")
    assert ServerKey.objects.get().name == "lab-key"


@pytest.mark.timeout(240)
def test_a_model_is_set_up_previewed_and_tried(
    page: Page, live_server: LiveServer, refused: list[str], fake: Fake, draft: Campaign
) -> None:
    ModelServer.objects.create(
        server=f"127.0.0.1:{fake.port}", is_private=True, added_by="ann", added_at=NOW
    )
    page.goto(f"{live_server.url}/campaigns/{draft.pk}/")
    page.get_by_role("link", name="Choose a system").click()
    page.get_by_role("link", name="chat_server").click()
    page.get_by_label("Preset").select_option("persona")
    page.get_by_role("button", name="Fill in").click()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(re.compile("{{persona}}"))
    page.get_by_label("Address of the server").fill("http://127.0.0.1:1/v1")
    page.get_by_label("Model", exact=True).fill("good")
    page.get_by_label("Prompt", exact=True).fill(PROMPT.replace("persona", "personas"))
    page.get_by_label("Temperature").fill("")
    page.get_by_role("button", name="Add", exact=True).click()
    check(page, "own-model-errors")
    page.get_by_label("Address of the server").fill(fake.url)
    page.get_by_label("Prompt", exact=True).fill(PROMPT)
    page.get_by_role("button", name="Preview the requests").click()
    shown = json.loads(page.get_by_label("Request 1").inner_text())
    page.get_by_label("Message", exact=True).fill("Any pets?")
    _try(page)
    expect(page.locator("#attempt-shown")).to_contain_text("You said: Any pets?")
    check(page, "own-model-tried")
    assert shown["messages"][0] == fake.asked[0]["messages"][0]
    assert "temperature" not in shown
    page.get_by_label("Model", exact=True).fill("refuses")
    _try(page)
    expect(page.locator("#attempt-error")).to_contain_text("status 400: no field seed")
    page.get_by_label("Model", exact=True).press("Enter")  # saves, whatever button comes first
    page.wait_for_url(f"**/campaigns/{draft.pk}/")
    assert System.objects.get().options["told"] == PROMPT.strip()


def _try(page: Page) -> None:
    page.get_by_role("button", name="Try it").click()
