"""Addresses that alarms are mailed to: each account's own, used for nothing else (S13)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from webapp.services.rules import audit

LONGEST = 254  # characters, as the column has them


class BadAddress(ValueError):
    """No address that mail could be sent to."""


def parse(raw: str) -> str:
    """Return an address, or "" for none. Raises `BadAddress`."""
    address = raw.strip()
    try:
        if len(address) > LONGEST:
            raise BadAddress(f"has {len(address)} characters, {LONGEST} at most")
        if address:
            validate_email(address)
    except ValidationError:
        raise BadAddress("is no address such as ada@example.org") from None
    return address


def change(*, user: Any, raw: str, now: datetime) -> str:
    """Send an account's alarms elsewhere, or nowhere; return where. Raises `BadAddress`."""
    user.email = parse(raw)
    user.save(update_fields=["email"])
    audit.append(
        actor=user.get_username(), action="address of alarms changed", campaign=None, now=now
    )
    return str(user.email)
