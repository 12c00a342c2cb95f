"""Translations of an instrument's words: entered by its requester, field by field.

What is left empty stays as the source has it. In a campaign they are a departure from the source,
which plan, codebook and report name; in an own protocol they are part of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from evaluation import Chat
from evaluation.soundness import LONGEST_TEXT
from evaluation.words import words_of
from webapp.models import Campaign, OwnProtocol
from webapp.services.campaign import campaigns, own_protocols
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, StaffProtocol
from webapp.services.rules.protocols import CONSENT, protocol_of

OPENING = f"{Chat.prefix}.opening"  # a message, which is stored as it was sent
LONGEST_CONSENT = 20_000


@dataclass(frozen=True)
class SourceText:
    """A text to translate: its field, its words, and how long a translation may be."""

    field: str
    words: str
    most: int = LONGEST_TEXT


def texts_of_campaign(campaign: AnyCampaign) -> list[SourceText]:
    """Return the words of the campaign's instrument, and its consent."""
    words = _texts(words_of(protocol_of(campaign)))
    return [*words, SourceText(CONSENT, campaign.consent, LONGEST_CONSENT)]


def texts_of_protocol(own: StaffProtocol) -> list[SourceText]:
    """Return the words of an own protocol."""
    return _texts(words_of(own_protocols.protocol_of(own)))


def store(
    *, campaign: AnyCampaign, language: str, texts: Mapping[str, str], by: Any, now: datetime
) -> Campaign:
    """Store a draft's translations into a language. Raises `campaigns.NotDraft`."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        row.translations = _with(row.translations, language, texts)
        row.save(update_fields=["translations"])
        count = len(row.translations.get(language, ()))
        audit.append(
            actor=by.get_username(),
            action="words translated",
            campaign=row,
            now=now,
            language=language,
            texts=count,
        )
        return row


def store_labels(
    *, own: StaffProtocol, language: str, texts: Mapping[str, str], by: Any, now: datetime
) -> OwnProtocol:
    """Store an own protocol's labels in a language as its next version.

    Raises `own_protocols.Newer` where there is one already.
    """
    protocol = own_protocols.protocol_of(own)
    labels = _with(protocol.translations, language, texts)
    labeled = replace(protocol, translations=labels)
    return own_protocols.change(own=own, protocol=labeled, latest_known=own.version, by=by, now=now)


def _texts(words: list[tuple[str, Any]]) -> list[SourceText]:
    return [SourceText(field, str(text)) for field, text in words if field != OPENING]


def _with(
    before: Mapping[str, Mapping[str, str]], language: str, texts: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return translations with those of a language replaced; a language without any goes out."""
    kept = {field: text for field, text in texts.items() if text}
    every = {code: dict(found) for code, found in before.items()} | {language: kept}
    return {code: found for code, found in every.items() if found}
