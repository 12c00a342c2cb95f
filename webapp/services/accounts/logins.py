"""Staff logins: attempts counted by user and by address, every outcome logged (S3, S15).

A browser that an account signed in with before is known by a signed cookie. Its attempts are
counted by themselves, so that nobody who guesses at a name keeps its owner out.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model, password_validation
from django.core import signing
from django.db import transaction
from django.db.models import Q
from django.utils.crypto import salted_hmac

from webapp.models import LoginAttempt
from webapp.services.accounts import first_passwords, projects
from webapp.services.rules import audit
from webapp.services.rules.access import Role, User

WINDOW = timedelta(minutes=1)
LIMITS = {"user": 5, "address": 20, "device": 5, "proof": 5}  # attempts within the window (S3)
HOUR = timedelta(hours=1)
PROOFS = 20  # codes of a second factor, or passwords, tried within the hour by who is half in
KNOWN = timedelta(days=180)  # since the latest login with a browser
DEVICE_SALT = "parley.device"
GENERATED = 16  # random bytes of a generated password


class TooMany(Exception):
    """Wait before the next attempt."""

    seconds = int(WINDOW.total_seconds())


class NoAccount(Exception):
    """There is no account of staff of this name."""


class NameTaken(Exception):
    """There is an account of this name."""


def attempt(*, username: str, address: str, now: datetime, device: str = "") -> None:
    """Count an attempt, then refuse it if it was one too many: written first, so no race passes.

    device: what a known browser is called (`device_of`), whose attempts count for it alone.
    """
    buckets = {
        "user": _bucket("user", _folded(username)),
        "address": _bucket("address", address),
    }
    _count({"device": _bucket("device", device)} if device else buckets, now)


def attempt_proof(*, user: User, device: str, now: datetime) -> None:
    """Count a code or password of somebody who has the password, or the session, already.

    Raises `TooMany` after five within a minute or 20 within an hour: a code has six digits.
    """
    bucket = _bucket("proof", f"{user.pk} {device}")
    _count({"proof": bucket}, now)
    if LoginAttempt.objects.filter(bucket=bucket, made_at__gte=now - HOUR).count() > PROOFS:
        raise TooMany


def _count(buckets: dict[str, str], now: datetime) -> None:
    old = LoginAttempt.objects.filter(made_at__lt=now - WINDOW)
    old.filter(~Q(bucket__startswith="proof:") | Q(made_at__lt=now - HOUR)).delete()
    LoginAttempt.objects.bulk_create(
        LoginAttempt(bucket=bucket, made_at=now) for bucket in buckets.values()
    )
    for kind, bucket in buckets.items():
        rows = LoginAttempt.objects.filter(bucket=bucket, made_at__gte=now - WINDOW)
        if rows.count() > LIMITS[kind]:
            raise TooMany


def new_device(username: str) -> str:
    """Return the cookie of a browser that has just signed in; it opens nothing by itself."""
    return signing.dumps([_folded(username), secrets.token_hex(8)], salt=DEVICE_SALT)


def device_of(cookie: str, username: str) -> str:
    """Return what a browser is called that this name signed in with, else nothing."""
    try:
        name, number = signing.loads(cookie, salt=DEVICE_SALT, max_age=KNOWN)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(number) if name == _folded(username) else ""


def client_address(remote: str, forwarded: str, proxies: int) -> str:
    """Return the client's address as the outermost of this many trusted proxies saw it."""
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-proxies] if 0 < proxies <= len(hops) else remote


def note(*, username: str, ok: bool, now: datetime, action: str = "") -> None:
    """Log the outcome of an attempt."""
    action = action or ("logged in" if ok else "login refused")
    audit.append(actor=username.replace("\0", "")[:150], action=action, campaign=None, now=now)


def new_password() -> str:
    """Return a password that nobody can guess."""
    return secrets.token_urlsafe(GENERATED)


def create_staff(
    *,
    username: str,
    password: str,
    superuser: bool,
    now: datetime,
    project: str = "",
    roles: Collection[Role] = (Role.ADMINISTRATOR,),
    is_drawn: bool = False,
    email: str = "",
) -> Any:
    """Create an account for the requester's pages; a weak password is refused.

    project: the one that it joins, by default one of its own, named as the account.
    is_drawn: whether the password was drawn here, so that the account's owner has to change it.
    email: where alarms are sent, if anywhere.
    Raises `LastAdministrator` where a new project would have no administrator.
    """
    users = get_user_model()
    if users.objects.filter(username=username).exists():
        raise NameTaken(username)
    user = users(username=username, is_staff=True, is_superuser=superuser, email=email)
    user.full_clean(exclude=["password"])
    password_validation.validate_password(password, user)
    user.set_password(password)
    with transaction.atomic():
        user.save()
        if is_drawn:
            first_passwords.note(user, now)
        projects.admit(account=user, name=project or username, roles=roles)
        about = {"project": project or username, "roles": projects.words(roles)}
        action = "staff account created"
        audit.append(actor=username, action=action, campaign=None, now=now, **about)
    return user


def draw_anew(*, username: str, now: datetime) -> str:
    """Give an account another first password, and return it; its sessions end.

    Raises `NoAccount`.
    """
    user: Any = get_user_model().objects.filter(username=username, is_staff=True).first()
    if user is None:
        raise NoAccount(username)
    password = new_password()
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        first_passwords.note(user, now)
        audit.append(actor=username, action="first password drawn anew", campaign=None, now=now)
    return password


def _folded(username: str) -> str:
    return username.strip().casefold()


def _bucket(kind: str, value: str) -> str:
    """Return a keyed hash: neither names that were tried nor addresses are stored (S14)."""
    return f"{kind}:{salted_hmac('parley.login', value, algorithm='sha256').hexdigest()[:40]}"
