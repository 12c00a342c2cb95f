"""A file of receipts, signed so that who has the server's public key needs no server (R39).

Ed25519 (RFC 8032). A line at the end of the file signs all lines above it; receipts by themselves
are checked by the server, which alone can compare them with what it stores.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VERSION = "PF1"
PURPOSE = b"parley.receipt.file"


def sign(lines: Sequence[str], now: datetime) -> list[str]:
    """Return the lines, and one that signs them: version, time, SHA-256 of the lines, signature."""
    about = f"{VERSION}.{int(now.timestamp())}.{digest(lines)}"
    signature = _encoded(_key(settings.SECRET_KEY).sign(about.encode()))
    return [*lines, f"{about}.{signature}"]


def digest(lines: Sequence[str]) -> str:
    """Return the SHA-256 of lines, each ended by a line feed, in hex."""
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def signed_at(line: str, above: Sequence[str]) -> int | None:
    """Return when this server signed the lines above, in seconds since 1970; None: it did not."""
    version, _, rest = line.partition(".")
    at, _, rest = rest.partition(".")
    if version != VERSION or not at.isdecimal() or not "".join((line, *above)).isascii():
        return None
    about = f"{VERSION}.{at}.{digest(above)}"
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        right = f"{about}.{_encoded(_key(secret).sign(about.encode()))}"  # no other text is valid
        if hmac.compare_digest(right.encode(), line.encode()):
            return int(at)
    return None


def public_keys() -> list[str]:
    """Return the keys that files are checked by, today's first: 32 bytes each, in base64."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_encoded(_key(each).public_key().public_bytes_raw()) for each in secrets]


@lru_cache(maxsize=8)
def _key(secret: str) -> Ed25519PrivateKey:
    """Return the key, which tells nothing of the secret's other uses."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # .1 s

    return Ed25519PrivateKey.from_private_bytes(hmac.digest(secret.encode(), PURPOSE, "sha256"))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
