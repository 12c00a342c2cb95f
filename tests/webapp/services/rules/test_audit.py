"""The chain of the audit log is verified: by a command, and once a day with an alarm (S15)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import after
from webapp.models import AuditEntry, Campaign, Heartbeat
from webapp.services.monitoring import monitor
from webapp.services.ops import sweeper
from webapp.services.rules import audit

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


def log(campaign: Campaign, count: int) -> None:
    for number in range(1, count + 1):
        audit.append(
            actor="ann", action="change of pay", campaign=campaign, now=after(number), pay=number
        )


def tamper(number: int, **fields: object) -> None:
    assert AuditEntry.objects.filter(number=number).update(**fields) == 1


def replace(number: int, **fields: object) -> None:
    """Alter an entry and give it the hash of what it then is."""
    tamper(number, **fields)
    entry = AuditEntry.objects.get(number=number)
    tamper(number, hash=audit._hash(entry))


def verified() -> list[str]:
    """Return what the command prints about entries that do not fit; with any it exits with 1."""
    out, count = StringIO(), AuditEntry.objects.count()
    failure = None
    try:
        call_command("audit", stdout=out)
    except CommandError as problem:
        failure = problem
    lines = out.getvalue().splitlines()
    if failure is None:
        assert lines == [f"{count} entries, each as it was written"]
        return []
    assert failure.returncode == 1
    assert str(failure) == f"{len(lines)} of {count} entries do not fit"
    return lines


def alarms(campaign: Campaign) -> list[str]:
    found = monitor.live(campaign, NOW).alarms
    return [alarm.text for alarm in found if alarm.name == "audit"]


ALTERED = "it was altered"
UNLINKED = "the entry before it is missing or was replaced"


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_log_that_nobody_touched_verifies(campaign: Campaign, count: int) -> None:
    log(campaign, count)
    assert verified() == []


@pytest.mark.parametrize(
    "fields",
    [
        {"actor": "bob"},
        {"action": "launch"},
        {"campaign": None},
        {"detail": {"pay": 9}},
        {"made_at": datetime(2026, 1, 5, 12, 0, 2, 1, tzinfo=UTC)},
        {"previous_hash": "0" * 64},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_an_altered_field_is_found(campaign: Campaign, fields: dict[str, object]) -> None:
    log(campaign, 3)
    tamper(2, **fields)
    assert verified() == [f"entry 2: {ALTERED}"]


def test_an_altered_hash_breaks_the_next_link_too(campaign: Campaign) -> None:
    log(campaign, 3)
    tamper(2, hash="0" * 64)
    assert verified() == [f"entry 2: {ALTERED}", f"entry 3: {UNLINKED}"]


def test_an_entry_that_was_replaced_or_deleted_is_missed_by_the_next(campaign: Campaign) -> None:
    log(campaign, 4)
    replace(1, actor="bob")
    AuditEntry.objects.filter(number=3).delete()
    assert verified() == [f"entry 2: {UNLINKED}", f"entry 4: {UNLINKED}"]


def test_a_tampered_row_raises_the_alarm_within_a_day(campaign: Campaign) -> None:
    log(campaign, 3)
    assert sweeper.tick(after(0))["audit_faults"] == 0
    tamper(2, actor="bob")
    assert sweeper.tick(after(DAY - 1))["audit_faults"] == 0
    assert alarms(campaign) == []
    assert sweeper.tick(after(DAY))["audit_faults"] == 1
    (text,) = alarms(campaign)
    assert "(entry 2)" in text
    assert sweeper.tick(after(DAY + 1))["audit_faults"] == 0
    assert alarms(campaign) == [text]


def test_the_alarm_goes_once_the_log_is_as_it_was(campaign: Campaign) -> None:
    log(campaign, 3)
    tamper(3, actor="bob")
    assert sweeper.tick(after(0))["audit_faults"] == 1
    tamper(3, actor="ann")
    sweeper.tick(after(DAY - 1))
    assert len(alarms(campaign)) == 1
    sweeper.tick(after(DAY))
    assert alarms(campaign) == []


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("tampered", [1, 2, 3, 4])
def test_a_long_log_is_checked_in_steps(campaign: Campaign, count: int, tampered: int) -> None:
    """An entry that was replaced shows in the next, which may be of the next step."""
    log(campaign, count)
    if tampered < count:
        replace(tampered, actor="bob")
    steps = [audit.check_some(now=after(0), at_once=2) for _ in range(count // 2 + 1)]
    assert sum(steps) == (tampered < count)
    assert audit.known_faults() == ([tampered + 1] if tampered < count else [])
    assert Heartbeat.objects.get(kind="audit").detail["last"] == 0  # the check is complete
    assert audit.check_some(now=after(DAY - 1), at_once=2) == 0
    assert Heartbeat.objects.get(kind="audit").detail["last"] == 0
    audit.check_some(now=after(DAY), at_once=2)
    assert Heartbeat.objects.get(kind="audit").detail["last"] == (2 if count > 1 else 0)


def test_what_was_found_is_known_while_the_next_check_is_under_way(campaign: Campaign) -> None:
    log(campaign, 4)
    tamper(4, actor="bob")
    for _ in range(3):
        audit.check_some(now=after(0), at_once=2)
    tamper(1, actor="bob")
    audit.check_some(now=after(DAY), at_once=2)
    assert audit.known_faults() == [1, 4]
    tamper(4, actor="ann")
    for _ in range(2):
        audit.check_some(now=after(DAY), at_once=2)
    assert audit.known_faults() == [1]


@pytest.mark.parametrize(
    ("count", "numbers"), [(2, "1, 2"), (5, "1, 2, 3, 4, 5"), (6, "1, 2, 3, 4, 5, ...")]
)
def test_the_alarm_names_a_few_entries(campaign: Campaign, count: int, numbers: str) -> None:
    log(campaign, count)
    AuditEntry.objects.update(actor="bob")
    audit.check_some(now=NOW)
    (text,) = alarms(campaign)
    assert text.endswith(f" (entries {numbers}): run manage.py audit.")


def test_only_the_first_faults_are_kept(campaign: Campaign) -> None:
    log(campaign, audit.MOST + 1)
    AuditEntry.objects.update(actor="bob")
    assert audit.check_some(now=NOW) == audit.MOST + 1
    assert audit.known_faults() == list(range(1, audit.MOST + 1))
    assert len(verified()) == audit.MOST + 1


def test_staff_see_the_alarm_on_the_live_page(campaign: Campaign, client: Client) -> None:
    user = make_staff()
    client.force_login(user)
    log(campaign, 2)
    replace(1, actor="bob")
    page = reverse("live", args=[campaign.pk])
    assert "audit log" not in client.get(page).content.decode()
    sweeper.tick(after(0))
    shown = client.get(page).content.decode()
    assert "The audit log was changed in the database (entry 2): run manage.py audit." in shown
