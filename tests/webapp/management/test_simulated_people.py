"""The demo's people: as quick as people are, but for those who do not care; none keeps a place."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from itertools import count, islice
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from bots.datasets import demo
from tests.factories import NOW, make_campaign
from tests.live import ROOT, environment
from tests.servers import free_port
from tests.webapp.management.filling import TARGET, walks_off
from tests.webapp.services.people import conversation_of, join, send_message, start
from webapp.crowd import lines
from webapp.crowd.order import Order
from webapp.crowd.people import Mix, Person, draw_people
from webapp.crowd.process import Crowd
from webapp.management import oracle
from webapp.management.commands import crowd as crowd_command
from webapp.management.demo import planted
from webapp.models import Participation, QuotaCell
from webapp.services.rules import flags

MESSAGES = 6  # of one person, at least, where the source asks for 12 of both
QUESTIONS = 4  # of the form, three of them scales


def _said(person: Person, persona: tuple[str, ...]) -> flags.TimedMessages:
    """Return a person's messages with the time that each took, where nothing else takes any."""
    texts = islice(lines.messages(person, persona), MESSAGES)
    return [(text, timedelta(seconds=person.writing(text))) for text in texts]


def test_only_who_does_not_care_is_flagged() -> None:
    personas = [each.original for each in demo.personas("test")]
    people = draw_people(400, seed=1, mix=planted.MIX)
    flagged = {
        person.name: [kind for kind, _ in flags._oddities(_said(person, personas[k % 20]))]
        for k, person in enumerate(people)
    }
    assert {name for name, kinds in flagged.items() if kinds} == {
        person.name for person in people if person.spammer
    }
    assert {kind for kinds in flagged.values() for kind in kinds} == {"quick", "repeated"}


def test_who_does_not_care_is_flagged_on_a_slow_machine_too() -> None:
    """There the time between two messages is the server's, not that of the person."""
    careless = next(one for one in draw_people(400, seed=1, mix=planted.MIX) if one.spammer)
    said = [(text, timedelta(seconds=20)) for text, _ in _said(careless, ())]
    assert [kind for kind, _ in flags._oddities(said)] == ["repeated"]


def test_equal_answers_are_not_given_in_haste_either() -> None:
    careful = [one for one in draw_people(50, seed=1, mix=planted.MIX) if not one.spammer]
    least = min(person.answering * QUESTIONS for person in careful)
    assert least > flags.STRAIGHT_SECONDS * len(planted.SCALES)


def test_haste_is_the_mixs_own_choice() -> None:
    person = draw_people(1, seed=1, mix=Mix(pause=0.1, slow=0.0, spam=0.0))[0]
    assert person.writing("Hello there") == pytest.approx(0.1)
    slow = Mix(pause=0.1, slow=0.0, spam=0.0, reading=1.0, letter=0.5)
    assert draw_people(1, seed=1, mix=slow)[0].writing("Hello") == pytest.approx(3.6)


# --- places of those who walk off -------------------------------------------------------------


@pytest.mark.django_db
def test_who_walks_off_gives_the_place_back_at_once() -> None:
    campaign = make_campaign(target=1)
    person = start(campaign, "sim-1-0")
    send_message(person, "hello")
    assert QuotaCell.objects.get().free == 0
    assert oracle.let_go(campaign, "sim-1-0")
    person.refresh_from_db()
    assert (person.state, person.outcome) == ("ENDED", "LEFT")
    assert conversation_of(person).state == "ABANDONED"
    assert QuotaCell.objects.get().free == 1
    assert not oracle.let_go(campaign, "sim-1-0")
    assert not oracle.let_go(campaign, "sim-1-1")


@pytest.mark.django_db
def test_who_shows_a_sign_of_life_meanwhile_keeps_it() -> None:
    campaign = make_campaign()
    person = join(campaign, "sim-1-0")
    Participation.objects.filter(pk=person.pk).update(seen_at=NOW + timedelta(days=36_500))
    assert not oracle.let_go(campaign, "sim-1-0")
    person.refresh_from_db()
    assert person.state == "READY"


def test_each_who_is_gone_is_told_of_before_they_count_as_done(tmp_path: Path) -> None:
    """Nobody answers at this address, so everybody gives up."""
    order = Order(
        bases=(f"http://127.0.0.1:{free_port()}",),
        slug="nowhere",
        count=3,
        at_once=1,
        patience=0.0,
        oracle=True,
    )
    gone: list[tuple[str, list[str]]] = []
    crowd = Crowd(
        order, tmp_path / "ledger.jsonl", gone=lambda name: gone.append((name, [*crowd.ended]))
    )
    assert crowd.wait(60) == 0
    names = [f"sim-0-{number}" for number in range(3)]
    assert gone == [(name, names[:place]) for place, name in enumerate(names)]
    assert crowd.ended == names


@pytest.mark.timeout(300)
def test_people_come_until_the_campaign_is_complete(tmp_path: Path) -> None:
    """One of the first walks off, and nobody of those who come in their place."""
    seed = next(n for n in count() if sum(walks_off(n)) == sum(walks_off(n)[:TARGET]) == 1)
    done = subprocess.run(
        [sys.executable, "-m", "tests.webapp.management.filling", str(seed)],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["closed"], found["state"]) == (True, "CLOSED"), found
    assert sorted(found["outcomes"].values()) == ["COMPLETED"] * TARGET + ["LEFT"]
    left = f"sim-{seed}-{walks_off(seed).index(True)}"
    assert found["outcomes"][left] == "LEFT"


@pytest.mark.django_db
def test_a_crowd_that_reaches_no_server_says_so(tmp_path: Path) -> None:
    slug, nowhere = make_campaign().slug, f"http://127.0.0.1:{free_port()}"
    options = {"people": 1, "seconds": 1.0, "ledger": tmp_path / "crowd.jsonl"}
    with pytest.raises(CommandError, match=f"0 of 1 people are done: is Parley at {nowhere}"):
        call_command("crowd", slug, at=[nowhere], **options)
    (tmp_path / "torn.jsonl").write_text('{"person": "a", "what": "stuck"}\n{"person": "b", "wh')
    assert crowd_command._stuck(tmp_path / "torn.jsonl", 0) == {"a"}
    assert crowd_command._stuck(tmp_path / "none.jsonl", 0) == set()
    with pytest.raises(CommandError, match="must be a whole number of 1 or more"):
        call_command("crowd", slug, "--people", "0")
