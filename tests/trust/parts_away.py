"""Outages of one part alone, the others at work, begun at every step, on real servers (G26).

    python -m tests.trust.parts_away --away web database replies sweeper broker --seconds 10 1860

People stand at each step of an installation of several processes (PostgreSQL, Redis, a web server,
a reply worker, a sweeper). One of them is killed, or the database crashes; all stored times are
moved back by the length of the outage, in pieces where the sweeper is at work, so that it judges
all along; then the part comes back. People whose pages answer are there meanwhile and go on, but
for those who wait for what is away. Prints what was found after the sweeper's next turns, for each
outage; exits 1 unless all harm is zero.

`tests.trust.outages` has all parts together.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests import live, servers
from tests.trust import cluster, outages

PIECE = 90  # seconds of an outage between two turns of the sweeper, or a twentieth of it
WORKED = ("chat", "screening", "rating")  # steps where people go on without a reply worker


@dataclass
class Installation:
    """What runs, and who stands where."""

    database: servers.PostgreSQL
    broker: contextlib.ExitStack
    processes: cluster.Cluster
    stage: outages.Stage

    def process(self, name: str) -> cluster.Process:
        (found,) = (each for each in self.processes.processes if each.name == name)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--away", nargs="+", choices=AWAY, default=list(AWAY))
    parser.add_argument("--seconds", type=int, nargs="+", default=[10, 98, 1860, 86400])
    parser.add_argument("--bug", default="", help="a fault of tests.trust.faults")
    wanted = parser.parse_args()
    with installed(wanted.bug) as here:
        every = [(part, seconds) for part in wanted.away for seconds in wanted.seconds]
        found = [outage(here, *each) for each in every]
    print(json.dumps(found))
    return 1 if any(sum(each["harm"].values()) for each in found) else 0


@contextlib.contextmanager
def installed(bug: str) -> Iterator[Installation]:
    """Run an installation with people at each step, all of whom are there."""
    from django.db import connection

    with contextlib.ExitStack() as stack:
        database = stack.enter_context(servers.restartable_postgresql())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(contextlib.ExitStack())
        redis = broker.enter_context(servers.redis_server())
        changes = {"DATABASE_URL": database.url, "REDIS_URL": redis, "PARTNER_GRACE": "90"}
        env = live.environment(folder, LOG_LEVEL="ERROR", **changes)
        outages.connect(env)
        port = servers.free_port()
        processes = cluster.distributed([port], ["parrot"], env, folder, bug=bug)
        stack.enter_context(cluster.running(processes))
        _until_all_give_signs_of_life()
        try:
            yield Installation(database, broker, processes, outages.seed_stage())
        finally:
            connection.close()  # else the database waits for it


def _until_all_give_signs_of_life() -> None:
    from webapp.models import Heartbeat

    rows = Heartbeat.objects.filter(kind="platform")
    _until(lambda: rows.all().count() >= 3, "web, sweeper and reply worker give signs of life")


def outage(here: Installation, part: str, seconds: int) -> dict[str, Any]:
    """Let a part be away for so long, and tell what was found once it was back."""
    from webapp.models import Outage

    outages.all_are_there()
    before = Outage.objects.filter(part="web").count()
    AWAY[part](here, seconds)
    outages.wait_for_a_turn()
    stored = Outage.objects.filter(part="web").count() - before
    harm = outages.harm_of(here.stage)
    return {"away": part, "seconds": seconds, "harm": harm, "outages": stored, **outages.notices()}


def _without_web(here: Installation, seconds: int) -> None:
    web = here.process("web 1")
    web.kill()
    for piece in _pieces(seconds):
        _pass(piece, "platform web")
    web.start()
    cluster.wait_for(web.base)
    _until_all_beat_again("platform web")


def _without_replies(here: Installation, seconds: int) -> None:
    """Who waits for a bot can do nothing; the others are there, and go on."""
    worker = here.process("replies 1")
    worker.kill()
    _write_to_a_bot(here.stage)
    for piece in _pieces(seconds):
        _pass(piece, "platform replies", lambda: _go_on(here.stage))
    worker.start()
    _until_all_beat_again("platform replies")
    _until_answered(here.stage)


def _without_sweeper(here: Installation, seconds: int) -> None:
    """Nobody judges meanwhile; the first turn afterwards sees people who were there all along."""
    from django.db.models import F

    from webapp.models import Heartbeat

    sweeper = here.process("sweep")
    sweeper.kill()
    span = timedelta(seconds=seconds)
    Heartbeat.objects.filter(name="platform sweeper").update(seen_at=F("seen_at") - span)
    _everybody_goes_on(here.stage, span)
    sweeper.start()
    _until_all_beat_again("platform sweeper")


def _without_broker(here: Installation, seconds: int) -> None:
    """No hint arrives: a reply that is owed comes by the worker's own look."""
    port = urlsplit(os.environ["REDIS_URL"]).port or 0
    here.broker.close()
    _write_to_a_bot(here.stage)
    _until_answered(here.stage)
    for piece in _pieces(seconds):
        _everybody_goes_on(here.stage, piece)
        outages.wait_for_a_turn()
    here.broker.enter_context(servers.redis_server(port))


