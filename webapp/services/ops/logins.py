"""Staff logins: attempts counted by user and by address, every outcome logged (S3, S15)."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY, get_user_model, password_validation
from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import salted_hmac

from webapp.models import LoginAttempt
from webapp.services.rules import audit

WINDOW = timedelta(minutes=1)
LIMITS = {"user": 5, "address": 20}  # attempts within the window (S3)
GENERATED = 16  # random bytes of a generated password


class TooMany(Exception):
    """Wait before the next attempt."""

    seconds = int(WINDOW.total_seconds())


class NameTaken(Exception):
    """There is an account of this name."""


def attempt(*, username: str, address: str, now: datetime) -> None:
    """Count an attempt, then refuse it if it was one too many: written first, so no race passes."""
    buckets = {
        "user": _bucket("user", username.strip().casefold()),
        "address": _bucket("address", address),
    }
    LoginAttempt.objects.filter(made_at__lt=now - WINDOW).delete()
    LoginAttempt.objects.bulk_create(
        LoginAttempt(bucket=bucket, made_at=now) for bucket in buckets.values()
    )
    for kind, bucket in buckets.items():
        rows = LoginAttempt.objects.filter(bucket=bucket, made_at__gte=now - WINDOW)
        if rows.count() > LIMITS[kind]:
            raise TooMany


def client_address(remote: str, forwarded: str, proxies: int) -> str:
    """Return the client's address as the outermost of this many trusted proxies saw it."""
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-proxies] if 0 < proxies <= len(hops) else remote


def is_signed_in(key: str) -> bool:
    """Tell whether the session of a cookie is of an account, by one query."""
    return SESSION_KEY in SessionStore(key).load()


def note(*, username: str, ok: bool, now: datetime) -> None:
    """Log the outcome of an attempt."""
    action = "logged in" if ok else "login refused"
    audit.append(actor=username.replace("\0", "")[:150], action=action, campaign=None, now=now)


def new_password() -> str:
    """Return a password that nobody can guess."""
    return secrets.token_urlsafe(GENERATED)


def create_staff(*, username: str, password: str, superuser: bool, now: datetime) -> Any:
    """Create an account for the requester's pages; a weak password is refused."""
    users = get_user_model()
    if users.objects.filter(username=username).exists():
        raise NameTaken(username)
    user = users(username=username, is_staff=True, is_superuser=superuser)
    user.full_clean(exclude=["password"])
    password_validation.validate_password(password, user)
    user.set_password(password)
    user.save()
    audit.append(actor=username, action="staff account created", campaign=None, now=now)
    return user


def _bucket(kind: str, value: str) -> str:
    """Return a keyed hash: neither names that were tried nor addresses are stored (S14)."""
    return f"{kind}:{salted_hmac('parley.login', value, algorithm='sha256').hexdigest()[:40]}"
