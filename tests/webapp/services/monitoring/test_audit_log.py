"""The audit page: sentences, filters, who sees which entry, and the state of the chain (S15)."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_member, make_project
from webapp.models import AuditEntry, Campaign
from webapp.services.monitoring import audit_log
from webapp.services.rules import audit

pytestmark = pytest.mark.django_db
WEBAPP = Path(audit_log.__file__).parents[2]


def noted(campaign: Campaign | None, actor: str, action: str, **detail: Any) -> None:
    audit.append(actor=actor, action=action, campaign=campaign, now=NOW, **detail)


@pytest.fixture
def boss() -> Client:
    client = Client()
    client.force_login(make_member("boss", "administrator", project=make_project()))
    return client


def shown(client: Client, **query: Any) -> str:
    answer = client.get(reverse("audit"), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def actions() -> set[str]:
    """Return the actions that the code appends by a plain text, in a call that notes something."""
    found = set()
    for path in WEBAPP.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "audit.append(" not in text:
            continue
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func).rpartition(".")[2]
            values = [*call.args, *(key.value for key in call.keywords if key.arg == "action")]
            if name in ("append", "_note"):
                found |= {
                    each.value
                    for each in values
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    return {each for each in found if " " in each or each in ("exported", "withdrawn")}


def test_every_action_that_is_noted_is_a_sentence() -> None:
    found = actions()
    assert len(found) > 40
    assert sorted(found - audit_log.KIND_OF.keys()) == []


def test_entries_are_sentences_with_what_is_left_of_their_details(boss: Client) -> None:
    campaign = make_campaign(name="Pilot")
    noted(campaign, "ann", "system added", system="alpha")
    noted(campaign, "ann", "pay changed", before="1.00", after="2.00")
    noted(campaign, "ann", "something new", row=7)
    page = shown(boss)
    assert "added the system alpha" in page
    assert "before: 1.00; after: 2.00" in page
    assert "did “something new”" in page
    assert reverse("campaign", args=[campaign.pk]) in page


def test_filters_leave_a_campaign_a_person_or_a_kind(boss: Client) -> None:
    first, second = make_campaign(name="One"), make_campaign(name="Two")
    noted(first, "ann", "campaign launched")
    noted(second, "bob", "campaign archived")
    noted(second, "ann", "exported")
    for query, words in (
        ({"campaign": first.pk}, {"launched the campaign"}),
        ({"person": "BO"}, {"archived the campaign"}),
        ({"kind": "data"}, {"took the export"}),
        ({"campaign": second.pk, "person": "ann"}, {"took the export"}),
        ({"kind": "nonsense", "campaign": "x"}, None),
        ({"person": "nobody"}, set()),
    ):
        page = shown(boss, **query)
        every = {"launched the campaign", "archived the campaign", "took the export"}
        assert {each for each in every if each in page} == (every if words is None else words)


def test_only_administrators_see_it_and_only_of_their_projects(boss: Client) -> None:
    other = make_campaign(project=make_project("Other"))
    noted(other, "eve", "campaign launched", note="foreign one")
    noted(None, "eve", "logged in", note="foreign two")
    noted(None, "eve", "member added", project=other.project_id, note="foreign three")
    noted(None, "boss", "logged in", note="seen one")
    noted(None, "x", "member added", project=make_project().pk, note="seen two")
    page = shown(boss)
    assert "foreign" not in page
    assert page.count("seen one") == page.count("seen two") == 1
    assert boss.get(reverse("audit"), {"campaign": other.pk}).content.decode().count("foreign") == 0
    root = Client()
    root.force_login(get_user_model().objects.create_superuser("root"))
    assert all(f"foreign {number}" in shown(root) for number in ("one", "two", "three"))
    runner = Client()
    runner.force_login(make_member("rob", "runner", "payer", "exporter", project=make_project()))
    assert runner.get(reverse("audit")).status_code == 403


def test_a_broken_chain_is_told_and_its_entry_marked(boss: Client) -> None:
    campaign = make_campaign()
    for number in range(3):
        noted(campaign, "ann", "campaign changed", number=number)
    assert "not checked yet" in shown(boss)
    boss.post(reverse("audit-check"))
    page = shown(boss)
    assert "unbroken" in page
    assert "does not fit the chain" not in page
    AuditEntry.objects.filter(number=2).update(actor="eve")
    boss.post(reverse("audit-check"))
    page = shown(boss)
    assert "Entries that do not fit: 2." in page
    assert page.count("does not fit the chain") == 1
