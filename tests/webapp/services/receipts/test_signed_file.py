"""Files of receipts: signed so that who has the public key needs no server to check them (R39)."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from tests.webapp.views.visiting import good_answers, rating_visit
from webapp.services.receipts.checking import ReceiptVerdict

pytestmark = pytest.mark.django_db
PROGRAM = Path(__file__).parents[4] / "docs" / "protocol" / "check_receipts.py"
MATCHES, SIGNED, FORGED = ReceiptVerdict.MATCHES, ReceiptVerdict.SIGNED, ReceiptVerdict.FORGED


@pytest.fixture
def file() -> str:
    """The file of somebody who wrote, rated and got a code."""
    visit = rating_visit()
    visit.post("rate", good_answers(visit.get()))
    content: bytes = visit.get("receipt").content
    return content.decode()


def keys() -> list[str]:
    return Client().get(reverse("receipt-keys")).content.decode().split()


def posted(file: str) -> list[str]:
    """Return the verdicts of the public page."""
    page = Client().post(reverse("receipts"), {"receipt": file})
    assert keys()[0] in page.content.decode()
    return [each.verdict for each in page.context["found"]]


def is_valid(file: str, key: str) -> bool:
    """Ask the program that knows nothing of the server."""
    check: Callable[[str, str], str] = runpy.run_path(str(PROGRAM))["check"]
    try:
        return check(file, key).startswith("valid: 3 receipts, signed ")
    except (ValueError, InvalidSignature):
        return False


def test_the_program_says_whether_a_file_is_the_servers(file: str, tmp_path: Path) -> None:
    (key,) = keys()
    path = tmp_path / "receipt.txt"
    for content, status in ((file, 0), (file.replace("message", "massage", 1), 1)):
        path.write_text(content)
        command = [sys.executable, str(PROGRAM), str(path), key]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        assert told.returncode == status, told
        assert (told.stdout or told.stderr).startswith("valid" if status == 0 else "not valid")


def test_no_line_can_be_changed_left_out_moved_or_added(file: str) -> None:
    (key,), lines = keys(), file.splitlines()
    first, second, third, last = lines
    assert (is_valid(file, key), posted(file)) == (True, [MATCHES] * 3 + [SIGNED])
    wrong = [
        [first[:-1], second, third, last],
        [first, third, last],
        [second, first, third, last],
        [first, first, second, third, last],
        [first, second, third, f"{last[:-3]}AAA"],
        [first, second, third, last.replace("PF1.", "PF1.1", 1)],
        [first, second, third],
    ]
    for each in wrong:
        text = "".join(f"{line}\n" for line in each)
        assert not is_valid(text, key), each
        assert posted(text)[-1] != SIGNED
    assert posted(last) == [FORGED]


def test_another_servers_file_is_refused_and_one_of_a_former_key_is_not(
    file: str, settings: LazySettings
) -> None:
    (former,), secret = keys(), settings.SECRET_KEY
    settings.SECRET_KEY = "another server's key, long enough to be one 0123456789"
    (key,) = keys()
    assert not is_valid(file, key)
    assert posted(file)[-1] == FORGED
    settings.SECRET_KEY_FALLBACKS = [secret]
    assert keys() == [key, former]
    assert is_valid(file, former)
    assert posted(file)[-1] == SIGNED
