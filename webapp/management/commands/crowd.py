"""`manage.py crowd SLUG`: simulated people take part in a campaign over its pages and sockets."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from analysis.arguments import whole
from webapp.crowd.order import Order
from webapp.crowd.process import Crowd
from webapp.management import oracle
from webapp.management.quick import QuickCommand
from webapp.models import Campaign

BEGINNING = 15.0  # seconds that their process may take until somebody comes


class Command(QuickCommand):
    help = "Let simulated people take part in a campaign that is open."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the last part of the campaign's start link")
        parser.add_argument("--at", nargs="+", default=["http://127.0.0.1:8000"], metavar="URL")
        parser.add_argument("--people", type=whole(1), default=20)
        parser.add_argument("--at-once", type=whole(1), default=10)
        parser.add_argument("--seed", type=whole(0), default=0)
        parser.add_argument("--seconds", type=float, default=600.0, help="for everybody")
        parser.add_argument("--ledger", type=Path, default=settings.DATA_DIR / "crowd.jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["slug"]).first()
        if campaign is None:
            raise CommandError(f"slug: no campaign has {options['slug']!r}; see its start link")
        order = Order(
            bases=tuple(options["at"]),
            slug=campaign.slug,
            count=options["people"],
            at_once=options["at_once"],
            seed=options["seed"],
            seconds=options["seconds"],
            oracle=True,
        )
        truth = partial(oracle.truth, campaign)
        ledger: Path = options["ledger"]
        before = ledger.stat().st_size if ledger.exists() else 0
        crowd = Crowd(order, ledger, truth=truth)
        patience = options["seconds"] * (1 + options["people"] / options["at_once"]) + BEGINNING
        try:
            with suppress(TimeoutExpired):  # who is not done is counted below
                crowd.wait(patience)
        finally:
            crowd.end()
        stuck = _stuck(ledger, before)
        done = f"{len(set(crowd.ended) - stuck)} of {order.count} people are done"
        if stuck >= set(crowd.ended):  # or nobody has ended at all
            raise CommandError(f"{done}: is Parley at {' or '.join(order.bases)}?")
        self.stdout.write(done)


def _stuck(ledger: Path, before: int) -> set[str]:
    """Return who was not done when the time was over, by the whole lines written since."""
    written = ledger.read_bytes()[before:] if ledger.exists() else b""
    records = map(json.loads, written.rpartition(b"\n")[0].splitlines())
    return {each["person"] for each in records if each["what"] == "stuck"}
