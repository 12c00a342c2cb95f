"""`manage.py crowd SLUG`: simulated people take part in a campaign over its pages and sockets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from webapp.crowd.order import Order
from webapp.crowd.process import Crowd
from webapp.management import oracle
from webapp.management.quick import QuickCommand
from webapp.models import Campaign


class Command(QuickCommand):
    help = "Let simulated people take part in a campaign that is open."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the last part of the campaign's start link")
        parser.add_argument("--at", nargs="+", default=["http://127.0.0.1:8000"], metavar="URL")
        parser.add_argument("--people", type=int, default=20)
        parser.add_argument("--at-once", type=int, default=10)
        parser.add_argument("--seed", type=int, default=0)
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
        crowd = Crowd(order, options["ledger"], truth=truth)
        try:
            crowd.wait(options["seconds"] * (1 + options["people"] / options["at_once"]))
        finally:
            crowd.end()
        self.stdout.write(f"{len(crowd.ended)} of {order.count} people are done")
