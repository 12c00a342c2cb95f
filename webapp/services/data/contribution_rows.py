"""Rows of what participants wrote, one per text: a sentence of a persona, a reply, a paraphrase.

Apart because it joins what was written with what it was written about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webapp.models import Campaign
from webapp.services.data import tables
from webapp.services.rules.protocols import protocol_of
from webapp.services.writing import decisions, writing_items

CHUNK = 500


def contribution_rows(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield a row per text, in the order of contributions; what was withdrawn is absent."""
    write = protocol_of(campaign).write
    if write is None:
        return
    rows = decisions.of_campaign(campaign).select_related("assignment__item__context")
    for row in rows.iterator(chunk_size=CHUNK):
        person, item = row.assignment.participation, row.assignment.item
        conversation, seq = writing_items.message_of(item) or ("", "")
        for number, pair in enumerate(decisions.pairs(row), start=1):
            yield {
                "contribution": str(row.pk),
                "campaign": tables.name_of(campaign),
                "protocol": campaign.protocol,
                "makes": write.makes,
                "participant": person.pseudonym,
                "about": decisions.about(row),
                "conversation": str(conversation),
                "message_seq": str(seq),
                "split": writing_items.split_of(item),
                "number": number,
                "original": pair.original,
                "text": pair.text,
                "state": row.state,
                "reason": row.reason,
                "made_at": row.made_at.isoformat(),
                "decided_at": row.decided_at.isoformat() if row.decided_at else "",
                "excluded": person.excluded,
            }
