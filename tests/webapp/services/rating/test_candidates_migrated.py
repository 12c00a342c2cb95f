"""Items of the former version: candidates get the conversation, items of contexts their context."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOW
from webapp.models import Candidate, Item

FORMER = [("webapp", "0009_one_entrance")]


def former(old: Any) -> None:
    """Fill a database of the former version: a context's reply, and a chat of one's own."""
    owner = old.get_model("auth.User").objects.create(username="ann")
    campaign = old.get_model("webapp.Campaign").objects.create(
        name="c", slug="c", pay="1.00", waiting_pay="0.10", owner=owner, protocol="meena_static"
    )
    system = old.get_model("webapp.System").objects.create(
        campaign=campaign, name="alpha", bot="parrot"
    )
    for key in ("k1", "k2"):
        old.get_model("webapp.Context").objects.create(campaign=campaign, key=key, messages=["Hi."])
    for purpose, context in (("CONTEXT", "k2"), ("STUDY", "")):
        made = old.get_model("webapp.Conversation").objects.create(
            campaign=campaign,
            system=system,
            seed=1,
            started_at=NOW,
            purpose=purpose,
            context=context,
        )
        item = old.get_model("webapp.Item").objects.create(
            campaign=campaign, key=f"{purpose}:{made.pk}", conversation=made, target=1
        )
        old.get_model("webapp.Candidate").objects.create(item=item, key="r", system=system, side=1)


@pytest.mark.django_db(transaction=True)
def test_items_and_candidates_keep_what_they_are_about_there_and_back() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(FORMER)
    try:
        former(executor.loader.project_state(FORMER).apps)
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
        static, chat = Item.objects.order_by("pk")
        assert static.conversation is None
        assert static.context is not None
        assert static.context.key == "k2"
        assert chat.context is None
        assert chat.conversation is not None
        assert chat.conversation.purpose == "STUDY"
        purposes = Candidate.objects.order_by("pk").values_list("conversation__purpose", flat=True)
        assert list(purposes) == ["CONTEXT", "STUDY"]
        executor = MigrationExecutor(connection)
        executor.migrate(FORMER)
        old = executor.loader.project_state(FORMER).apps
        rows = old.get_model("webapp.Item").objects.order_by("pk")
        assert [row.conversation.purpose for row in rows] == ["CONTEXT", "STUDY"]
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
