"""The fault matrix: each fault under people who write and rate, and all that it did to them.

    python -m tests.trust.matrix --faults kill-web tcp-cut outage-1860 --database sqlite --seed 1

Without --faults all of them, without --database on SQLite (one process) and on PostgreSQL with
Redis (two web processes, two reply workers, a sweeper). An outage is of the whole platform and as
long as its name says, in seconds: stored times are moved, see `tests.trust.outages`. Prints a table
and exits 1 unless every count is 0 and something was acknowledged in each row. What this machine
cannot do is listed as not run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import live, servers
from tests.trust import cables, cluster, ledger
from tests.trust.outages import ACCUSING, connect
from tests.trust.serving import Broker
from tests.trust.strikes import STRIKES, NotRun, Site

if TYPE_CHECKING:
    from tests.trust.scenario import Part
    from webapp.crowd.process import Crowd

OUTAGES = {f"outage-{seconds}": seconds for seconds in (10, 98, 1860, 86_400)}
DATABASES = ("sqlite", "postgresql")
STAYS = 600.0  # seconds that a person takes part at most: two starts of a busy machine fit in
DISK = "size=1200m"  # twice what has to be free before anybody is let in, and not much more
COUNTS = ("lost", "doubled", "disorder", "torn", "unpaid", "accused", "other")
LOST = ("missing", "changed values", "turns without exactly one outcome")
UNPAID = ("unpaid entitled",)


@dataclass
class Row:
    """What one fault did on one database."""

    fault: str
    database: str
    acknowledged: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    seconds: float = 0.0
    why: list[str] = field(default_factory=list)  # sentences about what is not 0
    not_run: str = ""

    @property
    def clean(self) -> bool:
        return bool(self.not_run) or (self.acknowledged > 0 and not any(self.counts.values()))

    def __str__(self) -> str:
        if self.not_run:
            return f"{self.fault:17}{self.database:11} not run: {self.not_run}"
        counts = "".join(f"{self.counts[name]:9d}" for name in COUNTS)
        return f"{self.fault:17}{self.database:11}{self.acknowledged:7d}{counts}{self.seconds:7.0f}"


def header() -> str:
    return (
        f"{'fault':17}{'database':11}{'acked':>7}"
        + "".join(f"{name:>9}" for name in (*COUNTS,))
        + f"{'s':>7}"
    )


def perform(wanted: argparse.Namespace, database: str) -> Iterator[Row]:
    """Strike one installation with one fault after another, each time among new people."""
    chosen = [name for name in wanted.faults if name in STRIKES]
    if chosen:
        with _site(database, wanted.bug) as (site, folder):
            for name in chosen:
                yield _struck(site, name, folder, database, wanted)
    yield from _outages(wanted, database)


@contextlib.contextmanager
def _site(database: str, bug: str) -> Iterator[tuple[Site, Path]]:
    """Start an installation whose data are on a file system of its own, where one can be had."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        disk = stack.enter_context(_small_disk(folder))
        env = live.environment(disk or folder, PARTNER_GRACE="90", LOG_LEVEL="WARNING")
        server = broker = None
        if database == "postgresql":
            server = stack.enter_context(servers.restartable_postgresql(place=disk))
            broker = stack.enter_context(Broker())
            env |= {"DATABASE_URL": server.url, "REDIS_URL": broker.url}
        connect(env)
        ports = [servers.free_port() for _ in range(2 if server else 1)]
        bots = ("generic", "parrot")
        running = (
            cluster.distributed(ports, bots, env, folder, bug=bug)
            if server
            else cluster.embedded(ports, env, folder, bug=bug)
        )
        lines = stack.enter_context(cables.laid(ports))
        stack.enter_context(cluster.running(running))
        yield Site(running, lines, server, broker, disk), folder


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a file system in memory that can be filled; None where that is not allowed."""
    place = folder / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"{DISK},mode=777", "none", str(place)]
    try:
        done = subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    folder.chmod(0o755)  # the database is another user's
    try:
        yield place if done else None
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(place)], check=False)


def _struck(site: Site, name: str, folder: Path, database: str, wanted: argparse.Namespace) -> Row:
    from django.db import connection

    row, began = Row(name, database), time.monotonic()
    parts = _parts(name, wanted.people)
    crowds = _crowds(parts, site, folder, wanted)
    try:
        _wait_for_writes(parts, folder, wanted.people)
        connection.close()
        was_there = any(crowd.running for crowd in crowds)
        STRIKES[name](site)
        for base in site.running.bases:
            cluster.wait_for(base)
        for crowd in crowds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                crowd.wait(STAYS + 30)
        ledger.calm(30)
        _count(row, parts, folder, site)
        if not was_there:
            row.counts["other"] += 1
            row.why.append("everybody had left before the fault")
    except NotRun as problem:
        row.not_run = str(problem)
    finally:
        for crowd in crowds:
            crowd.end()
    row.seconds = time.monotonic() - began
    return row


def _parts(name: str, people: int) -> list[Part]:
    """Make a campaign with bots and pairs and one with labels; there is a place for everybody."""
    from tests.factories import make_campaign
    from tests.trust.scenario import SHORT, Part

    common: dict[str, Any] = {"target": people + people % 2, "personas": 4 * people}
    mixed = make_campaign(
        "personachat_bot",
        systems={"alpha": "generic", "beta": "parrot", "gamma": "people"},
        changes={**SHORT, "chat.pace": 0.02},
        wait_seconds=20,
        name=f"mixed {name}",
        **common,
    )
    labeled = make_campaign(
        "meena_interactive",
        systems={"alpha": "generic", "beta": "parrot"},
        changes={**SHORT, "chat.maximum": 10},
        name=f"labeled {name}",
        **{**common, "personas": 0},
    )
    some = max(1, people // 3)
    return [Part(mixed, people - some), Part(labeled, some)]


def _crowds(
    parts: Sequence[Part], site: Site, folder: Path, wanted: argparse.Namespace
) -> list[Crowd]:
    """Send people of whom nobody walks off: who is parted or missed is so by the fault."""
    from tests.trust.scenario import MIX
    from webapp.crowd.order import Order
    from webapp.crowd.people import Mix
    from webapp.crowd.process import Crowd

    mix = Mix(**{**vars(MIX), "dropout": 0.0, "pause": 0.5})
    return [
        Crowd(
            Order(
                bases=site.cables.bases,
                slug=part.campaign.slug,
                count=part.people,
                seed=wanted.seed,
                at_once=part.people,
                seconds=STAYS,
                mix=mix,
                prefix=part.campaign.name.replace(" ", "-"),
            ),
            folder / f"{part.campaign.name}.jsonl",
        )
        for part in parts
    ]


def _wait_for_writes(parts: Sequence[Part], folder: Path, count: int) -> None:
    """Wait until people are in the middle of it."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        if len(_acknowledged(_records(parts, folder))) >= 2 * count:
            return
        time.sleep(0.2)


