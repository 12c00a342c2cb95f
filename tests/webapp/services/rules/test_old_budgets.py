"""Budgets of campaigns that had none: they cover what was promised (R37)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOW
from webapp.models import Campaign, Participation, PayLedger
from webapp.services.rules import ledger

pytestmark = pytest.mark.django_db(transaction=True)
FORMER = [("webapp", "0027_platform_time")]


def make_rows(rows: Any) -> None:
    owner = rows("auth.User").create(username="ann")
    fields = {"owner": owner, "protocol": "meena_interactive", "consent": "Yes.", "contact": "me"}
    fields |= {"pay": "2.00", "waiting_pay": "0.50"}
    campaign = rows("webapp.Campaign").create(name="a", slug="a", state="OPEN", **fields)
    rows("webapp.Campaign").create(name="b", slug="b", state="DRAFT", **fields)
    system = rows("webapp.System").create(campaign=campaign, name="alpha", bot="parrot")
    rows("webapp.QuotaCell").create(system=system, target=12, reserved=1, completed=1)
    promised = {"pay": "3.00", "waiting_pay": "0.50", "currency": "USD", "quit_rule": "FULL"}
    for number, end in enumerate((("ENDED", "COMPLETED"), ("CHATTING", ""))):
        person = rows("webapp.Participation").create(
            campaign=campaign,
            pseudonym=str(number),
            secret_hash=str(number),
            least_work=1,
            state_at=NOW,
            seen_at=NOW,
            state=end[0],
            outcome=end[1],
            **promised,
        )
        if end[1]:
            codes = rows("webapp.CompletionCode")
            codes.create(participation=person, code="A", kind="FULL", amount="3.00")
            rows("webapp.Bonus").create(
                participation=person, amount="0.10", reason="x", given_by=owner
            )


def test_an_old_campaign_has_a_budget_that_covers_what_it_promised() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(FORMER)
    try:
        old = executor.loader.project_state(FORMER).apps
        make_rows(lambda name: old.get_model(name)._default_manager)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    row = PayLedger.objects.get()
    assert (row.campaign.slug, row.reserved, row.spent) == ("a", 300, 310)
    assert row.budget == 310 + 300 + (10 + 1) * 250
    at_work = Participation.objects.get(state="CHATTING")
    assert at_work.reserved_pay == Decimal("3.00")
    assert ledger.settle(at_work, Decimal("3.00")) == Decimal("3.00")
    assert ledger.books(Campaign.objects.get(slug="a")).reserved == 0
