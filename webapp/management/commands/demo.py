"""`manage.py demo`: the whole story on this machine, from training to report; see script/demo."""

from __future__ import annotations

import random
import shutil
import signal
import sys
import time
import webbrowser
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from analysis.arguments import whole
from webapp import clock
from webapp.crowd.power import power
from webapp.management.demo import planted, report, stage, study, weights
from webapp.management.quick import QuickCommand
from webapp.models import Campaign
from webapp.services.accounts import logins

STAFF = "demo"
MARK = "this-folder-is-the-demos"  # only a folder with this file in it is ever deleted


class Command(QuickCommand):
    help = "Train bots, open campaigns, let simulated people take part, and report."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
        parser.add_argument("--reset", action="store_true", help="delete an earlier demo first")
        parser.add_argument(
            "--seed", type=whole(0), help="of people and draws; a new one by default"
        )
        parser.add_argument(
            "--check", action="store_true", help="end with the report: 0 if the order came back"
        )
        parser.add_argument(
            "--power", type=int, metavar="N", help="only simulate the ratings of N runs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.began = time.monotonic()
        if options["power"]:
            self._power(options["power"], options["seed"] or 0)
            return
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, _interrupt)
        try:
            recovered = self._run(options)
        except (stage.PortTaken, stage.NoServer, study.DemoNotReady, weights.NotTrained) as problem:
            raise CommandError(str(problem)) from None
        except KeyboardInterrupt:
            self.stdout.write("\nStopped. script/demo goes on from here; --reset begins anew.")
            return
        if not recovered:
            sys.exit(1)

    def _run(self, options: dict[str, Any]) -> bool:
        stage.check_port(options["port"])
        self._prepare(reset=options["reset"])
        weights.train_missing(tell=self._tell)
        with stage.Server(options["port"]) as server:
            self._tell(f"serving at {server.base}/")
            found, seed = self._open(options["seed"])
            password = self._new_password()
            self._show_links(server.base, found, password)
            if not options["check"] and not options["no_browser"]:
                webbrowser.open(f"{server.base}/campaigns/")
            recovered = self._simulate(server, found, seed)
            if not options["check"]:
                self._stay(server)
        return recovered

    def _prepare(self, *, reset: bool) -> None:
        """Have a database of the demo's own, in a folder that is marked as the demo's."""
        folder = settings.DATA_DIR
        if not str(settings.DATABASE["NAME"]).startswith(str(folder)):
            raise CommandError("DATABASE_URL is set: the demo only writes a database of its own")
        if reset and folder.exists():
            if not (folder / MARK).exists():
                raise CommandError(f"{folder} was not made by the demo, so it is not deleted")
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).touch()
        call_command("migrate", verbosity=0)

    def _open(self, seed: int | None) -> tuple[list[tuple[study.DemoStudy, Campaign]], int]:
        """Make and launch the campaigns, or take those of an earlier start with their seed."""
        by = get_user_model().objects.filter(username=STAFF).first()
        if by is None:
            password = logins.new_password()
            by = logins.create_staff(
                username=STAFF, password=password, superuser=False, now=clock.now()
            )
        seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
        found = [(each, study.make(each, by=by, seed=seed)) for each in study.STUDIES]
        study.open_all([campaign for _, campaign in found], by=by, tell=self._tell)
        for _, campaign in found:
            campaign.refresh_from_db()
        return found, found[0][1].seed

    def _new_password(self) -> str:
        """Give the demo's account a new random password at each start: none is ever stored."""
        by = get_user_model().objects.get(username=STAFF)
        password = logins.new_password()
        by.set_password(password)
        by.save(update_fields=["password"])
        return password

    def _show_links(
        self, base: str, found: list[tuple[study.DemoStudy, Campaign]], password: str
    ) -> None:
        ranked = dict(found)[study.RANKED]
        seats = [(each, campaign) for each, campaign in found if each.invites]
        for line in (
            "",
            "  Seats for you:",
            *(f"  {each.invites}\n      {base}/c/{campaign.slug}/" for each, campaign in seats),
            "",
            f"  live monitor    {base}/campaigns/{ranked.pk}/live/",
            f"  results         {base}/campaigns/{ranked.pk}/results/",
            f"  sign in as      {STAFF}  password {password}",
            "",
        ):
            self.stdout.write(line)

    def _simulate(
        self, server: stage.Server, found: list[tuple[study.DemoStudy, Campaign]], seed: int
    ) -> bool:
        """Let the crowd take part, and print the report."""
        self._tell(f"simulated people take part (seed {seed})")
        visitors = [
            stage.Visitors(server.base, campaign, seed=seed)
            for each, campaign in found
            if not each.invites
        ]
        try:
            stage.watch(visitors, server, self._tell)
        finally:
            for each in visitors:
                each.end()
        if stage.close(visitors, self._tell):
            self._tell("every simulated campaign is finished; the seats for you stay open")
        self._tell(stage.flags_report(visitors))
        connection.close()
        verdict = report.judge(dict(found)[study.RANKED], planted.RANKED)
        self.stdout.write(f"\n{verdict}\n")
        word = "came back" if verdict.recovered else "did NOT come back"
        self._tell(f"the planted order {word}")
        return verdict.recovered

    def _stay(self, server: stage.Server) -> None:
        self._tell("the server goes on; Ctrl-C stops it")
        while server.running:
            time.sleep(0.5)

    def _power(self, runs: int, seed: int) -> None:
        found = power(
            planted.RANKED,
            planted.SCALES,
            each=planted.EACH,
            runs=runs,
            seed=seed,
            mix=planted.MIX,
        )
        self.stdout.write(
            f"{runs - len(found.failed)} of {runs} simulated runs bring the planted order back on "
            f"all of {', '.join(planted.SCALES)} ({found.share:.2%}; asked: 99.5 %)"
        )
        if found.failed:
            self.stdout.write(f"seeds that fail: {', '.join(map(str, found.failed))}")

    def _tell(self, text: str) -> None:
        self.stdout.write(f"[{time.monotonic() - self.began:5.0f} s] {text}")
        self.stdout.flush()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
