"""The demo's server and crowds: processes that this one starts, watches and ends.

Apart because Django takes each module of the folder of commands for a command.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType

from django.conf import settings
from django.db.models import QuerySet

from webapp import clock
from webapp.crowd.order import Order
from webapp.crowd.people import Mix, draw_people
from webapp.crowd.process import Crowd
from webapp.management import oracle
from webapp.management.demo.planted import MIX, PLANTED
from webapp.models import Campaign, Participation
from webapp.services.monitoring import monitor
from webapp.services.rules import ledger, states

PATIENCE = 40.0  # seconds for the server to answer
AT_ONCE = 40  # of a campaign: more, and two cores do not keep up with them
APART = 0.25  # seconds between their arrivals
LONGEST = 300.0  # seconds that one of the simulated people stays
LOOK = 3.0  # seconds between two looks at who is missing
CLOSING = 20.0  # seconds for the sweeper to see that a campaign is complete
PREFIX = "sim"  # of the ids that simulated people come with


class PortTaken(Exception):
    """Something else listens there; the text names a port that is free."""


class NoServer(Exception):
    """The server did not start, or it ended."""


def check_port(port: int) -> None:
    """Refuse a port that is taken, and name the next one that is not."""
    if not _is_taken(port):
        return
    free = next((each for each in range(port + 1, port + 100) if not _is_taken(each)), 0)
    raise PortTaken(f"--port {port}: something else listens there; try --port {free}")


def _is_taken(port: int) -> bool:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


class Server:
    """`manage.py serve` as a child that ends with this process."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        log = (settings.DATA_DIR / "server.log").open("ab")
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "manage.py", "serve", "--port", str(self._port)],
            cwd=settings.BASE_DIR,
            stdout=log,
            stderr=log,
            env=os.environ | {"LOG_LEVEL": "ERROR"},
            start_new_session=True,  # Ctrl-C is ours to hand on
        )
        log.close()
        self._wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.running:
            try:
                urllib.request.urlopen(f"{self.base}/login/", timeout=5)  # noqa: S310 (our own)
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        raise NoServer(f"the server did not start; see {settings.DATA_DIR / 'server.log'}")


class Visitors:
    """The simulated people of one campaign: they come until every place is taken.

    Somebody who walks off is let go at once and replaced; half as many again come at most.
    """

    def __init__(self, base: str, campaign: Campaign, *, seed: int, mix: Mix = MIX) -> None:
        self.campaign = campaign
        self._base, self._seed, self._mix = base, seed, mix
        self._crowds: list[Crowd] = []
        self._wanted = ledger.slots(campaign)
        self._sent = 0
        self._send(max(self._wanted, self._joined().count()))

    @property
    def running(self) -> bool:
        return any(crowd.running for crowd in self._crowds)

    def look(self) -> None:
        """Send somebody for each place that is free once all who were sent have taken theirs."""
        arrived = {name for crowd in self._crowds for name in crowd.ended}
        placed = self._joined().exclude(state=Participation.State.READY)
        arrived |= set(placed.values_list("external__value", flat=True))
        if len(arrived) >= self._sent:
            most = self._wanted + math.ceil(self._wanted / 2)
            self._send(min(self._free(), most - self._sent))

    def end(self) -> None:
        """Send home the people who are still there."""
        for crowd in self._crowds:
            crowd.end()

    def flagged(self) -> tuple[set[str], set[str]]:
        """Return the names of those who are flagged, and of those who were made careless."""
        found = self._joined().filter(flags__isnull=False)
        people = draw_people(self._sent, seed=self._seed, mix=self._mix, prefix=PREFIX)
        careless = {person.name for person in people if person.spammer}
        return {str(name) for name in found.values_list("external__value", flat=True)}, careless

    def leave(self) -> int:
        """Release participations still counted as present at the end; return how many."""
        there = self._joined().filter(state__in=states.ACTIVE)
        names = [str(name) for name in there.values_list("external__value", flat=True)]
        return sum(oracle.let_go(self.campaign, name) for name in names)

    def _joined(self) -> QuerySet[Participation]:
        return Participation.objects.filter(
            campaign=self.campaign, external__value__startswith=f"{PREFIX}-{self._seed}-"
        )

    def _free(self) -> int:
        """Return how many people still find a place."""
        self.campaign.refresh_from_db()
        if self.campaign.state != Campaign.State.OPEN:
            return 0
        progress = monitor.live(self.campaign, clock.now()).progress
        free = sum(each.target - each.reserved - each.completed for each in progress)
        wanted = sum(each.target for each in progress)
        return math.ceil(free * self._wanted / wanted) if wanted else 0

    def _send(self, count: int) -> None:
        if count <= 0 or self.campaign.state != Campaign.State.OPEN:
            return
        order = Order(
            bases=(self._base,),
            slug=self.campaign.slug,
            first=self._sent,
            count=count,
            seed=self._seed,
            at_once=AT_ONCE,
            apart=APART,
            seconds=LONGEST,
            prefix=PREFIX,
            oracle=True,
            mix=self._mix,
            planted=PLANTED,
        )
        ledger = settings.DATA_DIR / f"crowd-{self.campaign.slug}.jsonl"
        truth = partial(oracle.truth, self.campaign)
        gone = partial(oracle.let_go, self.campaign)
        self._crowds.append(Crowd(order, ledger, truth=truth, gone=gone))
        self._sent += count


def watch(
    visitors: Sequence[Visitors],
    server: Server,
    tell: Callable[[str], None],
    *,
    every: float = LOOK,
) -> None:
    """Tell every few seconds how far the people are, until all have gone and nobody is missing."""
    last_report = 0.0
    running = True
    while running:
        running = any(each.running for each in visitors)
        if not server.running:
            raise NoServer(f"the server ended; see {settings.DATA_DIR / 'server.log'}")
        if not running or time.monotonic() - last_report > every:
            last_report = time.monotonic()
            tell(", ".join(_progress(each.campaign) for each in visitors))
            for each in visitors:
                each.look()
            # Those who were quicker than a look may have left free slots.
            running = any(each.running for each in visitors)
        time.sleep(0.2)


def close(visitors: Sequence[Visitors], tell: Callable[[str], None]) -> bool:
    """Wait until the campaigns are closed, which the server does by itself; False if one is not."""
    for each in visitors:
        each.leave()
    end = time.monotonic() + CLOSING
    while (still := [each.campaign for each in visitors if not _is_closed(each.campaign)]) and (
        time.monotonic() < end
    ):
        time.sleep(0.2)
    for campaign in still:
        tell(f"“{campaign.name}” stays open: {_progress(campaign)}")
    return not still


def flags_report(visitors: Sequence[Visitors]) -> str:
    """Return how many are flagged, and whether these are those who were made careless."""
    found = [each.flagged() for each in visitors]
    flagged = sum(len(names) for names, _ in found)
    wrong = sum(len(names - careless) for names, careless in found)
    which = f"{wrong} of them careful" if wrong else "all of them careless on purpose"
    return f"flagged: {flagged} participations, {which}" if flagged else "nobody is flagged"


def _is_closed(campaign: Campaign) -> bool:
    campaign.refresh_from_db()
    return campaign.state in (Campaign.State.CLOSED, Campaign.State.STOPPED)


def _progress(campaign: Campaign) -> str:
    people = Participation.objects.filter(campaign=campaign)
    done = people.filter(outcome=Participation.Outcome.COMPLETED).count()
    return f"{campaign.protocol}: {done} done, {people.exclude(state='ENDED').count()} at it"
