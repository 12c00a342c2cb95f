"""S7: what browsers report of the content policy is logged, and nothing else of the report is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from webapp.services.participation import limits

pytestmark = pytest.mark.django_db
REPORT = {
    "effective-directive": "script-src-elem",
    "document-uri": "https://parley.example.org/c/AbCdEfGh1234/now?PROLIFIC_PID=5f3c",
    "blocked-uri": "https://evil.example.net/steal.js?id=5f3c",
    "script-sample": "alert(5f3c)",
}


def send(body: Any, **changes: Any) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    options = {"content_type": "application/csp-report", **changes}
    return Client(enforce_csrf_checks=True).post("/csp-reports", content, **options)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "webapp.views.security"]


def test_every_page_names_the_address_of_reports(client: Client) -> None:
    policy = client.get("/login/").headers["Content-Security-Policy"]
    assert "report-uri /csp-reports" in policy


def test_directive_page_and_host_are_logged_without_ids_addresses_or_samples(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert send({"csp-report": REPORT}).status_code == 204
    assert logged(caplog) == [
        "content policy: script-src-elem of the page current-step refused evil.example.net"
    ]


@pytest.mark.parametrize(
    ("blocked", "said"),
    [("inline", "inline"), ("data", "data"), (None, "?"), ("https://[x", "?"), (["a"], "?")],
)
def test_what_is_no_host_or_word_is_not_logged(
    blocked: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    report = {"violated-directive": "img-src 'self'\nforged", "blocked-uri": blocked}
    assert send({"csp-report": report}).status_code == 204
    assert logged(caplog) == [f"content policy: img-src of the page ? refused {said}"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"csp-report": 1}', b"{}"])
def test_what_is_no_report_is_refused_and_not_logged(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert send(body).status_code == 400
    assert logged(caplog) == []


def test_a_flood_of_reports_fills_no_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(limits.PER_MINUTE, limits.REPORTS, 3)
    for _ in range(5):
        assert send({"csp-report": REPORT}).status_code == 204
    assert len(logged(caplog)) == 3
