"""The protocol of a campaign: with what its requester changed, and once launched as it was then."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.utils.translation import get_language

from evaluation import Chat, Protocol
from evaluation.frozen import as_planned
from evaluation.registry import get_protocol
from evaluation.serialized import digest, from_json
from webapp import languages
from webapp.models import OwnProtocol
from webapp.services.rules.access import AnyCampaign

CONSENT = "consent"  # among the fields of a campaign's translations


@dataclass(frozen=True)
class _Planned:
    """The protocol of a plan, known by the plan's hash: the plan itself is read once."""

    plan_hash: str
    campaign: AnyCampaign = field(compare=False)

    @property
    def content(self) -> Mapping[str, Any] | None:
        return (self.campaign.plan or {}).get("protocol")


def original_of(campaign: AnyCampaign) -> Protocol:
    """Return the campaign's protocol as its source has it: a file's, or the stored version's."""
    return original(campaign.protocol, campaign.own_protocol_id)


@lru_cache(maxsize=256)
def original(name: str, own: uuid.UUID | None) -> Protocol:
    """Return a protocol by its name, or by the version that a requester stored."""
    return get_protocol(name) if own is None else from_json(_stored(own)["content"])


def identity_of(campaign: AnyCampaign) -> dict[str, Any]:
    """Return version and hash of the campaign's protocol; a file's has no version."""
    planned = (campaign.plan or {}).get("protocol")
    if planned:
        return {name: planned.get(name) for name in ("version", "sha256")}
    if (own := campaign.own_protocol_id) is None:
        return {"version": None, "sha256": digest(original_of(campaign))}
    return {name: _stored(own)[name] for name in ("version", "sha256")}


def _stored(own: uuid.UUID) -> dict[str, Any]:
    return dict(OwnProtocol.objects.values("version", "sha256", "content").get(pk=own))


def protocol_of(campaign: AnyCampaign) -> Protocol:
    """Return the campaign's protocol with the campaign's changes applied.

    Once the plan is frozen its words and values hold, whatever the protocol's file says since.
    """
    changes = json.dumps(campaign.changes, sort_keys=True)
    key = (campaign.protocol, campaign.own_protocol_id, changes)
    if not campaign.plan_hash:
        return _changed(*key)
    return _frozen(*key, _Planned(campaign.plan_hash, campaign))


def shown_protocol(campaign: AnyCampaign) -> Protocol:
    """Return the campaign's protocol as a participant is shown it, in the active language.

    Its words stay the source's, except for those that are translated into that language.
    """
    language = get_language() or languages.SOURCE
    return protocol_of(campaign).in_language(language, campaign.translations.get(language, {}))


def consent_of(campaign: AnyCampaign) -> str:
    """Return the text that is agreed to, in the active language where the requester has it."""
    language = get_language() or languages.SOURCE
    return campaign.translations.get(language, {}).get(CONSENT) or campaign.consent


@lru_cache(maxsize=256)
def _changed(name: str, own: uuid.UUID | None, changes: str) -> Protocol:
    return original(name, own).change(json.loads(changes))


@lru_cache(maxsize=256)
def _frozen(name: str, own: uuid.UUID | None, changes: str, planned: _Planned) -> Protocol:
    changed = _changed(name, own, changes)
    return as_planned(changed, planned.content) if planned.content else changed


def has_free_turns(campaign: AnyCampaign) -> bool:
    """Tell whether participants may write several messages in a row."""
    chat = protocol_of(campaign).chat
    return chat is not None and chat.turns == "free"


def is_endless(campaign: AnyCampaign) -> bool:
    """Tell whether conversations have no end: who leaves finds theirs again."""
    chat = protocol_of(campaign).chat
    return chat is not None and chat.endless


def task_of(protocol: Protocol) -> str:
    """Return what participants do, as `notices.TASKS` has it in words."""
    if protocol.chat is not None:
        return "rated_chat" if protocol.rates else _unrated(protocol.chat)
    if protocol.write is not None:
        return "write"
    rate = protocol.rates[0]
    if rate.over == "contexts":
        is_text = rate.messages[1] == 0
        return ("text" if is_text else "reply") + ("" if rate.show == "one" else "_pairs")
    return str(rate.over)


def _unrated(chat: Chat) -> str:
    if chat.brief is not None:
        return "sheet_chat"
    return "persona_chat" if chat.pool else "chat"


def collects(campaign: AnyCampaign) -> str:
    """Return `texts` that participants write, `answers`, or `conversations` that nobody rates."""
    protocol = protocol_of(campaign)
    if protocol.write is not None:
        return "texts"
    return "answers" if protocol.rates else "conversations"
