"""Budgets of pages and replies, in statements: as many for one person as for fifty.

tests/budgets.json has the numbers; those of messages and idle sockets are tested beside sockets.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.registry import get_protocol, protocol_names
from tests import serving
from tests.factories import NOW, make_participation
from tests.webapp.admitted import rows_of
from tests.webapp.services import people
from tests.webapp.services.judged import replies_campaign
from tests.webapp.steps import statements, taken
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.inference import respond_here
from webapp.models import Campaign, Event
from webapp.services.rules import ledger

BUDGETS = json.loads((Path(__file__).parents[1] / "budgets.json").read_text())
OTHERS = 49
STEP, WAY = "a step of one person: ", "all steps of one person in a brief conversation"
CHATS = [name for name in sorted(protocol_names()) if get_protocol(name).chat]
BRIEF = {"chat.minimum": [2], "chat.pace": 0.0}  # of the settings that a protocol has
pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("protocol", CHATS)
def test_each_step_of_a_conversation_keeps_its_budget(protocol: str) -> None:
    """By the services that pages and sockets call, from the consent to the page of the code."""
    known = {setting.name for setting in get_protocol(protocol).settings()}
    changes = {name: value for name, value in BRIEF.items() if name in known}
    assert check_steps(campaign_of(protocol, changes=changes)) <= BUDGETS[WAY]


def test_each_form_of_a_batch_keeps_its_budget() -> None:
    check_steps(replies_campaign("coherency_pairs", rows_of(3), batch=3))


def check_steps(campaign: Campaign) -> int:
    """Compare somebody's steps with their budgets; return what all cost together.

    But for replies of the bot, and labels, of which there are as many as messages.
    """
    ledger.begin(campaign)  # as a launch does
    steps = list(taken(campaign))
    costs = {step.name: 0 for step in steps}
    for step in steps:
        costs[step.name] = max(costs[step.name], len(step.statements))
    budgets = {name: BUDGETS.get(f"{STEP}{name}", 0) for name in costs}
    assert all(cost <= budgets[name] for name, cost in costs.items()), (costs, budgets)
    own = [step for step in steps if not step.name.startswith(("reply", "label"))]
    return sum(len(step.statements) for step in own)
