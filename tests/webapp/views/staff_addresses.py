"""Every address of staff's pages, each filled in for a campaign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, reverse

from webapp.models import Campaign, ReplyJob
from webapp.views import (
    staff,
    staff_live,
    staff_messages,
    staff_review,
    staff_setup,
    staff_systems,
)

MODULES = (staff, staff_setup, staff_messages, staff_systems, staff_live, staff_review)
PATTERNS = [pattern for module in MODULES for pattern in module.urlpatterns]
OPEN_TO_ALL = {"login", "logout", None}
NAMES = sorted({p.name for p in PATTERNS if p.name and p.name not in OPEN_TO_ALL})


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
