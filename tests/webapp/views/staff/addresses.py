"""Every address of the project by its audience, filled in for a campaign: read from the urlconf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern

from webapp.models import Campaign, OwnProtocol, PayHold, ProblemReport, ReplyJob, Study, Whitelist
from webapp.views.audience import Audience, audience_of, is_of_admin, routes

NAMED = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>")  # Django's admin has expressions
OF_A_CAMPAIGN = {"submission", "system", "person", "flag", "job", "chat"}  # rows that belong to one


def resolved() -> dict[str, URLPattern]:
    """Return the pattern that answers each route: the first of those that are the same."""
    return dict(reversed([*routes()]))


def of(audience: Audience) -> list[str]:
    """Return an audience's routes, without those of Django's admin."""
    return [
        route
        for route, pattern in resolved().items()
        if audience_of(pattern.callback) is audience and not is_of_admin(route)
    ]


def names(route: str) -> set[str]:
    """Return what an address is made of."""
    return {found[1] or found[2] for found in NAMED.finditer(route)}


def filled(route: str, **values: Any) -> str:
    """Return a route's address; a KeyError names what `arguments` has no value for."""
    path = NAMED.sub(lambda found: str(values[found[1] or found[2]]), route)
    return "/" + re.sub(r"[\^$]", "", path)


def arguments(campaign: Campaign, route: str = "") -> dict[str, Any]:
    """Return a value for everything that addresses of staff are made of."""
    return _of_route(route, _rows(campaign))


def addresses(campaign: Campaign) -> Iterator[str]:
    """Yield the address of every page of staff."""
    rows = _rows(campaign)
    for route in of(Audience.STAFF):
        yield filled(route, **_of_route(route, rows))


def _of_route(route: str, rows: dict[str, Any]) -> dict[str, Any]:
    """Return the values, with those that are others at some routes."""
    talks = rows["talks"]
    return rows | {
        "key": "phases" if "study" in names(route) else "flow",
        "conversation_id": talks["REHEARSAL" if "chats/" in route else "STUDY"],
    }


def _rows(campaign: Campaign) -> dict[str, Any]:
    """Look up one row of everything; the `talks` are by their purpose."""
    return {
        "pk": campaign.pk,
        "system": campaign.systems.get().pk,
        "bot": "parrot",
        "server": 1,
        "server_key": 1,
        "own": OwnProtocol.objects.get().pk,
        "study": Study.objects.get().pk,
        "project": campaign.project_id,
        "guide": "first_study",
        "protocol": "personachat_bot",
        "action": "pause",
        "screen": "entry",
        "name": "summary",
        "whitelist": Whitelist.objects.get().pk,
        "person": campaign.participations.get().pk,
        "submission": campaign.panel_study.submissions.get().pk,
        "flag": campaign.flags.get().pk,
        "report": ProblemReport.objects.get(participation__campaign=campaign).pk,
        "hold": PayHold.objects.get(code__participation__campaign=campaign).pk,
        "job": ReplyJob.objects.get(conversation__campaign=campaign).pk,
        "talks": dict(campaign.conversations.values_list("purpose", "pk")),
    }
