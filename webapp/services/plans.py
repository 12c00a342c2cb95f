"""The protocol of a campaign, with what its requester changed."""

from __future__ import annotations

import json
from functools import lru_cache

from evaluation import Protocol
from evaluation.registry import get_protocol
from webapp.models import Campaign


def protocol_of(campaign: Campaign) -> Protocol:
    """Return the campaign's protocol with the campaign's changes applied."""
    return _changed(campaign.protocol, json.dumps(campaign.changes, sort_keys=True))


@lru_cache(maxsize=256)
def _changed(name: str, changes: str) -> Protocol:
    return get_protocol(name).change(json.loads(changes))
