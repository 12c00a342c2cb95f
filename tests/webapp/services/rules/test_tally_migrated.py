"""What was said before messages were counted on rows is counted by the migration."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.webapp.services.rules.test_tally import counts, talked
from webapp.models import Conversation
from webapp.services.rules import tally

BEFORE, COUNTED = ("webapp", "0027_platform_time"), ("webapp", "0030_tally")


@pytest.mark.django_db(transaction=True)
def test_the_log_of_before_is_counted() -> None:
    conversation = talked()
    empty = Conversation.objects.create(
        campaign=conversation.campaign,
        system=conversation.system,
        seed=1,
        started_at=conversation.started_at,
    )
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate([BEFORE])
    executor = MigrationExecutor(connection)
    executor.migrate([COUNTED])
    executor = MigrationExecutor(connection)
    executor.migrate(latest)
    assert counts(Conversation.objects.get(pk=conversation.pk)) == counts(conversation)
    assert counts(Conversation.objects.get(pk=empty.pk)) == (0, 0, 0, 0, 0, None, None)
    assert list(tally.faults()) == []