def _records(parts: Sequence[Part], folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in parts:
        file = folder / f"{part.campaign.name}.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        with contextlib.suppress(json.JSONDecodeError):  # the last line may be half written
            found += map(json.loads, lines)
    return found


def _acknowledged(records: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(each["person"], each["id"]) for each in records if each["what"] == "ok"}


def _count(row: Row, parts: list[Part], folder: Path, site: Site) -> None:
    from webapp.models import Conversation, Participation

    result = ledger.compare(parts, folder, site.running)
    campaigns = [part.campaign for part in parts]
    people = Participation.objects.filter(campaign__in=campaigns)
    accused = people.filter(notice__in=ACCUSING) | people.filter(outcome="LEFT")
    torn = Conversation.objects.filter(campaign__in=campaigns, state="ABANDONED")
    row.acknowledged = len(_acknowledged(_records(parts, folder)))
    row.counts |= {"torn": torn.count(), "accused": accused.count()}
    for name, sentences in result.faults.items():
        row.counts[_column(name)] += len(sentences)
        row.why += [f"{name}: {each}" for each in sentences]
    row.why += [f"torn: conversation {each.pk}: {_end_of(each)}" for each in torn]
    row.why += [f"accused: {each.pk} {each.notice or each.outcome}" for each in accused]


def _end_of(conversation: Any) -> str:
    """Return how a conversation ended, and when, by the clock that wrote each time."""
    times = {
        name: f"{at:%H:%M:%S}"
        for name in ("started_at", "deadline_at", "ended_at")
        if (at := getattr(conversation, name))
    }
    return f"{conversation.ended_because} {times}"


def _column(check: str) -> str:
    """Return the column of the table under which a check of the ledger falls."""
    columns = dict.fromkeys(LOST, "lost") | dict.fromkeys(UNPAID, "unpaid")
    return (columns | {"doubled": "doubled", "mis-ordered": "disorder"}).get(check, "other")


def _outages(wanted: argparse.Namespace, database: str) -> Iterator[Row]:
    """Let outages begin at every step, in a process that has a database of its own."""
    lengths = [OUTAGES[name] for name in wanted.faults if name in OUTAGES]
    if not lengths:
        return
    command = ["-m", "tests.trust.outages", "--backend", database, "--bug", wanted.bug]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *command, "--seconds", *map(str, lengths)],
        cwd=live.ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    took = (time.monotonic() - began) / len(lengths)
    for each in json.loads(done.stdout):
        harm = each["harm"]
        counts = {name: harm[name] for name in ("lost", "doubled", "disorder", "unpaid", "accused")}
        counts |= {"torn": harm["parted"], "other": harm["moved"]}
        why = [f"{name}: {count}" for name, count in harm.items() if count]
        yield Row(f"outage-{each['seconds']}", database, each["stored"], counts, took, why)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.trust.matrix",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*STRIKES, *OUTAGES]
    parser.add_argument("--faults", nargs="+", choices=names, default=names, metavar="FAULT")
    parser.add_argument("--database", choices=DATABASES, help="both, unless one is named")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=int, default=12, help="among whom each fault falls")
    parser.add_argument("--bug", default="", help="a fault of tests.trust.faults in the product")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and so end what was started
    if wanted.database is None:
        return _both(wanted)
    rows = []
    for row in perform(wanted, wanted.database):
        rows.append(row)
        if not wanted.json:
            print("\n".join([*([header()] if len(rows) == 1 else []), str(row)]), flush=True)
            print(*(f"    {each}" for each in row.why[:5]), sep="\n", end="\n" * bool(row.why))
    if wanted.json:
        print(json.dumps([vars(row) for row in rows]))
    return 0 if rows and all(row.clean for row in rows) else 1


def _both(wanted: argparse.Namespace) -> int:
    """Run each database in a process of its own: Django is set up once in each."""
    words = ["--faults", *wanted.faults, "--seed", str(wanted.seed), "--bug", wanted.bug]
    words += ["--people", str(wanted.people), *(["--json"] if wanted.json else [])]
    command = [sys.executable, "-m", "tests.trust.matrix", *words]
    found = [
        subprocess.run([*command, "--database", each], cwd=live.ROOT, check=False).returncode
        for each in DATABASES
    ]
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