def _everybody_goes_on(stage: outages.Stage, span: timedelta) -> None:
    """Let time pass for people of all steps, who make progress; who works gives signs of life."""
    from django.db import transaction
    from django.db.models import F

    from webapp.models import Heartbeat, Participation

    with transaction.atomic():
        outages.move_back(span, besides=(Heartbeat,))
        _go_on(stage)
        rows = Participation.objects.exclude(state="ENDED")
        rows.update(state_at=F("seen_at"))
        rows.filter(waiting_at__isnull=False).update(waiting_at=F("seen_at"))


def _without_database(here: Installation, seconds: int) -> None:
    """Nothing is stored meanwhile: the others try in vain, until they find it again."""
    from django.db import connection

    connection.close()
    here.database.end(signal.SIGQUIT)
    time.sleep(min(seconds, 10))  # as long as that they do try
    for process in here.processes.processes:
        _signal(process, signal.SIGSTOP)
    here.database.start()
    outages.move_back(timedelta(seconds=seconds))
    for process in here.processes.processes:
        _signal(process, signal.SIGCONT)


AWAY: dict[str, Callable[[Installation, int], None]] = {
    "web": _without_web,
    "database": _without_database,
    "replies": _without_replies,
    "sweeper": _without_sweeper,
    "broker": _without_broker,
}


def _signal(process: cluster.Process, how: signal.Signals) -> None:
    assert process.running is not None
    process.running.send_signal(how)


def _pieces(seconds: int) -> list[timedelta]:
    count = max(1, min(20, seconds // PIECE))
    return [timedelta(seconds=seconds) / count] * count


def _pass(span: timedelta, silent: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let time pass under a sweeper at work, and judge by it.

    The silence grows first, and a turn later all else: no turn reads the one of before and the
    other of afterwards.
    """
    from django.db import transaction

    from webapp.models import Heartbeat

    kept = dict(Heartbeat.objects.values_list("name", "seen_at"))
    Heartbeat.objects.filter(name=silent).update(seen_at=kept[silent] - span)
    outages.wait_for_a_turn()
    with transaction.atomic():
        outages.move_back(span, besides=(Heartbeat,))
        meanwhile()
    outages.wait_for_a_turn()


def _go_on(stage: outages.Stage) -> None:
    """Let people whose pages answer have been there, and those at work have made progress."""
    from django.db.models import Max

    from webapp.models import Event

    now = outages.all_are_there()
    for step in WORKED:
        people = outages.people_at(stage, step)
        people.update(state_at=now)
        last = people.aggregate(last=Max("seats__conversation__events__pk"))["last"]
        Event.objects.filter(pk=last).update(made_at=now)


def _write_to_a_bot(stage: outages.Stage) -> None:
    from webapp import clock
    from webapp.services.conversation import chat

    (person,) = outages.people_at(stage, "typing bot")
    key = uuid.uuid4()
    text = f"Are you still there, after {person.seats.latest('pk').conversation.last_seq}?"
    chat.send_message(person=person, client_id=key, text=text, now=clock.read())
    stage.stored = outages.all_stored()


def _until_answered(stage: outages.Stage) -> None:
    """Wait until who wrote meanwhile has their answer; who was told that none came asks again."""
    from webapp import clock
    from webapp.models import ReplyJob
    from webapp.services.conversation import chat

    (person,) = outages.people_at(stage, "typing bot")
    job = ReplyJob.objects.filter(conversation__seats__participation=person).latest("pk")
    if job.state == ReplyJob.State.FAILED:
        chat.retry(person=person, client_id=uuid.uuid4(), now=clock.read())
    done = ReplyJob.objects.filter(pk=job.pk, state=ReplyJob.State.DONE)
    _until(lambda: done.all().exists(), "the bot replies")


def _until_all_beat_again(name: str) -> None:
    """Wait until the part that was away has given a sign of life, which stores its outage."""
    from webapp import clock
    from webapp.models import Heartbeat

    beaten = Heartbeat.objects.filter(name=name, seen_at__gt=clock.read())
    _until(lambda: beaten.all().exists(), f"{name} gives a sign of life")


def _until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + outages.PATIENCE
    while not condition():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
