"""The commands that keep a server going: sweep and check_servers (R26, R28, S18)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from tests.factories import make_campaign
from tests.servers import postgresql, redis_server
from tests.webapp.services.people import start
from webapp.models import Participation

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    with postgresql() as database, redis_server() as broker:
        yield {"DATABASE_URL": database, "REDIS_URL": broker}


def manage(
    *arguments: str, environment: dict[str, str], expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command of its own on other servers and return what it printed."""
    base = {"DEBUG": "1", "SECRET_KEY": "for tests only"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | base | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == expect, done.stderr
    return done


@pytest.mark.django_db
def test_one_tick_says_what_was_done() -> None:
    start(make_campaign())  # at the tests' time, long before this machine's
    out = StringIO()
    call_command("sweep", "--once", stdout=out)
    assert "gone: 1\n" in out.getvalue()
    assert Participation.objects.get().outcome == "LEFT"


@pytest.mark.django_db
def test_this_tests_database_is_safe(settings: Settings) -> None:
    settings.REDIS_URL = ""
    out = StringIO()
    call_command("check_servers", stdout=out)
    assert "FAIL" not in out.getvalue()


@pytest.mark.django_db
def test_a_broker_that_does_not_answer_fails_the_check(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(CommandError, match="1 of"):
        call_command("check_servers", stdout=StringIO())


@pytest.mark.django_db
def test_a_broker_elsewhere_must_be_encrypted_and_have_a_password(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.2:1/0"
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("check_servers", stdout=out)
    assert "FAIL Redis connection: must be local, or rediss:// with a password" in out.getvalue()


@pytest.mark.trust
def test_servers_as_they_should_be_pass_and_an_evicting_broker_fails(
    servers: dict[str, str],
) -> None:
    import psycopg
    import redis

    with psycopg.connect(servers["DATABASE_URL"]) as connection:
        connection.execute("CREATE ROLE platform LOGIN")
    servers = servers | {"DATABASE_URL": servers["DATABASE_URL"].replace("tester@", "platform@")}
    good = manage("check_servers", environment=servers).stdout
    assert "ok   PostgreSQL synchronous_commit: is on" in good
    assert "ok   Redis maxmemory-policy: is noeviction" in good
    assert "FAIL" not in good
    with redis.from_url(servers["REDIS_URL"]) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        bad = manage("check_servers", environment=servers, expect=1)
        client.config_set("maxmemory-policy", "noeviction")
    assert "FAIL Redis maxmemory-policy: is allkeys-lru, must be noeviction" in bad.stdout


@pytest.mark.trust
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_of_two_sweepers_one_works_and_the_other_follows_when_it_ends(
    kind: str, servers: dict[str, str], tmp_path: Path
) -> None:
    url = servers["DATABASE_URL"]
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path / 'sweep.sqlite3'}"
    environment = {"DATABASE_URL": url, "DATA_DIR": str(tmp_path), "REDIS_URL": ""}
    migrate = [sys.executable, "-m", "tests.databases"]
    subprocess.run(migrate, cwd=ROOT, env=os.environ | {"DEBUG": "1"} | environment, check=True)
    first, second = (_sweeper(environment) for _ in range(2))
    try:
        working = _who_works(environment, {first.pid, second.pid})
        other = second if working == first.pid else first
        os.kill(working, signal.SIGTERM)
        assert (first if working == first.pid else second).wait(20) == 0
        assert _who_works(environment, {other.pid}) == other.pid
        other.terminate()
        assert other.wait(20) == 0
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


def _sweeper(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    base = {"DEBUG": "1", "SECRET_KEY": "for tests only"}
    command = [sys.executable, "manage.py", "sweep", "--seconds", "0.2"]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | base | environment)


def _who_works(environment: dict[str, str], pids: set[int]) -> int:
    """Wait until the heartbeat of one of these processes is there; the time limit ends it."""
    code = (
        "from webapp.models import Heartbeat as H; "
        "print(*H.objects.filter(kind='sweeper').values_list('name', flat=True))"
    )
    while True:
        names = manage("shell", "-v0", "-c", code, environment=environment).stdout.split()
        found = [pid for name in names if (pid := int(name.rpartition(":")[2])) in pids]
        if found:
            return found[0]
