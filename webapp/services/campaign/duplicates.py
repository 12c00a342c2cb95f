"""Duplicates: a new draft with another campaign's plan but for name, slug and seed.

Systems, settings, personas, contexts, consent, quotas and messages to judge come along as they are
now, so a launched campaign's amendments do too; whitelists come with the options of the systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model

from webapp.models import IMPORTED, Campaign, QuotaCell, System
from webapp.models.campaign import new_slug
from webapp.models.rating import WITHDRAWN
from webapp.services.campaign import (
    campaigns,
    message_items,
    taken_conversations,
    transcripts_import,
)
from webapp.services.rating import contexts
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign

Row = TypeVar("Row", bound=Model)
# A draft begins with none of it.
LIFE = (
    *("state", "plan", "plan_hash", "opened_at", "ended_at", "archived_at", "decided_at"),
    *("study", "phase"),
)
TRIAL = ("rehearsal", "rehearsal_note", "rehearsed_at")


def duplicate(*, campaign: AnyCampaign, name: str, seed: int, by: Any, now: datetime) -> Campaign:
    """Return a new draft; a repeat with the same name and seed returns the draft made before."""
    with transaction.atomic():
        source = Campaign.objects.select_for_update().get(pk=campaign.pk)
        made = Campaign.objects.filter(
            name=name,
            seed=seed,
            owner=by,
            protocol=source.protocol,
            own_protocol=source.own_protocol_id,
            state=Campaign.State.DRAFT,
        )
        if (same := made.exclude(pk=source.pk).first()) is not None:
            return same
        draft = _copy(
            source, **_first(Campaign(), LIFE), name=name, slug=new_slug(), seed=seed, owner=by
        )
        systems = _copy_systems(source, draft)
        _copy_materials(source, draft, systems, now)
        message_items.copy(source=source, draft=draft, systems=systems)
        transcripts_import.copy(source=source, draft=draft, now=now)
        taken_conversations.copy(source=source, draft=draft, systems=systems)
        audit.append(
            actor=by.get_username(),
            action="campaign duplicated",
            campaign=draft,
            now=now,
            source=source.pk,
        )
        return draft


def _first(blank: Model, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the values that these fields have in a new row."""
    return {field: getattr(blank, field) for field in fields}


def _copy(row: Row, **changes: Any) -> Row:
    """Return a new row with the same values but for `changes`."""
    values = {
        field.name: getattr(row, field.name)
        for field in row._meta.concrete_fields
        if not field.primary_key
    }
    made = type(row)(**values | changes)
    made.save(force_insert=True)
    return made


def _copy_systems(source: Campaign, draft: Campaign) -> dict[int, System]:
    """Copy systems with their quotas, to be rehearsed anew; return them by the number copied."""
    made: dict[int, System] = {}
    untested = _first(System(), TRIAL)
    for system in source.systems.select_related("cell").order_by("pk"):
        made[system.pk] = _copy(system, campaign=draft, **untested)
        QuotaCell.objects.create(system=made[system.pk], target=system.cell.target)
    return made


def _copy_materials(
    source: Campaign, draft: Campaign, systems: Mapping[int, System], now: datetime
) -> None:
    """Copy personas and contexts, these with the replies that were imported with them."""
    for persona in source.personas.exclude(sentences=[]).order_by("pk"):
        order = campaigns.persona_order(draft.seed, persona.key)
        _copy(persona, campaign=draft, order=order, taken=0)
    for context in source.contexts.order_by("pk"):
        copy = _copy(context, campaign=draft)
        replies = source.conversations.filter(context=context.key, system__bot=IMPORTED)
        copies = [
            contexts.FixedReply(
                copy,
                systems[reply.system_id],
                reply.events.get(in_reply_to__isnull=False).content["text"],
                reply.intended,
                reply.written,
            )
            for reply in replies.exclude(excluded=WITHDRAWN).order_by("pk")
        ]
        contexts.add_replies(copies, now=now)
