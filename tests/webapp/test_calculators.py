"""Calculators: children that compute, one per subject; what ends badly is told."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from django.utils import timezone

from tests.factories import make_campaign
from webapp.calculators import Calculators
from webapp.models import Campaign, Heartbeat
from webapp.services.results import stored

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0


def told(campaign: Campaign, code: str, patience: float = PATIENCE) -> stored.Found:
    """Return how a result stands after a child that runs this code, with the subject, ended."""
    stored.want(of=campaign, name="page", choice="counted", now=timezone.now())
    calculators = Calculators([sys.executable, "-c", code], patience=patience, beat=0.05)
    calculators.want(stored.subject_of(campaign))
    for thread in threading.enumerate():
        if thread.name.startswith("results "):
            thread.join(PATIENCE)
    calculators.stop()
    assert not Heartbeat.objects.exists()
    return stored.status(of=campaign, name="page", choice="counted")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os.kill(os.getpid(), 9)", "was ended (SIGKILL)"),
        ("raise SystemExit(3)", "failed (exit status 3)"),
    ],
)
def test_a_child_that_ends_badly_is_told(code: str, problem: str) -> None:
    found = told(make_campaign(), code)
    assert problem in found.problem
    assert found.wanted_at is None


def test_a_child_that_takes_too_long_is_ended_and_told() -> None:
    code = "import sys; sys.stdin.read()"
    assert "longer than 0.2 seconds" in told(make_campaign(), code, patience=0.2).problem


def test_those_who_want_the_same_subject_wait_for_one_child(tmp_path: Path) -> None:
    campaign = make_campaign()
    code = f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(sys.argv[1] + ' ')"
    code += "; sys.stdin.read()"
    calculators = Calculators([sys.executable, "-c", code], beat=0.05)
    for _ in range(5):
        calculators.want(stored.subject_of(campaign))
    waiting = threading.Event()
    for _ in range(1200):
        if (tmp_path / "ran").exists() and (tmp_path / "ran").read_text():
            break
        waiting.wait(0.05)
    calculators.stop()  # ends the child, which waits for its end
    assert (tmp_path / "ran").read_text() == f"campaign-{campaign.pk} "


def test_a_server_that_stops_leaves_what_is_wanted_for_the_next() -> None:
    campaign = make_campaign()
    stored.want(of=campaign, name="page", choice="counted", now=timezone.now())
    calculators = Calculators([sys.executable, "-c", "import sys; sys.stdin.read()"], beat=0.05)
    calculators.want(stored.subject_of(campaign))
    calculators.stop()
    found = stored.status(of=campaign, name="page", choice="counted")
    assert (found.problem, found.wanted_at is None) == ("", False)
    assert not Heartbeat.objects.exists()
