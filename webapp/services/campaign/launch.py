"""Launching a campaign: the checklist must be green, then the plan is frozen and hashed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import tomllib
from datetime import datetime
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from evaluation import Protocol, Question
from webapp.models import Campaign, PowerPlan, System
from webapp.services.campaign import (
    campaigns,
    message_items,
    personas_import,
)
from webapp.services.campaign.checklist import LaunchCheck, checklist, raters
from webapp.services.rating import context_items, conversation_items, one_kind
from webapp.services.rules import audit, ledger, payment, states
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import identity_of, original_of, protocol_of
from webapp.services.staff_forms import source_settings, stop_rules
from webapp.services.writing import writing_items

# Of the plan. 8 had no `own_raters` of a stop rule; 7 had no `care`; 6 had no `stop_rule`, no
# `power`, and no `control` of a system; 5 had neither `arms` nor `tokens`; 4 had no `budget`; 3 had
# no `replies`, nor group and about of contexts, and `only_if` as a name; 2 had no `words`; 1 had no
# `provenance_text` and other names in a setting.
SCHEMA = 9
FEWEST_SYSTEMS = 2


class NotReady(Exception):
    """Some checks are red; nothing was changed."""

    def __init__(self, checks: list[LaunchCheck]) -> None:
        super().__init__("; ".join(f"{check.name}: {check.text}" for check in checks))
        self.checks = checks


class PlanChanged(Exception):
    """The plan is not the one that was looked at; nothing was changed."""


def launch(*, campaign: AnyCampaign, by: Any, now: datetime, looked_at: str = "") -> Campaign:
    """Freeze the plan and open the campaign; of two who launch at once one finds it open.

    looked_at: the hash of the plan that whoever launches has seen; empty for whichever it is.
    Raises `NotReady`, and `PlanChanged` where somebody changed the draft meanwhile.
    """
    with transaction.atomic():
        row = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if row.state == Campaign.State.DRAFT:
            if looked_at and looked_at != plan_hash(plan_of(row)):
                raise PlanChanged
            _prepare(row, now)
        plan = plan_of(row)
        digest = plan_hash(plan)
        ledger.begin(row)
        states.move(row, "open", plan=plan, plan_hash=digest, opened_at=now, archived_at=None)
        audit.append(
            actor=by.get_username(),
            action="campaign launched",
            campaign=row,
            now=now,
            plan_hash=digest,
        )
        return row


def plan_of(campaign: AnyCampaign) -> dict[str, Any]:
    """Return everything that shapes the campaign, as JSON holds it."""
    campaign = row_of(campaign)
    protocol = protocol_of(campaign)
    return {
        "schema": SCHEMA,
        "campaign": {"name": campaign.name, "slug": campaign.slug},
        "panel": campaign.panel,
        "protocol": _protocol(campaign),
        "systems": [
            _system(system, protocol) for system in campaign.systems.select_related("cell")
        ],
        "personas": [
            {"key": each.key, "split": each.split, "sha256": personas_import.digest(each)}
            for each in campaign.personas.order_by("key")
        ],
        "arms": arms(campaign),
        "contexts": _contexts(campaign),
        "replies": context_items.digests(campaign),
        "messages": message_items.digests(campaign),
        "consent": {"text": campaign.consent, "sha256": _sha256(campaign.consent)},
        "care": {
            "keep_days": campaign.keep_days,
            "crisis_text": campaign.crisis_text,
            "crisis_phrases": campaign.crisis_phrases,
        },
        "languages": campaign.languages,
        "contact": campaign.contact,
        "pay": _pay(campaign),
        "limits": _limits(campaign),
        "stop_rule": stop_rules.plan_of(campaign),
        "power": power_answer(campaign),
        "seed": campaign.seed,
        "versions": versions(),
    }


def _contexts(campaign: Campaign) -> list[dict[str, Any]]:
    return [
        {
            "key": each.key,
            "sha256": _sha256(canonical(each.messages)),
            "group": each.group,
            "about": each.about,
            "known": each.known,
        }
        for each in campaign.contexts.order_by("key")
    ]


def _limits(campaign: Campaign) -> dict[str, Any]:
    return {
        "wait_seconds": campaign.wait_seconds,
        "reply_seconds": campaign.reply_seconds,
        "troubled_percent": campaign.troubled_percent,
        "tokens": campaign.tokens,
        "token_cost": _written(campaign.token_cost),
        "conversation_tokens": campaign.conversation_tokens,
        "conversation_cost": _written(campaign.conversation_cost),
        "bot_when_alone": campaign.bot_when_alone,
        "partner_left_counts": campaign.partner_left_counts,
    }


def power_basis(campaign: Campaign) -> dict[str, Any]:
    """Return what of a draft goes into the answer: another value makes it an old one."""
    return {
        "systems": (systems := max(FEWEST_SYSTEMS, campaign.systems.count())),
        "each": (each := _ratings_of_each(protocol := protocol_of(campaign), systems)),
        "judges": min(each, systems) if stop_rules.judges_several(protocol) else 1,
        "pay": str(campaign.pay),
        "minutes": campaign.minutes,
        "currency": campaign.currency,
        "seed": campaign.seed,
    }


def _ratings_of_each(protocol: Protocol, systems: int) -> int:
    """Return how many ratings of a question that scores systems one participant gives."""
    if protocol.chat is not None or protocol.after is None:
        return protocol.chat.conversations if protocol.chat else 1
    together = {"one": 1, "pairs": 2, "all": systems}
    return protocol.batch * together[protocol.after.show]


def power_answer(campaign: Campaign) -> dict[str, Any] | None:
    """Return what simulation answered of the draft as it is; None where there is nothing."""
    row = PowerPlan.objects.filter(campaign=campaign.pk).first()
    if row is None or row.found is None or row.found["basis"] != power_basis(campaign):
        return None
    return row.found["plan"]  # type: ignore[no-any-return]


def arms(campaign: AnyCampaign) -> dict[str, str] | None:
    """Return by what raters are kept apart, and for how long; None where they are not."""
    kept = one_kind.keeps(campaign)
    return {"by": kept, "rule": one_kind.RULE} if kept else None


def _written(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def canonical(plan: Any) -> str:
    """Return JSON that is the same for the same content, whatever the order of its keys."""
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plan_hash(plan: Any) -> str:
    """Return the SHA-256 of the canonical JSON."""
    return _sha256(canonical(plan))


def versions() -> dict[str, str]:
    """Return the versions that a repetition of the study needs to know."""
    project = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text("utf-8"))
    return {
        "parley": str(project["project"]["version"]),
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "django": metadata.version("django"),
    }


def _prepare(campaign: Campaign, now: datetime) -> None:
    """Refuse what is not ready; items made before a last change get the raters it asks for."""
    red = [check for check in checklist(campaign, now) if not check.ok]
    if red:
        raise NotReady(red)
    rate = protocol_of(campaign).after
    context_items.make(campaign, at_launch=True)
    writing_items.make(campaign)
    conversation_items.make(campaign)
    if rate is not None and rate.is_shared:
        campaign.items.filter(known=False).update(target=rate.votes)


def _protocol(campaign: Campaign) -> dict[str, Any]:
    original, changed = original_of(campaign), protocol_of(campaign)
    return {
        "name": original.name,
        **identity_of(campaign),
        "title": original.title,
        "source": original.source,
        "instructions": list(original.instructions),
        "images": [dataclasses.asdict(image) for image in changed.images],
        "settings": source_settings.rows(original, campaign.changes, campaign.translations),
        "words": source_settings.word_rows(changed),
        "translations": campaign.translations,
        "steps": [_step(step) for step in changed.steps],
    }


def _step(step: Any) -> dict[str, Any]:
    """Return a step with the wording of everything it shows or checks."""
    plain = json.loads(json.dumps(dataclasses.asdict(step)))
    plain["step"] = type(step).__name__.lower()
    for name in ("checks", "questions", "each", "together"):
        parts = getattr(step, name) if name in plain else ()
        for part, about in zip(parts, plain.get(name, ()), strict=True):
            about["type"] = type(part).__name__
            if isinstance(part, Question):
                about["offer"] = part.offer()
    return dict(plain)


def _system(system: System, protocol: Protocol) -> dict[str, Any]:
    return {
        "name": system.name,
        "bot": system.bot,
        "options": system.options,
        "sees_persona": system.sees_persona,
        "control": system.is_control,
        "target": system.cell.target,
        "raters": raters(system, protocol),
        "version": system.version,
    }


def _pay(campaign: Campaign) -> dict[str, Any]:
    return {
        "amount": str(campaign.pay),
        "waiting": str(campaign.waiting_pay),
        "screening": str(campaign.screening_pay),
        "budget": str(ledger.books(campaign).budget),
        "currency": campaign.currency,
        "minutes": campaign.minutes,
        "hourly": str(campaigns.hourly(campaign.pay, campaign.minutes)),
        "return_url": campaign.return_url,
        "screened_url": campaign.screened_url,
        "stopping": payment.rule_of_stopping(campaign),
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
