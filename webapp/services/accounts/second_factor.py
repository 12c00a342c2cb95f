"""Second factor of an account: codes of an app on a phone, and codes for when that is lost (S4)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from webapp.models import RecoveryCode, SecondFactor
from webapp.services.accounts import totp
from webapp.services.rules import audit
from webapp.services.rules.access import User

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

ISSUER = "Parley"
CODES = 10
CODE_BYTES = 10  # 80 bits: nobody guesses one, so a plain hash is enough
GROUP = 4  # characters between the dashes of a recovery code


@dataclass(frozen=True)
class FactorState:
    """Second factor of an account as its page shows it."""

    is_on: bool
    since: datetime | None
    codes_left: int
    is_required: bool


@dataclass(frozen=True)
class Enrolment:
    """Secret that is to be typed into an app; it asks for nothing until a code confirms it."""

    secret: str
    link: str

    @property
    def grouped(self) -> str:
        return " ".join(
            self.secret[start : start + GROUP] for start in range(0, len(self.secret), GROUP)
        )


def state(user: User) -> FactorState:
    """Return what an account has."""
    row = SecondFactor.objects.filter(account=user.pk, confirmed_at__isnull=False).first()
    left = RecoveryCode.objects.filter(account=user.pk, used_at=None).count()
    since = row.confirmed_at if row else None
    return FactorState(row is not None, since, left, settings.SECOND_FACTOR_REQUIRED)


def is_on(user: User) -> bool:
    """Tell whether signing in takes a code."""
    return SecondFactor.objects.filter(account=user.pk, confirmed_at__isnull=False).exists()


def begin(*, user: Any, now: datetime) -> None:
    """Draw a secret; the one in use, if any, stays in use until the new one is confirmed."""
    secret = _cipher().encrypt(totp.new_secret().encode()).decode()
    with transaction.atomic():
        SecondFactor.objects.filter(account=user, confirmed_at=None).delete()
        SecondFactor.objects.create(account=user, secret=secret, made_at=now)


def enrolment(user: Any) -> Enrolment | None:
    """Return the secret that waits for its first code."""
    row = SecondFactor.objects.filter(account=user, confirmed_at=None).first()
    secret = _secret(row) if row else None
    if secret is None:
        return None
    return Enrolment(secret, totp.link(secret, account=user.get_username(), issuer=ISSUER))


def confirm(*, user: Any, typed: str, now: datetime) -> list[str] | None:
    """Turn the second factor on if the code is right; return new recovery codes, else None."""
    with transaction.atomic():
        row = _lock(user, is_confirmed=False)
        step = _step(row, typed, now)
        if row is None or step is None:
            return None
        SecondFactor.objects.filter(account=user, confirmed_at__isnull=False).delete()
        SecondFactor.objects.filter(pk=row.pk).update(step=step, confirmed_at=now)
        codes = _new_codes(user)
        _note(user, "second factor turned on", now)
        return codes


def check(*, user: Any, typed: str, now: datetime) -> bool:
    """Take a code of the app, or a recovery code; each is good once."""
    typed = "".join(typed.split()).replace("-", "").casefold()
    if len(typed) == totp.DIGITS and typed.isascii() and typed.isdigit():
        return _take_code(user, typed, now)
    digest = _digest(typed)
    unused = RecoveryCode.objects.filter(account=user.pk, hash=digest, used_at=None)
    with transaction.atomic():
        if not (is_on(user) and unused.update(used_at=now)):
            return False
        _note(user, "recovery code used", now)
        return True


def renew_codes(*, user: Any, now: datetime) -> list[str]:
    """Return new recovery codes; those before are good no more."""
    with transaction.atomic():
        codes = _new_codes(user)
        _note(user, "recovery codes renewed", now)
        return codes


def turn_off(*, user: Any, by: str, now: datetime) -> bool:
    """Turn the second factor off; False where there was none."""
    with transaction.atomic():
        count, _ = SecondFactor.objects.filter(account=user.pk).delete()
        RecoveryCode.objects.filter(account=user.pk).delete()
        if count:
            name = user.get_username()
            audit.append(
                actor=by, action="second factor turned off", campaign=None, now=now, account=name
            )
        return bool(count)


def _take_code(user: User, typed: str, now: datetime) -> bool:
    with transaction.atomic():
        row = _lock(user, is_confirmed=True)
        step = _step(row, typed, now)
        if row is None or step is None:
            return False
        secret = _cipher().rotate(row.secret.encode()).decode()  # under the newest key
        SecondFactor.objects.filter(pk=row.pk).update(step=step, secret=secret)
        return True


def _lock(user: User, *, is_confirmed: bool) -> SecondFactor | None:
    rows = SecondFactor.objects.select_for_update().filter(account=user.pk)
    return rows.filter(confirmed_at__isnull=not is_confirmed).first()


def _step(row: SecondFactor | None, typed: str, now: datetime) -> int | None:
    secret = _secret(row) if row else None
    if row is None or secret is None:
        return None
    return totp.step_of(secret, "".join(typed.split()), now.timestamp(), after=row.step)


def _secret(row: SecondFactor) -> str | None:
    """Return a secret, or None where it was encrypted by a key that this server has no more."""
    from cryptography.fernet import InvalidToken

    try:
        return _cipher().decrypt(row.secret.encode()).decode()
    except InvalidToken:
        return None


def _cipher() -> MultiFernet:
    """Return the cipher of secrets: a copy of the database alone makes no codes (S17)."""
    from cryptography.fernet import Fernet, MultiFernet  # 0.1 s, where there are codes at all

    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    macs = (salted_hmac("parley.second-factor", "", secret=key, algorithm="sha256") for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(mac.digest())) for mac in macs])


def _new_codes(user: Any) -> list[str]:
    codes = [
        base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower() for _ in range(CODES)
    ]
    RecoveryCode.objects.filter(account=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(account=user, hash=_digest(code)) for code in codes
    )
    return [
        "-".join(code[start : start + GROUP] for start in range(0, len(code), GROUP))
        for code in codes
    ]


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _note(user: Any, action: str, now: datetime) -> None:
    audit.append(actor=user.get_username(), action=action, campaign=None, now=now)
