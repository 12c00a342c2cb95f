"""The protocol of a campaign, with what its requester changed."""

from __future__ import annotations

from evaluation import Protocol
from evaluation.registry import get_protocol
from webapp.models import Campaign


def protocol_of(campaign: Campaign) -> Protocol:
    """Return the campaign's protocol with the campaign's changes applied."""
    return get_protocol(campaign.protocol).change(campaign.changes)
