"""Proof that who has a session is its owner: the password, or a code of the second factor (S4)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from webapp.services.accounts import logins, second_factor
from webapp.services.rules import audit


def check(*, user: Any, password: str, code: str, device: str, now: datetime) -> bool:
    """Tell whether the password or the code is right; each attempt is counted and logged.

    Raises `logins.TooMany`.
    """
    logins.attempt_proof(user=user, device=device, now=now)
    ok = bool(password) and user.check_password(password)
    ok = ok or (bool(code) and second_factor.check(user=user, typed=code, now=now))
    action = "identity confirmed" if ok else "identity not confirmed"
    audit.append(actor=user.get_username(), action=action, campaign=None, now=now)
    return ok


def check_code(*, user: Any, code: str, device: str, now: datetime) -> bool:
    """Tell whether the second step of a login is right. Raises `logins.TooMany`."""
    logins.attempt_proof(user=user, device=device, now=now)
    return second_factor.check(user=user, typed=code, now=now)
