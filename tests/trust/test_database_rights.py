"""A reply worker under an account of its own answers, and reads nobody's password (S9).

The accounts are those of docs/deploy/roles.sql, on a real PostgreSQL.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps

from tests import servers
from tests.live import ROOT, Client, is_reply, serving
from tests.trust.test_reply_cluster import reply_worker
from webapp.services.ops import database_rights
from webapp.services.ops.database_rights import ADD, CHANGE, READ

pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]
# What only web processes and the sweeper need.
CLOSED = (
    "FirstPassword",
    "SecondFactor",
    "RecoveryCode",
    "StaffSession",
    "LoginAttempt",
    "Member",
    "ExternalId",
    "Browser",
    "Consent",
    "ProblemReport",
    "PanelSubmission",
)


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """The database's address for its superuser, its owner and a reply worker."""
    with servers.postgresql() as address:
        env = {**os.environ, "DATABASE_PASSWORD": "of the owner", "REPLIES_PASSWORD": "of workers"}
        psql = [servers.postgres_program("psql"), address, "--quiet", "--file"]
        subprocess.run([*psql, ROOT / "docs/deploy/roles.sql"], env=env, check=True)
        names = {"superuser": "tester", "owner": "parley", "worker": "parley_replies"}
        base = re.sub(r"/postgres$", "/parley", address)
        yield {kind: base.replace("tester", name) for kind, name in names.items()}


def manage(address: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DEBUG": "1", "DATABASE_URL": address, "DATA_DIR": str(folder)}
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def refused(address: str, statement: str) -> bool:
    """Tell whether an account may not do something; what it may is taken back."""
    with psycopg.connect(address) as connection:
        try:
            connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            return True
        finally:
            connection.rollback()
    return False


async def test_a_worker_answers_and_reads_no_password(
    addresses: dict[str, str], tmp_path: Path
) -> None:
    owner, worker = addresses["owner"], addresses["worker"]
    with (
        servers.redis_server() as redis_url,
        serving(tmp_path, {"people": 1}, DATABASE_URL=owner, REDIS_URL=redis_url) as (
            server,
            study,
        ),
    ):
        granted = manage(owner, "database_rights", "parley_replies", folder=tmp_path)
        assert "and no others" in granted.stdout, granted.stderr
        server.env = {**server.env, "DATABASE_URL": worker}
        with reply_worker(server) as process:
            client = await (await Client(server, study).connect()).hello()
            for number in range(3):
                await client.send_message(f"This is number {number}.")
                await client.reply(seconds=60)
            await client.close()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
        assert sum(map(is_reply, client.frames)) == 3
        with psycopg.connect(owner) as connection:
            who = connection.execute("SELECT count(*) FROM webapp_heartbeat WHERE kind = 'replies'")
            assert who.fetchone() == (1,), "it gave its signs of life"
    closed = [table(name) for name in CLOSED] + ["auth_user", "django_migrations"]
    assert [name for name in closed if not refused(worker, f"TABLE {name}")] == []
    for statement in (
        "UPDATE webapp_payledger SET budget = 10000000",
        "UPDATE webapp_campaign SET pay = 50",
        "UPDATE webapp_rating SET value = '5'",
        "UPDATE webapp_event SET content = '{}'",
        "DELETE FROM webapp_auditentry",
        "UPDATE webapp_auditentry SET action = ''",
        "DELETE FROM webapp_event",
        "CREATE TABLE mine (number int)",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ):
        assert refused(worker, statement), statement
    assert refused(owner, "COPY (SELECT 1) TO PROGRAM 'true'"), "the owner is no superuser"
    assert not refused(worker, "SELECT text FROM webapp_replyjob FOR UPDATE")


def test_nothing_is_granted_where_it_would_limit_nothing(
    addresses: dict[str, str], tmp_path: Path
) -> None:
    for who, account, words in (
        ("owner", "parley", "nothing limits it"),
        ("owner", "tester", "nothing limits it"),
        ("owner", "nobody", "create it first"),
    ):
        done = manage(addresses[who], "database_rights", account, folder=tmp_path)
        assert (done.returncode, words in done.stderr) == (1, True), done.stderr
    lite = manage(f"sqlite:///{tmp_path}/some.sqlite3", "database_rights", "x", folder=tmp_path)
    assert "only PostgreSQL has accounts" in lite.stderr


def test_a_superuser_as_the_platforms_account_is_a_finding(
    addresses: dict[str, str], tmp_path: Path
) -> None:
    found: Any = manage(addresses["superuser"], "check_servers", folder=tmp_path)
    assert "PostgreSQL account: tester is a superuser" in found.stdout
    assert found.returncode == 1
    assert "PostgreSQL account: parley is no superuser" in (
        manage(addresses["owner"], "check_servers", folder=tmp_path).stdout
    )


def table(model: str) -> str:
    return str(apps.get_model("webapp", model)._meta.db_table)


def test_each_right_is_of_a_table_and_its_columns() -> None:
    lines = list(database_rights.statements('o"dd'))
    assert len(lines) == 1 + len(READ) + len(ADD) + len(CHANGE)
    assert lines[0] == 'REVOKE ALL ON ALL TABLES IN SCHEMA public FROM "o""dd"'
    assert 'GRANT UPDATE ("state", "tokens") ON "webapp_campaign" TO "o""dd"' in lines
    assert not {*CLOSED} & {*READ, *ADD, *CHANGE}
    assert {*CHANGE} <= {*READ}, "a condition reads, too"
    assert not [line for line in lines if "DELETE" in line or "TRUNCATE" in line]
