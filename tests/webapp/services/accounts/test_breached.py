"""Passwords known from breaches: every one of a file is refused, and no other (ASVS 6.2.12)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from django.conf import LazySettings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from webapp.services.accounts.breached import check_file, is_in


def hashed(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def written(path: Path, passwords: list[str], end: str = "\r\n") -> Path:
    """Write a file as the downloader does, with counts of different lengths."""
    chance = Random(1)
    lines = [f"{hashed(each)}:{10 ** chance.randrange(9)}" for each in passwords]
    path.write_bytes(end.join(sorted(lines)).encode() + end.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("number", [1, 2, 3, 1000])
def test_every_password_of_the_file_is_found_and_no_other(
    tmp_path: Path, number: int, end: str
) -> None:
    known = [f"known {k}" for k in range(number)]
    path = written(tmp_path / "hashes.txt", known, end)
    assert all(is_in(path, each) for each in known)
    assert not any(is_in(path, f"new {k}") for k in range(1000))


def test_hashes_without_counts_in_small_letters_and_no_last_end_of_line_will_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hashes.txt"
    path.write_text("\n".join(sorted(hashed(str(k)).lower() for k in range(50))))
    assert all(is_in(path, str(k)) for k in range(50))
    assert not is_in(path, "50")


def test_an_account_cannot_have_one(tmp_path: Path, settings: LazySettings) -> None:
    settings.BREACHED_PASSWORDS = str(written(tmp_path / "hashes.txt", ["lakeside 4 o'clock"]))
    check_file(Path(settings.BREACHED_PASSWORDS))
    validate_password("lakeside 5 o'clock")
    with pytest.raises(ValidationError, match="must not be known from a data breach"):
        validate_password("lakeside 4 o'clock")
    settings.BREACHED_PASSWORDS = ""
    validate_password("lakeside 4 o'clock")


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("", "is no file of SHA-1 hashes"),
        ("hunter2\nletmein\n", "is no file of SHA-1 hashes"),
        (f"{'b' * 40}:1\n{'a' * 40}:1\n", "is not sorted by its hashes"),
    ],
)
def test_a_file_that_cannot_be_searched_is_refused_at_the_start(
    tmp_path: Path, content: str | None, wrong: str
) -> None:
    path = tmp_path / "hashes.txt"
    if content is not None:
        path.write_text(content)
    environment = {**os.environ, "DEBUG": "1", "BREACHED_PASSWORDS": str(path)}
    command = [sys.executable, "manage.py", "check"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"BREACHED_PASSWORDS is {path}, which {wrong}" in ended.stderr
