"""Servers and keys that an administrator entered, as a process that calls servers knows them (S10).

A key is sealed with Fernet (AES-128-CBC and HMAC-SHA256, of the package cryptography) under a
secret of the environment, KEYS_SECRET or else SECRET_KEY: a copy of the database opens none. It is
opened only in a process that calls servers, and is in no page, log, export or row of a reply.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from bots.guards import egress
from webapp.models import ModelServer, ServerKey

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def key_names() -> list[tuple[str, str]]:
    """Return each key's name and its server."""
    return list(ServerKey.objects.order_by("name").values_list("name", "server__server"))


def enter() -> None:
    """Let this process call what is entered now: after this nothing older is allowed."""
    rows = list(
        ModelServer.objects.values_list("server", "is_private", "keys__name", "keys__sealed")
    )
    egress.enter(
        egress.Entered(
            frozenset(server for server, is_private, *_ in rows if not is_private),
            frozenset(server for server, is_private, *_ in rows if is_private),
            {name: (server, opened(sealed)) for server, _, name, sealed in rows if name},
        )
    )


def sealed(key: str) -> str:
    """Return a key as it is stored."""
    return _fernet().encrypt(key.encode()).decode()


def _fernet() -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet  # 0.1 s, where there are keys at all

    return MultiFernet([Fernet(_derived(secret)) for secret in _secrets()])


def _secrets() -> Sequence[str]:
    first = [settings.KEYS_SECRET] if settings.KEYS_SECRET else []
    return [*first, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _derived(secret: str) -> bytes:
    """Return a key of 32 bytes that tells nothing of the secret's other uses."""
    found = hashlib.blake2b(secret.encode(), digest_size=32, person=b"parley model key")
    return base64.urlsafe_b64encode(found.digest())


def opened(sealed: str) -> str:
    """Return a key, or "" where it was sealed under another secret."""
    from cryptography.fernet import InvalidToken

    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return ""
