"""Conversations of the former version: where the bot opened, its side began."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOW
from webapp.models import Conversation

FORMER = [("webapp", "0007_rounds")]


@pytest.mark.django_db(transaction=True)
def test_a_bots_opening_tells_that_its_side_began() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(FORMER)
    try:
        old = executor.loader.project_state(FORMER).apps
        owner = old.get_model("auth.User").objects.create(username="ann")
        campaign = old.get_model("webapp.Campaign").objects.create(
            name="c", slug="c", pay="1.00", waiting_pay="0.10", owner=owner, protocol="meena_human"
        )
        system = old.get_model("webapp.System").objects.create(
            campaign=campaign, name="alpha", bot="parrot"
        )
        for answered in (0, 1):
            made = old.get_model("webapp.Conversation").objects.create(
                campaign=campaign, system=system, seed=1, started_at=NOW
            )
            old.get_model("webapp.Event").objects.create(
                conversation=made, seq=1, kind="message", side=1, in_reply_to=answered, content={}
            )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    assert list(Conversation.objects.values_list("first_side", flat=True)) == [1, 0]
