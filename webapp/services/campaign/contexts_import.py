"""Importing contexts for a static protocol: previewed like personas, stored when all are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from bots.datasets import contexts as dataset
from webapp.models import Context
from webapp.services.campaign import campaigns
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.pasted import (
    BadRow,
    PastedRow,
    Preview,
    checked,
    content,
    json_rows,
    key_of,
    limited,
    texts_of,
    without_repeats,
)

MOST_SHOWN = 500


class AlreadyAnswered(Exception):
    """Replies to the contexts were collected: they cannot be taken away."""


@dataclass(frozen=True)
class ContextDraft:
    """A context that is not stored yet."""

    messages: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.messages)


@dataclass(frozen=True)
class StoredContext:
    """A context of a campaign as its page lists it."""

    key: str
    messages: tuple[str, ...]


def preview(*, campaign: AnyCampaign, text: str) -> Preview[ContextDraft]:
    """Read pasted JSON Lines."""
    here = _("in this campaign")
    known: dict[str, str] = {}
    for context in row_of(campaign).contexts.all():
        known |= {context.key: here, content("\n".join(context.messages)): here}
    return limited(list(without_repeats(json_rows(checked(text), _parse), known)))


def store(*, campaign: AnyCampaign, text: str, by: Any, now: datetime) -> int:
    """Store what a preview found right; refuses all where one row is wrong."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        found = preview(campaign=row, text=text)
        if not found.good:
            raise Invalid({"text": _("has rows that are wrong; correct them first")})
        Context.objects.bulk_create(
            [
                Context(campaign=row, key=each.key, messages=list(each.value.messages))
                for each in found.rows
                if each.value
            ],
            batch_size=500,
        )
        _note(row, by, "contexts imported", now, len(found.rows))
        return len(found.rows)


def bundled() -> str:
    """Return the contexts that come with Parley as JSON Lines."""
    records = (
        {"id": each.id, "messages": [turn.text for turn in each.turns]} for each in dataset.read("")
    )
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove a draft's contexts, unless replies to them were collected."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if row.conversations.exclude(context="").exists():
            raise AlreadyAnswered
        count, _kinds = row.contexts.all().delete()
        _note(row, by, "contexts removed", now, count)
        return count


def stored(campaign: AnyCampaign) -> list[StoredContext]:
    """Return the campaign's contexts, the first ones of many."""
    rows = Context.objects.filter(campaign=campaign.pk).order_by("id")[:MOST_SHOWN]
    return [StoredContext(row.key, tuple(row.messages)) for row in rows]


def count(campaign: AnyCampaign) -> int:
    """Count the campaign's contexts."""
    return Context.objects.filter(campaign=campaign.pk).count()


def _parse(record: Mapping[str, Any]) -> PastedRow[ContextDraft]:
    messages = texts_of(record, "messages")
    if not 1 <= len(messages) <= dataset.LONGEST:
        raise BadRow(
            _("has %(count)d messages; it must have 1 to %(most)d")
            % {"count": len(messages), "most": dataset.LONGEST}
        )
    if any(len(message) > settings.MAX_MESSAGE_CHARACTERS for message in messages):
        raise BadRow(
            _("has a message of more than %(most)d characters")
            % {"most": settings.MAX_MESSAGE_CHARACTERS}
        )
    return PastedRow(0, key_of(record), ContextDraft(messages))


def _note(campaign: AnyCampaign, by: Any, action: str, now: datetime, count: int) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now, count=count)
