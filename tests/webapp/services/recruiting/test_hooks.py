"""Webhooks that the server subscribes itself: once, confirmed, and signed by the workspace (S5)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign
from tests.webapp.services.recruiting.fake_panel import SECRET, FakePanel
from tests.webapp.services.recruiting.test_drill import post, published
from tests.webapp.services.recruiting.test_panel import submitted
from webapp.models import AuditEntry, PanelHook

pytestmark = pytest.mark.django_db
HOST = "https://parley.example.org"
EVENTS = ["submission.status.change", "study.status.change"]


@pytest.fixture
def panel(panel: FakePanel, settings: LazySettings) -> FakePanel:
    """Return the panel, none of whose events can be signed yet."""
    settings.PROLIFIC_WEBHOOK_SECRET = ""
    return panel


def subscribe(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    call_command("prolific_webhooks", HOST, *words)
    return capsys.readouterr().out.splitlines()


def test_both_events_are_subscribed_confirmed_and_not_twice(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert subscribe(capsys) == [f"{event}: subscribed" for event in EVENTS]
    rows = list(panel.hooks.values())
    assert [row["event_type"] for row in rows] == EVENTS
    assert {row["target_url"] for row in rows} == {f"{HOST}/panel/events"}
    assert all(row["is_enabled"] for row in rows)
    before = dict(panel.secrets)
    assert subscribe(capsys) == [f"{event}: was subscribed" for event in EVENTS]
    assert (list(panel.hooks.values()), panel.secrets) == (rows, before)
    (entry,) = AuditEntry.objects.filter(action="panel: webhooks subscribed")
    assert entry.actor.startswith("command line")


def test_an_event_is_taken_only_with_the_workspaces_secret(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    study = published(panel, make_campaign())
    one = submitted(panel, study)
    event = {"id": "e1", "event_type": EVENTS[0], "resource_id": one.submission_id}
    assert post(event, NOW, "anything") == 404  # nothing is subscribed
    subscribe(capsys)
    assert post(event, NOW, SECRET) == 403
    one.refresh_from_db()
    assert not one.look
    assert post(event, NOW, panel.secrets["w1"]) == 200
    one.refresh_from_db()
    assert one.look


def test_a_secret_that_others_may_use_is_kept_and_a_new_one_is_learned(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    panel.secrets["w1"] = "of another tool"
    subscribe(capsys)
    assert panel.secrets["w1"] == "of another tool"
    assert "of another tool" not in PanelHook.objects.get().sealed
    panel.secrets["w1"] = "made anew over there"
    event = {"id": "e1", "event_type": EVENTS[1], "resource_id": "0"}
    assert post(event, NOW, "made anew over there") == 403
    subscribe(capsys)
    assert post(event, NOW, "made anew over there") == 200
    assert PanelHook.objects.count() == 1


def test_the_environments_secret_holds_beside_it(
    panel: FakePanel, settings: LazySettings, capsys: pytest.CaptureFixture[str]
) -> None:
    subscribe(capsys)
    settings.PROLIFIC_WEBHOOK_SECRET = SECRET
    for number, secret in enumerate((SECRET, panel.secrets["w1"])):
        event = {"id": f"e{number}", "event_type": EVENTS[1], "resource_id": "0"}
        assert post(event, NOW, secret) == 200


@pytest.mark.parametrize("fault", ["busy", "lost"])
@pytest.mark.parametrize("call", ["hooks/subscriptions/", "hooks/secrets/"])
def test_what_was_broken_off_is_finished_by_a_repeat(
    panel: FakePanel, capsys: pytest.CaptureFixture[str], fault: str, call: str
) -> None:
    """A subscription whose confirmation got lost can never be confirmed: it is made anew."""
    panel.kills = [f"{fault} {call}"]
    for _ in range(4):
        try:
            subscribe(capsys)
        except CommandError as problem:
            assert "nothing is lost, try it again" in str(problem)  # noqa: PT017 - not each time
    subscribe(capsys)
    assert sorted(row["event_type"] for row in panel.hooks.values()) == sorted(EVENTS)
    assert all(row["is_enabled"] for row in panel.hooks.values())


def test_one_that_was_never_confirmed_or_is_another_address_is_no_subscription(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    panel.secrets["w1"] = "s"
    for target, is_enabled in ((f"{HOST}/panel/events", False), ("https://other.org/x", True)):
        content = {"workspace_id": "w1", "event_type": EVENTS[0], "target_url": target}
        made = panel.answer("POST", "/api/v1/hooks/subscriptions/", content)
        made["is_enabled"] = is_enabled
    assert subscribe(capsys) == [f"{event}: subscribed" for event in EVENTS]
    found = sorted((row["target_url"], row["is_enabled"]) for row in panel.hooks.values())
    assert found == [("https://other.org/x", True), *[(f"{HOST}/panel/events", True)] * 2]


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["http://parley.example.org"], "address is 'http://parley.example.org'; right would be"),
        (["https://parley.example.org/x"], "right would be https and a host"),
        (["parley.example.org"], "right would be https and a host"),
        ([HOST, "--workspace", "w9"], "--workspace is 'w9'; right would be one of: w1 (Our lab)"),
        ([HOST], "the token has several workspaces; right would be one of: w1 (Our lab), w2 (B)"),
    ],
)
def test_wrong_words_are_refused_and_nothing_is_done(
    panel: FakePanel, words: list[str], wrong: str
) -> None:
    if words == [HOST]:
        panel.workspaces["w2"] = "B"
    with pytest.raises(CommandError) as refused:
        call_command("prolific_webhooks", *words)
    assert wrong in str(refused.value)
    assert not panel.hooks
    assert not PanelHook.objects.exists()


def test_one_of_several_workspaces_is_named(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    panel.workspaces["w2"] = "B"
    subscribe(capsys, "--workspace", "w2")
    assert {row["workspace_id"] for row in panel.hooks.values()} == {"w2"}


def test_without_a_token_there_is_no_panel(panel: FakePanel, settings: LazySettings) -> None:
    settings.PROLIFIC_TOKEN = ""
    with pytest.raises(CommandError, match="PROLIFIC_TOKEN is not set"):
        call_command("prolific_webhooks", HOST)


def test_the_page_says_how_changes_come(
    panel: FakePanel, capsys: pytest.CaptureFixture[str]
) -> None:
    study = published(panel, make_campaign(), NOW - timedelta(minutes=1))
    client = Client()
    client.force_login(study.made_by)
    address = reverse("panel", args=[study.campaign_id])
    assert "webhooks" not in client.get(address).content.decode()
    subscribe(capsys)
    assert "told at once by webhooks" in client.get(address).content.decode()
