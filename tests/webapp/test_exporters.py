"""Exporters: what a child that writes an export fails at is told, and nothing is left behind.

The real child writes one in `test_start`, beside the pages that a web process shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from tests.factories import NOW, make_campaign, make_staff
from webapp import exporters
from webapp.models import Campaign
from webapp.services.rules import access

pytestmark = pytest.mark.django_db
WRITES = "import sys; open(sys.argv[-1], 'w').write(' '.join(sys.argv[1:-1]))"


@pytest.fixture(autouse=True)
def stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    exporters.stop()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def campaign() -> access.StaffCampaign:
    row: Campaign = make_campaign()
    return access.campaign(make_staff(), row.pk)


def test_a_child_is_told_what_to_write_and_for_whom(campaign: access.StaffCampaign) -> None:
    exporters.start([sys.executable, "-c", WRITES])
    with exporters.download(of=campaign, by="ada", now=NOW) as file:
        assert file.read().decode() == f"{campaign.pk} --by ada --out"


def test_a_child_that_fails_is_told(campaign: access.StaffCampaign) -> None:
    exporters.start([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(exporters.NoExport, match=r"failed \(3\)"):
        exporters.download(of=campaign, by="ada", now=NOW)


@override_settings(RESULTS_SECONDS=0.2)
def test_a_child_that_takes_too_long_is_ended(campaign: access.StaffCampaign) -> None:
    exporters.start([sys.executable, "-c", "import threading; threading.Event().wait()"])
    with pytest.raises(exporters.NoExport, match=r"longer than 0\.2 seconds"):
        exporters.download(of=campaign, by="ada", now=NOW)
