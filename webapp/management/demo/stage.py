"""The demo's server and crowds: processes that this one starts, watches and ends."""

from __future__ import annotations

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

from webapp.crowd.order import Order
from webapp.crowd.process import Crowd
from webapp.management import oracle
from webapp.management.demo.planted import MIX, PLANTED
from webapp.management.demo.study import Study
from webapp.models import Campaign, Participation

PATIENCE = 40.0  # seconds for the server to answer
AT_ONCE = 14  # simulated people of a campaign
LONGEST = 240.0  # seconds that one of them stays


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


def send_crowds(base: str, found: Sequence[tuple[Study, Campaign]], *, seed: int) -> list[Crowd]:
    """Send each campaign the people who are still to come."""
    crowds = []
    for study, campaign in found:
        if not study.people or campaign.state != Campaign.State.OPEN:
            continue
        order = Order(
            bases=(base,),
            slug=campaign.slug,
            count=study.people,
            seed=seed,
            at_once=AT_ONCE,
            seconds=LONGEST,
            oracle=True,
            mix=MIX,
            planted=PLANTED,
        )
        ledger = settings.DATA_DIR / f"crowd-{campaign.slug}.jsonl"
        crowds.append(Crowd(order, ledger, truth=partial(oracle.truth, campaign)))
    return crowds


def watch(
    crowds: Sequence[Crowd],
    campaigns: Sequence[Campaign],
    server: Server,
    tell: Callable[[str], None],
) -> None:
    """Tell every few seconds how far the people are, until all have gone."""
    told = 0.0
    while any(crowd.running for crowd in crowds):
        if not server.running:
            raise NoServer(f"the server ended; see {settings.DATA_DIR / 'server.log'}")
        if time.monotonic() - told > 3:
            told = time.monotonic()
            tell(", ".join(_progress(campaign) for campaign in campaigns))
        time.sleep(0.2)


def _progress(campaign: Campaign) -> str:
    people = Participation.objects.filter(campaign=campaign)
    done = people.filter(outcome=Participation.Outcome.COMPLETED).count()
    return f"{campaign.protocol}: {done} done, {people.exclude(state='ENDED').count()} at it"
