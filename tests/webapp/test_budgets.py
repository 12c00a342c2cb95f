"""Budgets of pages and replies, in statements: as many for one person as for fifty.

tests/budgets.json has the numbers; those of messages and idle sockets are tested beside sockets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.registry import protocol_names
from tests import serving
from tests.factories import NOW, make_participation
from tests.webapp.services import people
from tests.webapp.sockets.browsing import CONTROL
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.inference import respond_here
from webapp.models import Event

BUDGETS = json.loads((Path(__file__).parents[1] / "budgets.json").read_text())
OTHERS = 49
pytestmark = pytest.mark.django_db


def statements(work: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        work()
    return [query["sql"] for query in queries if not query["sql"].startswith(CONTROL)]


@pytest.mark.parametrize("count", [1, 32])
def test_replies_that_wait_together_share_their_statements(count: int) -> None:
    campaign = campaign_of(target=count, changes={"chat.pace": 0.0})
    for _ in range(count):
        people.send_message(people.start(campaign), "Do you like boats?", NOW)
    asked = statements(lambda: serving.serve(bot="parrot", owner="test", respond=respond_here))
    assert Event.objects.filter(side=1).count() == count
    assert len(asked) <= BUDGETS[f"replies of a bot, {count} at once, from claimed to shown"], asked


@pytest.mark.parametrize("protocol", sorted(protocol_names()))
def test_a_participants_pages_cost_the_same_among_one_and_among_fifty(protocol: str) -> None:
    campaign = campaign_of(protocol, target=2 + OTHERS)
    counts = [page_costs(Visit(campaign))]
    for _ in range(OTHERS):
        make_participation(campaign, state="ENDED", outcome="COMPLETED", ended_at=NOW)
    counts.append(page_costs(Visit(campaign)))
    assert counts[0] == counts[1]
    assert max(counts[0]) <= BUDGETS["a participant's page"]


def page_costs(visit: Visit) -> list[int]:
    """Return what each page costs: the one after the consent, and the one after it is left."""
    visit.join()
    first = len(statements(lambda: visit.get(follow=True)))
    visit.post("start")
    return [first, len(statements(lambda: visit.get(follow=True)))]
