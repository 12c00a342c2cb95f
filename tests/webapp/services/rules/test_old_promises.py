"""Promises of the former version: a migrated campaign pays what it said then (R21)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOW
from tests.webapp.services.people import join, send_message, start
from webapp.models import Campaign, Participation
from webapp.services.participation import enrolment, stopping, study_info

pytestmark = pytest.mark.django_db(transaction=True)
FORMER = [("webapp", "0004_whitelist")]


def migrate_what(make: Callable[[Callable[[str], Any]], None]) -> None:
    """Make rows in a database of the former version, then migrate it to the present one."""
    executor = MigrationExecutor(connection)
    executor.migrate(FORMER)
    try:
        old = executor.loader.project_state(FORMER).apps
        make(lambda name: old.get_model(name)._default_manager)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())


def make_rows(rows: Callable[[str], Any]) -> None:
    """Two campaigns with two people each, and one campaign of each state."""
    owner = rows("auth.User").create(username="ann")
    fields = {"owner": owner, "waiting_pay": "0.30", "currency": "EUR", "minutes": 10}
    fields |= {"protocol": "meena_interactive", "consent": "Yes.", "contact": "me"}
    people = []
    for name, pay in (("one", "2.00"), ("two", "0.70")):
        campaign = rows("webapp.Campaign").create(name=name, slug=name, pay=pay, **fields)
        for number in range(2):
            names = {"pseudonym": str(number), "secret_hash": f"{name}{number}"}
            times = {"state_at": NOW, "seen_at": NOW}
            person = rows("webapp.Participation").create(campaign=campaign, **names, **times)
            people.append(person)
    codes = rows("webapp.CompletionCode")
    codes.create(participation=people[2], code="A", kind="WAITING", amount="0.20")
    codes.create(participation=people[3], code="B", kind="FULL", amount="1.90")
    for state in Campaign.State.values:
        rows("webapp.Campaign").create(name=state, slug=state, state=state, pay="2.00", **fields)
    system = rows("webapp.System").create(
        campaign=rows("webapp.Campaign").get(slug="OPEN"), name="alpha", bot="parrot"
    )
    rows("webapp.QuotaCell").create(system=system, target=5)
    rows("webapp.Participation").create(
        campaign=system.campaign, pseudonym="p", secret_hash="s", state_at=NOW, seen_at=NOW
    )


def test_a_campaign_that_was_open_keeps_its_promises() -> None:
    migrate_what(make_rows)
    amounts_are_those_of_the_campaign()
    only_drafts_have_the_new_rule()
    one_word_is_paid_in_full()


def amounts_are_those_of_the_campaign() -> None:
    """Who held a full code was promised what it is worth."""
    people = Participation.objects.filter(campaign__slug__in=("one", "two")).order_by("pk")
    pays = [Decimal(amount) for amount in ("2.00", "2.00", "0.70", "1.90")]
    promised = [(pay, Decimal("0.30"), "EUR", "FULL", 1) for pay in pays]
    names = ("pay", "waiting_pay", "currency", "quit_rule", "least_work")
    assert list(people.values_list(*names)) == promised


def only_drafts_have_the_new_rule() -> None:
    rows = Campaign.objects.filter(slug__in=Campaign.State.values)
    found = {slug: rule for slug, *rule in rows.values_list("slug", "quit_rule", "least_work")}
    assert found == {
        state: ["SHARE", 4] if state == "DRAFT" else ["FULL", 1] for state in Campaign.State.values
    }


def one_word_is_paid_in_full() -> None:
    """As it was promised to who was in the campaign, and is to who comes to it later."""
    campaign = Campaign.objects.get(slug="OPEN")
    assert "in full, 2.00 EUR. Nothing is paid before you" in study_info.of(campaign).stopping
    old = enrolment.start(person=Participation.objects.get(pseudonym="p"), now=NOW)
    join(campaign, "A1")
    for person in (old, start(campaign, "A1")):
        send_message(person, "hello")
        code = stopping.stop(person=person, now=NOW).code
        assert (code.kind, str(code.amount)) == ("FULL", "2.00")
