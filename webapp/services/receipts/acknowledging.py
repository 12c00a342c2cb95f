"""Receipts of single acknowledgments: this server says that it stored one item, and when (R39).

Made of what the acknowledgment knows anyway, without a statement, and kept by whoever is handed it:
the database has no copy. The item's own random id salts the digest of its content, so a receipt
tells nothing to who does not know the words, and what is withdrawn is in no hash of the server's.
The number of the row is masked: receipts that are compared tell nothing about other people.
"""

from __future__ import annotations

import base64
import hmac
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

from django.conf import settings
from msgspec.json import Encoder

from webapp.models import Assignment, Event, Rating

VERSION = "PA1"
PURPOSES = (b"parley.ack.signature", b"parley.ack.row")
KINDS = {"message": ("text",), "label": ("of", "question", "value", "revision")}  # of Event.Kind
RATING = "rating"
NUMBER = 8  # bytes of a row's number
CANONICAL = Encoder(order="deterministic")


class Acknowledged(NamedTuple):
    """What a receipt of one item states; `row` is a conversation's number, or an assignment's."""

    kind: str  # message, label or rating
    seq: int  # of the entry; 0 of a rating
    at: int  # whole seconds since 1970, UTC
    item: str  # the id that its client gave it; of a rating one that the server drew
    digest: str  # SHA-256 over item and content, in hex
    row: int

    def statement(self) -> Mapping[str, Any]:
        """Return what is said in clear."""
        at = datetime.fromtimestamp(self.at, UTC).isoformat()
        seq = {"seq": self.seq} if self.seq else {}
        return {"kind": self.kind, **seq, "at": at, "id": self.item, "digest": self.digest}


@dataclass(frozen=True)
class StoredEntry:
    """What an acknowledgment says of a stored entry; `receipt` is "" where it gets none."""

    seq: int
    receipt: str


def stored(event: Event) -> StoredEntry:
    """Return what an acknowledgment says of a committed entry."""
    return StoredEntry(event.seq, of_event(event))


def of_event(event: Event) -> str:
    """Return the receipt of a stored message or label, "" for other entries."""
    if event.kind not in KINDS or event.client_id is None:
        return ""
    item = str(event.client_id)
    return _token(
        Acknowledged(
            event.kind,
            event.seq,
            int(event.made_at.timestamp()),
            item,
            digest(item, content_of(event)),
            event.conversation_id,
        )
    )


def of_assignment(assignment: Assignment) -> str:
    """Return the receipt of the answers to one form; each call draws another salt."""
    item = str(uuid.uuid4())
    at = int(assignment.done_at.timestamp()) if assignment.done_at else 0
    found = digest(item, answers_of(assignment.pk))
    return _token(Acknowledged(RATING, 0, at, item, found, assignment.pk))


def content_of(event: Event) -> list[Any]:
    """Return what the digest of an entry is over, in the order that docs/protocol.md names."""
    return [event.content.get(name) for name in KINDS[event.kind]]


def answers_of(assignment: int) -> list[Any]:
    """Return what the digest of a rating is over."""
    rows = Rating.objects.filter(assignment=assignment).order_by("pk")
    return [list(row) for row in rows.values_list("candidate__key", "question", "value")]


def digest(item: str, content: Sequence[Any]) -> str:
    """Return the SHA-256 of an id and a content, as compact JSON in UTF-8."""
    return sha256(CANONICAL.encode([item, *content])).hexdigest()


def read(text: str) -> Acknowledged | None:
    """Return what a receipt states; None where this server's keys did not sign it.

    Text is compared with text: another spelling of the same bytes is no receipt either.
    """
    parts = text.split(".")
    if len(parts) != len(("version", "kind", "seq", "at", "item", "digest", "masked", "signature")):
        return None
    _, kind, seq, at, item, found, masked, signature = parts
    if not (seq.isdecimal() and at.isdecimal() and text.isascii()):
        return None
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        row = int.from_bytes(_decoded(masked)) ^ _mask(signature, _keys(secret)[1])
        stated = Acknowledged(kind, int(seq), int(at), item, found, row)
        if hmac.compare_digest(_token(stated, secret).encode(), text.encode()):
            return stated
    return None


def _token(stated: Acknowledged, secret: str = "") -> str:
    """Return the receipt; keyed BLAKE2b (RFC 7693), the quickest that hashlib has, signs it."""
    signing, masking = _keys(secret or settings.SECRET_KEY)
    about = f"{VERSION}.{stated.kind}.{stated.seq}.{stated.at}.{stated.item}.{stated.digest}"
    signed = blake2b(f"{about}.{stated.row}".encode(), key=signing, digest_size=32)
    signature = _encoded(signed.digest())
    masked = _encoded((stated.row ^ _mask(signature, masking)).to_bytes(NUMBER))
    return f"{about}.{masked}.{signature}"


def _mask(signature: str, key: bytes) -> int:
    """Return what a row's number is hidden by: no two signatures have the same."""
    return int.from_bytes(blake2b(signature.encode(), key=key, digest_size=NUMBER).digest())


@lru_cache(maxsize=8)
def _keys(secret: str) -> tuple[bytes, bytes]:
    """Return the keys of signature and mask, which tell nothing of the secret's other uses."""
    first, second = (hmac.digest(secret.encode(), each, "sha256") for each in PURPOSES)
    return first, second


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    """Return up to 8 bytes; what is no base64 masks no number that was signed."""
    try:
        return base64.urlsafe_b64decode(f"{text[:11]}=")
    except ValueError:
        return b""
