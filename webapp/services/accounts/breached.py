"""Passwords known from breaches: refused where the server has a file of them (ASVS 6.2.12).

The file is sorted by its hashes, as Have I Been Pwned's downloader writes it: a line per password,
SHA-1 in hexadecimal, then a colon and how often it was found. It is searched where it lies, in some
forty steps, so that its 40 GB need no memory and no password leaves the server.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.utils.translation import gettext as _

HASH = re.compile(rb"[0-9A-Fa-f]{40}\s*(:|$)")
LETTERS = 40  # of a hash
AFTER_ALL = b"~"  # sorts behind every hash


class Breached:
    """Refuse a password that stands in the file named by `settings.BREACHED_PASSWORDS`."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise `ValidationError` where it stands there."""
        path = settings.BREACHED_PASSWORDS
        if path and is_in(Path(path), password):
            raise ValidationError(self.get_help_text(), code="password_breached")

    def get_help_text(self) -> str:
        """Return what is wanted."""
        return _("It must not be known from a data breach.")


def is_in(path: Path, password: str) -> bool:
    """Tell whether a sorted file of hashes has a password's."""
    wanted = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper().encode()
    with _opened(path) as (file, size):
        first = bisect_left(range(size), wanted, key=lambda at: _hash_from(file, at))
        return _hash_from(file, first) == wanted


def check_file(path: Path) -> None:
    """Refuse a file that cannot be searched. Raises `ImproperlyConfigured`."""
    try:
        with _opened(path) as (file, size):
            first, last = file.readline(), _last_line(file, size)
    except OSError as problem:
        raise _refused(path, f"cannot be read ({problem.strerror})") from None
    if not (HASH.match(first) and HASH.match(last)):
        raise _refused(path, "is no file of SHA-1 hashes, one to a line")
    if first[:LETTERS].upper() > last[:LETTERS].upper():
        raise _refused(path, "is not sorted by its hashes")


def _refused(path: Path, what: str) -> ImproperlyConfigured:
    right = "name a file sorted by hash, as Have I Been Pwned's downloader writes it, or none"
    return ImproperlyConfigured(f"BREACHED_PASSWORDS is {path}, which {what}: {right}.")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    with path.open("rb") as file:
        yield file, path.stat().st_size


def _hash_from(file: BinaryIO, at: int) -> bytes:
    """Return the hash of the first line that begins at this byte or later."""
    file.seek(max(at - 1, 0))
    if at:
        file.readline()  # ends at `at`, or goes on to the line's end
    return file.readline()[:LETTERS].upper() or AFTER_ALL


def _last_line(file: BinaryIO, size: int) -> bytes:
    file.seek(max(size - 200, 0))
    return file.read().splitlines()[-1] if size else b""
