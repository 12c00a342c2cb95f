"""The verdict on a receipt: signed here, known to the database, equal to what is stored (R39)."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.conf import settings

from webapp.models import Receipt
from webapp.services.receipts import issuing

LONGEST = 4_000


class ReceiptVerdict(StrEnum):
    """What became of a check."""

    FORGED = "forged"  # not signed by this server, or changed since
    UNKNOWN = "unknown"  # signed, and not in the database
    DIFFERS = "differs"  # the database has something else
    DELETED = "deleted"  # the database knows it; the words went with a withdrawal
    MATCHES = "matches"


@dataclass(frozen=True)
class CheckedReceipt:
    """A verdict, and what the receipt states where it is signed."""

    verdict: ReceiptVerdict
    statement: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        return self.verdict in (ReceiptVerdict.MATCHES, ReceiptVerdict.DELETED)


def check(text: str) -> CheckedReceipt:
    """Return what is to be said of a receipt; line breaks and spaces in it do not count."""
    stated = _signed("".join(text.split()))
    if stated is None:
        return CheckedReceipt(ReceiptVerdict.FORGED)
    rows = Receipt.objects.select_related("participation__campaign")
    row = rows.filter(public_id=stated["participation"], number=stated["number"]).first()
    if row is None:
        return CheckedReceipt(ReceiptVerdict.UNKNOWN, stated)
    if issuing.statement(row) != stated:
        return CheckedReceipt(ReceiptVerdict.DIFFERS, stated)
    if not row.salt:
        return CheckedReceipt(ReceiptVerdict.DELETED, stated)
    is_same = issuing.digest(row) == row.digest
    return CheckedReceipt(ReceiptVerdict.MATCHES if is_same else ReceiptVerdict.DIFFERS, stated)


def _signed(text: str) -> Mapping[str, Any] | None:
    """Return what a receipt states; None where the signature is not this server's.

    Text is compared with text: another spelling of the same bytes is no receipt either.
    """
    version, _, rest = text.partition(".")
    content, _, signature = rest.partition(".")
    if version != issuing.VERSION or not text.isascii() or len(text) > LONGEST:
        return None
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        right = issuing.signature(content, secret)
        if hmac.compare_digest(right.encode(), signature.encode()):
            found: Mapping[str, Any] = json.loads(base64.urlsafe_b64decode(content + "=="))
            return found
    return None


def faults() -> Iterator[tuple[int, str]]:
    """Yield a campaign and a sentence for each receipt whose words or chain are no longer so."""
    rows = Receipt.objects.select_related("participation__campaign")
    last: Receipt | None = None
    for row in rows.order_by("participation", "number").iterator():
        before = last if last and last.participation_id == row.participation_id else None
        name = f"receipt {row.number} of participation {row.participation_id}"
        key = row.participation.campaign_id
        if row.previous != (before.digest if before else ""):
            yield key, f"{name}: the one before it is missing or was replaced"
        if row.salt and (found := issuing.digest(row)) != row.digest:
            yield (
                key,
                f"{name}: its digest is {row.digest[:12]}, the stored words have {found[:12]}",
            )
        last = row
