"""The ledger run: simulated people, processes killed under them, and everything compared.

    python -m tests.trust.ledger --people 150 --backend sqlite --seed 1 --kill-every 5

Prints the table of docs/promises.md and exits 1 unless every count is 0. The seed
decides who the people are and what is killed; the machine's own timing it cannot repeat.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import servers
from tests.trust import cluster
from tests.trust.drills import DRILLS, Drill
from tests.trust.outages import connect
from tests.trust.runs import Result, Run, table

if TYPE_CHECKING:
    from tests.trust.scenario import Part
    from webapp.crowd.process import Crowd

LONGEST = 900.0  # seconds for everybody


def perform(run: Run, folder: Path) -> Result:
    """Set up, let everybody take part while processes are killed, then compare."""
    with _installation(run, folder) as installed:
        from tests.trust import scenario

        if run.drill and run.with_bug and run.drill.constraint:
            _drop(run.drill.constraint)
        found = scenario.parts_of_drill(run.drill) if run.drill else scenario.parts(run.people)
        start = time.monotonic()
        with cluster.running(installed):
            _begin(found)
            crowds = scenario.crowds(found, installed.bases, folder, run)
            ledgers = [folder / f"{part.campaign.name}.jsonl" for part in found]
            _watch(run, installed, crowds, ledgers)
            calm(5 if run.drill else 60)
        _tidy()
        result = compare(found, folder, installed)
        result.seconds = time.monotonic() - start
        return result


@contextlib.contextmanager
def _installation(run: Run, folder: Path) -> Iterator[cluster.Cluster]:
    """Yield servers to be started, with this process connected to their database."""
    env = os.environ | {"DEBUG": "1", "DATA_DIR": str(folder), "LOG_LEVEL": "WARNING"}
    env["PARTNER_GRACE"] = "30"  # those who walk off are waited for no longer than this
    env = {name: value for name, value in env.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    with contextlib.ExitStack() as stack:
        if run.backend == "sqlite":
            connect(env)
            count = run.drill.servers if run.drill else 1
            own = [servers.free_port() for _ in range(count)]
            yield cluster.embedded(own, env, folder, bug=run.injected)
            return
        env["DATABASE_URL"] = stack.enter_context(servers.postgresql())
        env["REDIS_URL"] = stack.enter_context(servers.redis_server())
        connect(env)
        ports = [servers.free_port(), servers.free_port()]
        yield cluster.distributed(ports, ("generic", "parrot"), env, folder, bug=run.injected)


def _drop(constraint: str) -> None:
    """Take a constraint out of the database of this run."""
    from django.db import connection

    from webapp import models

    model, _, name = constraint.partition(".")
    kind = getattr(models, model)
    (chosen,) = (each for each in kind._meta.constraints if each.name == name)
    with connection.schema_editor() as editor:
        editor.remove_constraint(kind, chosen)


def _begin(found: list[Part]) -> None:
    """Have the contexts answered before anybody comes to judge the answers."""
    from django.utils import timezone

    from tests.trust import scenario
    from webapp.models import Item

    scenario.begin_static(found, timezone.now())
    wanted = sum(2 * part.campaign.contexts.count() for part in found)
    end = time.monotonic() + 30
    while Item.objects.count() < wanted and time.monotonic() < end:
        time.sleep(0.2)


def _watch(run: Run, installed: cluster.Cluster, crowds: list[Crowd], ledgers: list[Path]) -> None:
    """Kill something every few seconds, or what a drill kills, until everybody is done."""
    chance = random.Random(run.seed)
    end = time.monotonic() + LONGEST
    following, known = time.monotonic() + run.pause(0), 0
    try:
        while any(crowd.running for crowd in crowds) and time.monotonic() < end:
            time.sleep(0.1)
            if run.drill is not None:
                known = _kill_upon(run.drill, installed, ledgers, known)
            elif run.kill_every and time.monotonic() >= following and installed.kill_one(chance):
                done = sum(len(crowd.ended) for crowd in crowds)
                print(f"  killed {installed.kills[-1].what}; {done} are done", file=sys.stderr)
                following = time.monotonic() + run.pause(len(installed.kills))
    finally:
        for crowd in crowds:
            crowd.end()


def _kill_upon(drill: Drill, installed: cluster.Cluster, ledgers: list[Path], known: int) -> int:
    """Kill the server when clients have written more of what a drill waits for than was known.

    Returns how much is known then.
    """
    if drill.kill_upon is None or len(installed.kills) == drill.kills:
        return known
    count = sum(drill.kill_upon(record) for record in _written(ledgers))
    if count > known:
        installed.kill(installed.processes[0])
        print(f"  killed {installed.kills[-1].what} at number {count}", file=sys.stderr)
        cluster.wait_for(installed.bases[0])
    return count


def _written(ledgers: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield what clients have written so far, but for a line that is being written."""
    for file in filter(Path.exists, ledgers):
        whole, _, _ = file.read_text(encoding="utf-8").rpartition("\n")
        yield from map(json.loads, filter(None, whole.split("\n")))


