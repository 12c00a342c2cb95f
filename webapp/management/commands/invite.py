"""`manage.py invite CAMPAIGN --address https://HOST`: signed invitations, one or a CSV of them."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError
from django.urls import reverse

from webapp import clock
from webapp.management.commands.export import BY, campaign_of
from webapp.management.quick import QuickCommand
from webapp.services.participation import invitations
from webapp.services.staff_forms.fields import Invalid


class Command(QuickCommand):
    help = "Sign an invitation for one id, or for each id in a file; links go to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number, or the last part of its start link")
        parser.add_argument(
            "--address", required=True, help="of this server, such as https://parley.example.org"
        )
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--id", help="of one person; its link is printed")
        which.add_argument("--ids", type=Path, metavar="FILE", help="one id per line: gives a CSV")
        parser.add_argument("--days", default="30", help="until the links expire (default 30)")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, address = campaign_of(options["campaign"]), options["address"].rstrip("/")
        if campaign.state == campaign.State.DRAFT:
            raise CommandError("campaign: it is a draft, which has no link yet; launch it first")
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
            raise CommandError(f"--address: {address!r} is none; give one such as https://HOST")
        try:
            text = options["id"] if options["ids"] is None else options["ids"].read_text("utf-8")
            ids, days = invitations.read_order({"ids": text, "days": options["days"]})
        except (OSError, UnicodeDecodeError) as problem:
            raise CommandError(f"--ids: cannot be read ({problem})") from None
        except Invalid as problem:
            raise CommandError(
                "; ".join(f"{k}: {v}" for k, v in problem.problems.items())
            ) from None
        start = address + reverse("entry", args=[campaign.slug])
        links = invitations.invite(
            campaign=campaign, ids=ids, days=days, start_link=start, by=BY, now=clock.now()
        )
        if options["ids"] is None:
            self.stdout.write(links[0][1])
            return
        csv.writer(self.stdout, lineterminator="\n").writerows([("id", "link"), *links])
