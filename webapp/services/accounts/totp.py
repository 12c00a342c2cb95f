"""Time-based one-time passwords: RFC 6238 with SHA-1, six digits and steps of 30 s.

Apart because it knows neither accounts nor the database, and is tested by the vectors of the RFC.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from urllib.parse import quote, urlencode

SECRET_BYTES = 20  # RFC 4226, section 4, R6: 160 bits recommended
STEP = 30  # seconds (RFC 6238, section 4.1)
DIGITS = 6
DRIFT = 1  # steps that a phone's clock may be off, either way (RFC 6238, section 5.2)


def new_secret() -> str:
    """Return a random secret as base32, which apps accept typed."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def code(secret: str, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step (RFC 4226, section 5.3)."""
    mac = hmac.digest(base64.b32decode(secret), step.to_bytes(8), "sha1")
    offset = mac[-1] & 0xF
    number = int.from_bytes(mac[offset : offset + 4]) & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def step_of(secret: str, typed: str, seconds: float, after: int = 0) -> int | None:
    """Return the step whose code was typed at this time, later than `after`; None for a wrong code.

    seconds: since 1970. A code is good once: the caller keeps the step as the next `after`
    (RFC 6238, section 5.2).
    """
    present = int(seconds) // STEP
    for step in range(present - DRIFT, present + DRIFT + 1):
        if step > after and hmac.compare_digest(code(secret, step).encode(), typed.encode()):
            return step
    return None


def link(secret: str, *, account: str, issuer: str) -> str:
    """Return the otpauth: address that an app on the same device opens."""
    label = quote(f"{issuer}:{account}", safe="")
    about = {"secret": secret, "issuer": issuer, "digits": DIGITS, "period": STEP}
    return f"otpauth://totp/{label}?{urlencode(about)}"
