"""/healthz and /readyz as whoever probes asks: by address and port, again and again (R41, S16)."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from tests.servers import free_port
from webapp.middleware import PROBES
from webapp.sockets import draining
from webapp.views import probes


@pytest.fixture
def client() -> Client:
    """A browser as it is: that of other tests of pages looks into the database."""
    return Client()


@pytest.fixture
def as_drained() -> Iterator[None]:
    draining.begin()
    yield
    draining._began.clear()


def test_the_addresses_that_skip_everything_are_those_of_the_probes() -> None:
    assert {f"/{each.pattern}" for each in probes.urlpatterns} == PROBES


def test_liveness_asks_no_database(client: Client) -> None:
    """This test may not use one: a query would fail it."""
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"alive": True})


@pytest.mark.django_db
@pytest.mark.parametrize("path", sorted(PROBES))
def test_a_probe_needs_no_host_name_and_no_https_and_leaves_nothing(
    path: str, client: Client, settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["parley.example.org"]
    with caplog.at_level(logging.DEBUG, "django.request"):
        answer = client.get(path, headers={"Host": "10.0.0.7:8001"})
        assert client.head(path).status_code == 200
    assert answer.status_code == 200
    assert (answer["Content-Type"], answer["Cache-Control"]) == ("application/json", "no-store")
    assert not answer.cookies
    assert caplog.records == []
    assert client.post(path).status_code == 405


@pytest.mark.django_db
def test_a_server_that_is_not_ready_says_why_and_logs_no_error(
    client: Client, settings: LazySettings, caplog: pytest.LogCaptureFixture, as_drained: None
) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    latest = MigrationRecorder.Migration.objects.filter(app="webapp").latest("name")
    MigrationRecorder.Migration.objects.filter(pk=latest.pk).delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    lacking = ["draining", "migrations", "broker"]
    assert answer.json() == {"ready": False, "lacking": lacking, "open": 0}
    assert caplog.records == []


@pytest.mark.django_db
def test_a_database_that_is_ahead_serves_the_version_before(client: Client) -> None:
    MigrationRecorder.Migration.objects.create(app="webapp", name="9999_of_the_next_version")
    assert client.get("/readyz").json() == {"ready": True, "lacking": []}


@pytest.mark.django_db
def test_a_migration_that_replaces_others_need_not_be_noted_where_those_are(client: Client) -> None:
    noted = MigrationRecorder.Migration.objects.filter(app="webapp")
    assert noted.filter(name="0001_squashed_0045_care").delete()[0] == 1
    assert client.get("/readyz").json() == {"ready": True, "lacking": []}
    noted.filter(name="0028_stored_results").delete()
    assert client.get("/readyz").json()["lacking"] == ["migrations"]
