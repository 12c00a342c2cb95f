"""Somebody at a browser of their own, who keeps all that the server told them."""

from __future__ import annotations

import itertools
import json
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.services.people import bot_says
from webapp.models import Campaign, Participation
from webapp.services.replies import delivery
from webapp.services.rules import access

_ids = itertools.count(1)


class Visit:
    """One browser in one campaign; it keeps all that the server told it."""

    def __init__(self, campaign: Campaign, **options: Any) -> None:
        self.campaign = campaign
        self.client = Client(**options)
        self.base = f"/c/{campaign.slug}/"
        self.name = f"worker{next(_ids)}"
        self.told: list[str] = []

    def get(self, rest: str = "now", **options: Any) -> Any:
        return self.note(self.client.get(self.base + rest, **options))

    def post(self, rest: str, data: Any = None, **options: Any) -> Any:
        return self.note(self.client.post(self.base + rest, data or {}, follow=True, **options))

    def send(self, **frame: Any) -> list[dict[str, Any]]:
        body = json.dumps(frame)
        answer = self.post("frames?version=2", body, content_type="application/json")
        found: list[dict[str, Any]] = answer.json()["frames"]
        return found

    def note(self, response: Any) -> Any:
        self.told.append(response.content.decode())
        self.told += [str(response.headers), str(getattr(response, "redirect_chain", ""))]
        return response

    def join(self) -> Any:
        return self.post("consent", {"platform": "prolific", "external_id": self.name})

    @property
    def person(self) -> Participation:
        cookie = self.client.cookies[f"{settings.PARTICIPANT_COOKIE}-{self.campaign.slug}"]
        return access.participation(self.campaign.slug, cookie.value)


def campaign_of(protocol: str = "personachat_bot", **changes: Any) -> Campaign:
    wanted = {"name": "Secret name", "systems": {"alphasystem": "parrot"}} | changes
    return make_campaign(protocol, **wanted)


def rows() -> dict[str, int]:
    """Count every row there is."""
    models = apps.get_app_config("webapp").get_models()
    return {model.__name__: model._default_manager.count() for model in models}


def chat_through(visit: Visit, exchanges: int) -> None:
    for number in range(exchanges):
        said = visit.send(type="message", id=str(uuid4()), text=f"Hello number {number}")
        assert [frame["type"] for frame in said] == ["ack"]
        conversation = visit.person.seats.get(active=True).conversation
        delivery.drop(conversation)
        bot_says(conversation, "I see.")


def good_answers(page: Any) -> dict[str, str]:
    return {field.name: field.answer.options[0].value for field in page.context["fields"]}


def rating_visit(campaign: Campaign | None = None, **options: Any) -> Visit:
    visit = Visit(campaign or campaign_of(changes={"chat.minimum": [2]}), **options)
    visit.join()
    visit.post("start")
    chat_through(visit, 1)
    visit.send(type="finish", id=str(uuid4()))
    return visit


def text_of(client: Client, name: str, *arguments: Any, **query: str) -> str:
    """Return the page of a name, which must be there."""
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200
    return response.content.decode()
