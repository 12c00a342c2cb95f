"""Receipts: what a participation ended with, signed by this server (R39).

A receipt names the campaign, a public id that stands nowhere else, the pay, how much was stored and
a salted hash of the words themselves: it tells nothing about anybody. Those of one participation
are a chain. The salt goes with a withdrawal, and with it what the hash could be compared with.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import F

from webapp.models import CompletionCode, Contribution, Event, Participation, Rating, Receipt

VERSION = "PR1"
PURPOSE = b"parley.receipt"


def issue(
    person: Participation, code: CompletionCode | None, now: datetime, *, has_texts: bool = True
) -> Receipt | None:
    """Store the receipt of an end, in the transaction of the end; None where nothing was done.

    has_texts: whether the campaign asks for any.
    """
    messages, answers = _messages(person), _answers(person)
    texts = _texts(person) if has_texts else []
    if not (code or messages or answers or texts):
        return None
    last = person.receipts.order_by("number").last()
    row = Receipt(
        participation=person,
        public_id=last.public_id if last else secrets.token_hex(8),
        number=last.number + 1 if last else 1,
        salt=secrets.token_hex(16),
        has_code=code is not None,
        pay=code.amount if code else 0,
        messages=len(messages),
        answers=len(answers),
        texts=len(texts),
        previous=last.digest if last else "",
        made_at=now.replace(microsecond=0),
    )
    row.digest = _hash(row, code, [messages, answers, texts])
    row.save(force_insert=True)
    return row


def digest(row: Receipt) -> str:
    """Return the hash of what the database has now of all that a receipt covers."""
    person = row.participation
    codes = CompletionCode.objects.filter(participation=person, amount=row.pay)
    code = codes.first() if row.has_code else None
    stored = [
        _messages(person)[: row.messages],
        _answers(person)[: row.answers],
        _texts(person)[: row.texts],
    ]
    return _hash(row, code, stored)


def token(row: Receipt) -> str:
    """Return the receipt as its holder keeps it: what it states, and the signature."""
    content = _encoded(_canonical(statement(row)))
    return f"{VERSION}.{content}.{signature(content, settings.SECRET_KEY)}"


def latest(person: Participation) -> str:
    """Return a person's last receipt; "" where nothing was confirmed yet."""
    row = person.receipts.order_by("number").last()
    return token(row) if row else ""


def statement(row: Receipt) -> Mapping[str, Any]:
    """Return what a receipt says in clear."""
    person = row.participation
    return {
        "campaign": person.campaign.slug,
        "participation": row.public_id,
        "number": row.number,
        "at": row.made_at.isoformat(),
        "pay": f"{row.pay:.2f}",
        "currency": person.currency,
        "messages": row.messages,
        "answers": row.answers,
        "texts": row.texts,
        "digest": row.digest,
        "previous": row.previous,
    }


def signature(content: str, secret: str) -> str:
    """Return the HMAC-SHA-256 of an encoded statement, under a key of its own."""
    key = hmac.digest(secret.encode(), PURPOSE, hashlib.sha256)
    return _encoded(hmac.digest(key, f"{VERSION}.{content}".encode(), hashlib.sha256))


def _hash(row: Receipt, code: CompletionCode | None, stored: list[list[list[Any]]]) -> str:
    about = [row.public_id, row.number, row.previous, f"{row.pay:.2f}", code.code if code else ""]
    return hashlib.sha256(row.salt.encode() + _canonical([about, *stored])).hexdigest()


def _messages(person: Participation) -> list[list[Any]]:
    own = {"conversation__seats__participation": person, "conversation__seats__side": F("side")}
    rows = Event.objects.filter(kind=Event.Kind.MESSAGE, **own).order_by("pk")
    found = rows.values_list("conversation_id", "seq", "content")
    return [[conversation, seq, content.get("text")] for conversation, seq, content in found]


def _answers(person: Participation) -> list[list[Any]]:
    rows = Rating.objects.filter(assignment__participation=person).order_by("pk")
    return [list(row) for row in rows.values_list("pk", "question", "value", "revision")]


def _texts(person: Participation) -> list[list[Any]]:
    rows = Contribution.objects.filter(assignment__participation=person).order_by("pk")
    return [list(row) for row in rows.values_list("pk", "texts")]


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
