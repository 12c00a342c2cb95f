"""`manage.py export CAMPAIGN --out FILE`: a campaign's data as one zip."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from webapp.models import Campaign
from webapp.services.data import exports


class Command(BaseCommand):
    help = "Write a campaign's ratings, conversations and plan into one zip."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number, or the last part of its start link")
        parser.add_argument("--out", type=Path, required=True, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_of(options["campaign"])
        try:
            path = exports.write_to(campaign=campaign, path=options["out"])
        except OSError as problem:
            raise CommandError(f"--out: {options['out']} cannot be written ({problem})") from None
        now, content = timezone.now(), path.read_bytes()
        exports.record(campaign=campaign, by="command line", content=content, now=now)
        self.stdout.write(f"{path}: {len(content)} bytes")


def campaign_of(name: str) -> Campaign:
    """Return a campaign by its number or link. Raises `CommandError`."""
    field = {"pk": int(name)} if name.isascii() and name.isdigit() else {"slug": name}
    try:
        return Campaign.objects.get(**field)
    except Campaign.DoesNotExist:
        known = ", ".join(str(each.pk) for each in Campaign.objects.order_by("pk")) or "none"
        raise CommandError(f"campaign: no {name!r}; the numbers are: {known}") from None
