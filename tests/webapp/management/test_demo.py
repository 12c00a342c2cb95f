"""The demo refuses what would surprise, and opens campaigns as a requester would."""

from __future__ import annotations

import itertools
import socket
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.utils import timezone

from bots import registry
from bots.weights import ABOUT
from tests.factories import make_campaign, make_staff
from webapp.management.commands.demo import Command
from webapp.management.demo import planted, stage, study
from webapp.models import Campaign
from webapp.services.campaign import checklist, launch


def test_a_port_that_is_taken_is_named_with_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(stage.PortTaken, match=f"--port {port}.*try --port") as refusal:
            stage.check_port(port)
        stage.check_port(int(str(refusal.value).rpartition(" ")[2]))


def test_a_folder_that_is_not_the_demos_is_not_deleted(
    tmp_path: Path, settings: LazySettings
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    settings.DATA_DIR = tmp_path
    settings.DATABASE = {"NAME": str(tmp_path / "parley.sqlite3")}
    with pytest.raises(CommandError, match="not made by the demo"):
        call_command("demo", reset=True, check=True, port=free_port())
    assert (tmp_path / "thesis.txt").exists()


def test_a_database_of_somebody_else_is_refused(settings: LazySettings) -> None:
    settings.DATABASE = {"NAME": "/somewhere/else"}
    with pytest.raises(CommandError, match="DATABASE_URL"):
        call_command("demo", check=True, port=free_port())


@pytest.mark.parametrize("is_installed", [True, False])
def test_small_model_and_ranker_have_a_place_in_the_seats_where_they_are_installed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: name if is_installed else None)
    for name, bot in ((study.WRITER, "small_model"), (study.RANKER, "minilm_matcher")):
        with_it = {each.name for each in study.STUDIES if name in study.systems_of(each)}
        assert with_it == {each.name for each in study.STUDIES if each.invites and is_installed}
        assert study.BOTS[name] == bot


@pytest.mark.django_db
@pytest.mark.parametrize("each", study.STUDIES, ids=lambda each: each.protocol)
def test_campaigns_are_made_by_the_requesters_services(
    each: study.DemoStudy, tmp_path: Path, settings: LazySettings
) -> None:
    settings.WEIGHTS_DIR = tmp_path
    for name in set(study.WEIGHTS.values()):
        (tmp_path / name).mkdir()
        (tmp_path / name / ABOUT).write_text('{"bot": "profile_memory"}')
    by = make_staff()
    campaign = study.make(each, by=by, seed=5)
    assert campaign.state == Campaign.State.DRAFT
    assert sorted(campaign.systems.values_list("name", flat=True)) == sorted(study.systems_of(each))
    assert set(each.systems) <= set(planted.PLANTED)
    assert study.make(each, by=by, seed=6) == campaign
    red = {check.name for check in checklist.checklist(campaign, timezone.now()) if not check.ok}
    assert red <= {"Rehearsal", "Reply workers", "Replies to contexts"}
    departures = {
        row["setting"]
        for row in launch.plan_of(campaign)["protocol"]["settings"]
        if row["departure"]
    }
    assert departures == set(each.settings)


@pytest.mark.django_db
def test_each_seat_is_printed_with_its_link_and_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [(each, make_campaign(each.protocol, name=each.name)) for each in study.STUDIES]
    Command()._show_links("http://here", found, "secret")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    seats = {each.protocol: (each, campaign) for each, campaign in found if each.invites}
    assert set(seats) == {"personachat_bot", "meena_interactive"}
    for each, campaign in seats.values():
        assert lines[lines.index(each.invites) + 1] == f"http://here/c/{campaign.slug}/"
    others = [campaign.slug for each, campaign in found if not each.invites]
    assert not any(slug in line for slug in others for line in lines)


def test_the_systems_that_are_ranked_are_planted_apart() -> None:
    for question in planted.SCALES:
        levels = sorted(quality[question] for quality in planted.RANKED.values())
        assert min(b - a for a, b in itertools.pairwise(levels)) >= 0.8


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
