"""The verdict on a receipt: signed here, known to the database, equal to what is stored (R39)."""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from django.conf import settings

from webapp.models import Assignment, Event, Receipt
from webapp.services.receipts import acknowledging, issuing, signed_file
from webapp.services.receipts.acknowledging import Acknowledged

LONGEST = 4_000
MOST = 1_000  # receipts of one file
BEGINS = re.compile(
    rf"\s+(?=(?:{issuing.VERSION}|{acknowledging.VERSION}|{signed_file.VERSION})\.)"
)


class ReceiptVerdict(StrEnum):
    """What became of a check."""

    FORGED = "forged"  # not signed by this server, or changed since
    UNKNOWN = "unknown"  # signed, and not in the database
    DIFFERS = "differs"  # the database has something else
    DELETED = "deleted"  # the database knows it; the words went with a withdrawal
    MATCHES = "matches"
    SIGNED = "signed"  # a file, line by line as it was handed out


VALID = (ReceiptVerdict.MATCHES, ReceiptVerdict.DELETED, ReceiptVerdict.SIGNED)


@dataclass(frozen=True)
class CheckedReceipt:
    """A verdict, and what the receipt states where it is signed."""

    verdict: ReceiptVerdict
    statement: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        return self.verdict in VALID


def check_all(text: str) -> list[CheckedReceipt]:
    """Return what is to be said of each receipt of a file; each begins on a line of its own."""
    found = ["".join(each.split()) for each in BEGINS.split(text.strip())[:MOST] if each.strip()]
    return [
        _check_file(each, found[:number])
        if each.startswith(f"{signed_file.VERSION}.")
        else check(each)
        for number, each in enumerate(found)
    ]


def check(text: str) -> CheckedReceipt:
    """Return what is to be said of a receipt, of an end or of one item.

    Line breaks and spaces in it do not count.
    """
    text = "".join(text.split())
    if text.startswith(f"{acknowledging.VERSION}."):
        return _check_item(text)
    stated = _signed(text)
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


def _check_file(line: str, above: Sequence[str]) -> CheckedReceipt:
    """Return what is to be said of the line that signs those above; the database has no part."""
    at = signed_file.signed_at(line, above)
    if at is None:
        return CheckedReceipt(ReceiptVerdict.FORGED)
    stated = {"kind": "file", "at": datetime.fromtimestamp(at, UTC).isoformat()}
    return CheckedReceipt(ReceiptVerdict.SIGNED, stated)


def is_of(statement: Mapping[str, Any], text: str) -> bool:
    """Tell whether a message's receipt is of these words, which the database may have lost."""
    is_message = statement.get("kind") == Event.Kind.MESSAGE
    return is_message and acknowledging.digest(statement["id"], [text]) == statement["digest"]


def _check_item(text: str) -> CheckedReceipt:
    """Return what is to be said of the receipt of one acknowledged item."""
    stated = acknowledging.read(text) if len(text) <= LONGEST else None
    if stated is None:
        return CheckedReceipt(ReceiptVerdict.FORGED)
    is_rating = stated.kind == acknowledging.RATING
    verdict = _of_rating(stated) if is_rating else _of_entry(stated)
    return CheckedReceipt(verdict, stated.statement())


def _of_entry(stated: Acknowledged) -> ReceiptVerdict:
    event = Event.objects.filter(conversation=stated.row, seq=stated.seq).first()
    if event is None:
        return ReceiptVerdict.UNKNOWN
    if (event.kind, str(event.client_id)) != (stated.kind, stated.item):
        return ReceiptVerdict.DIFFERS
    if event.content.get("withdrawn"):
        return ReceiptVerdict.DELETED
    return _compared(stated, acknowledging.content_of(event))


def _of_rating(stated: Acknowledged) -> ReceiptVerdict:
    done = Assignment.objects.filter(pk=stated.row, state=Assignment.State.DONE)
    assignment = done.select_related("participation").first()
    if assignment is None:
        return ReceiptVerdict.UNKNOWN
    if assignment.participation.withdrawn_at is not None:
        return ReceiptVerdict.DELETED
    return _compared(stated, acknowledging.answers_of(assignment.pk))


def _compared(stated: Acknowledged, content: list[Any]) -> ReceiptVerdict:
    is_same = acknowledging.digest(stated.item, content) == stated.digest
    return ReceiptVerdict.MATCHES if is_same else ReceiptVerdict.DIFFERS


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