def calm(seconds: float) -> None:
    """Wait until no bot owes an answer."""
    from webapp.models import ReplyJob

    owed = ReplyJob.objects.filter(state__in=("QUEUED", "CLAIMED", "ANSWERED"))
    end = time.monotonic() + seconds
    while owed.exists() and time.monotonic() < end:
        time.sleep(0.2)


def _tidy() -> None:
    """Do what the sweeper would do in half an hour: end who walked off."""
    from webapp import clock
    from webapp.models import Heartbeat, Outage
    from webapp.services.ops import sweeper

    Outage.objects.all().delete()  # those of the kills: they would count a minute each
    for minutes in (0, 31, 62):
        now = clock.read() + timedelta(minutes=minutes)
        Heartbeat.objects.filter(kind="platform").update(seen_at=now)  # pages are served meanwhile
        sweeper.tick(now)


def compare(found: list[Part], folder: Path, installed: cluster.Cluster) -> Result:
    from tests.trust import checks, figures, snapshot, stories
    from webapp.crowd import ledger

    faults: dict[str, list[str]] = {name: [] for name in checks.CHECKS}
    ended: dict[str, int] = {}
    records: list[dict[str, Any]] = []
    for part in found:
        part.campaign.refresh_from_db()
        mine = list(ledger.read(folder / f"{part.campaign.name}.jsonl"))
        records += mine
        export = _exported(part.campaign, folder)
        case = checks.Case(stories.sort(mine), snapshot.take(part.campaign), export)
        for name, sentences in checks.check(case).items():
            faults[name] += [f"{part.campaign.name}: {sentence}" for sentence in sentences]
        for outcome, count in checks.people_paid(case).items():
            ended[outcome] = ended.get(outcome, 0) + count
    speed = figures.speed(records, installed.kills)
    return Result(faults, len(installed.kills), 0.0, ended, speed)


def _exported(campaign: Any, folder: Path) -> Any:
    from django.utils import timezone

    from tests.trust import snapshot
    from webapp.services.data import exports

    path = exports.write(campaign=campaign, folder=folder / campaign.name, now=timezone.now())
    return snapshot.read_export(path)


def _run(given: argparse.Namespace) -> Run:
    if given.drill is None:
        return Run(given.people, given.backend, given.seed, given.kill_every)
    drill = DRILLS[given.drill]
    return Run(drill.people, "sqlite", given.seed, 0.0, drill, not given.without_bug)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.trust.ledger")
    parser.add_argument("--people", type=int, default=150)
    parser.add_argument("--backend", choices=("sqlite", "servers"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill-every", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--drill", choices=DRILLS, help="try a deliberate fault instead")
    parser.add_argument("--without-bug", action="store_true", help="the drill, but nothing wrong")
    parser.add_argument("--keep", type=Path, help="a folder for the ledgers, logs and database")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and so end what was started
    run = _run(given)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = perform(run, folder)
    print(json.dumps(vars(result)) if given.json else table(run, result))
    return 0 if result.clean else 1


if __name__ == "__main__":
    sys.exit(main())
