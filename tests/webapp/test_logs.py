"""What is logged, and whom a stranger can tell of a weakness (S16, S20)."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.test import Client, override_settings

from tests.factories import make_staff
from webapp.middleware import JsonFormatter


def line(text: str, *values: object) -> dict[str, str]:
    record = logging.LogRecord("django.request", logging.WARNING, "", 1, text, values, None)
    told = JsonFormatter().format(record)
    assert "\n" not in told
    found: dict[str, str] = json.loads(told)
    return found


def test_a_record_is_one_line_whatever_it_holds() -> None:
    assert line("a\nb %s", "c\r\n")["text"] == "a\nb c\r\n"


def test_an_error_keeps_its_trace_in_the_same_line() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 1, "failed", (), sys.exc_info())
    told = JsonFormatter().format(record)
    assert "\n" not in told
    assert "two\nlines" in json.loads(told)["trace"]


def test_the_token_of_a_refused_withdrawal_is_not_logged() -> None:
    told = line("%s: %s", "Not Found", "/c/slug/withdraw/MTI:1rAbc:x-y_z")
    assert told["text"] == "Not Found: /c/slug/withdraw/..."


@pytest.mark.django_db
def test_a_request_that_is_refused_leaves_no_token(client: Client) -> None:
    records: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    keep = Keep()
    logging.getLogger("django.request").addHandler(keep)
    try:
        assert (
            client.get("/c/slug/withdraw/MTI:secret:token?PROLIFIC_PID=panel7").status_code == 404
        )
    finally:
        logging.getLogger("django.request").removeHandler(keep)
    told = [JsonFormatter().format(record) for record in records]
    assert told
    assert not [one for one in told if "secret" in one or "panel7" in one]


def test_a_contact_is_told_where_one_is_set(client: Client) -> None:
    with override_settings(SECURITY_CONTACT="mailto:security@example.org"):
        answer = client.get("/.well-known/security.txt")
    contact, expires = answer.content.decode().splitlines()
    assert contact == "Contact: mailto:security@example.org"
    assert expires.startswith("Expires: 20")
    assert expires.endswith("Z")


def test_without_a_contact_there_is_no_such_page(client: Client) -> None:
    with override_settings(SECURITY_CONTACT=""):
        assert client.get("/.well-known/security.txt").status_code == 404


@pytest.mark.django_db
def test_a_refusal_is_logged_with_the_account_that_was_refused(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """ASVS 16.3.2: of a stranger there is none, and nothing is asked of the database for it."""
    user = make_staff("ann")
    client.force_login(user)
    assert client.get("/campaigns/999999/live/").status_code == 404
    client.get("/c/none/")
    told = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert [each.get("account") for each in told if each["logger"] == "django.request"] == [
        user.pk,
        None,
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/login/", "/c/none/", "/c/none/now", "/static/style.css"])
def test_nothing_is_echoed(client: Client, path: str) -> None:
    """ASVS 13.4.4."""
    answer = client.trace(path)
    assert (answer.status_code, answer.content) == (405, b"")
