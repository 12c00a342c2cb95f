"""The protocol of a campaign: with what its requester changed, and once launched as it was then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from evaluation import Protocol
from evaluation.frozen import as_planned
from evaluation.registry import get_protocol
from webapp.services.rules.access import AnyCampaign


@dataclass(frozen=True)
class _Planned:
    """The protocol of a plan, known by the plan's hash."""

    plan_hash: str
    content: Mapping[str, Any] = field(compare=False)


def protocol_of(campaign: AnyCampaign) -> Protocol:
    """Return the campaign's protocol with the campaign's changes applied.

    Once the plan is frozen its words and values hold, whatever the protocol's file says since.
    """
    changes = json.dumps(campaign.changes, sort_keys=True)
    planned = (campaign.plan or {}).get("protocol")
    if not planned or not campaign.plan_hash:
        return _changed(campaign.protocol, changes)
    return _frozen(campaign.protocol, changes, _Planned(campaign.plan_hash, planned))


@lru_cache(maxsize=256)
def _changed(name: str, changes: str) -> Protocol:
    return get_protocol(name).change(json.loads(changes))


@lru_cache(maxsize=256)
def _frozen(name: str, changes: str, planned: _Planned) -> Protocol:
    return as_planned(_changed(name, changes), planned.content)
