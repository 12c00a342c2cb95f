"""`manage.py export NUMBER --out FILE`: the data of a campaign, or of a study, as one zip."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.models import Campaign, Study
from webapp.services.data import exports, study_exports

BY = "command line"


class Command(QuickCommand):
    help = "Write ratings, conversations and plan of a campaign, or a study, into one zip."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number, or the last part of its start link")
        parser.add_argument("--study", action="store_true", help="the number is that of a study")
        parser.add_argument("--out", type=Path, required=True, metavar="FILE")
        parser.add_argument("--by", default=BY, metavar="NAME", help="who is logged as taking it")

    def handle(self, *args: Any, **options: Any) -> None:
        name, out, by = options["campaign"], options["out"], options["by"]
        try:
            path = _study(name, out, by) if options["study"] else _campaign(name, out, by)
        except OSError as problem:
            raise CommandError(f"--out: {out} cannot be written ({problem})") from None
        self.stdout.write(f"{path}: {path.stat().st_size} bytes")


def _campaign(name: str, out: Path, by: str) -> Path:
    campaign = campaign_of(name)
    path = exports.write_to(campaign=campaign, path=out)
    exports.record(campaign=campaign, by=by, path=path, now=clock.now())
    return path


def _study(name: str, out: Path, by: str) -> Path:
    """Write a study's export. Raises `CommandError`."""
    study = Study.objects.filter(pk=int(name) if name.isascii() and name.isdigit() else 0).first()
    if study is None:
        known = ", ".join(str(each.pk) for each in Study.objects.order_by("pk")) or "none"
        raise CommandError(f"study: no {name!r}; the numbers are: {known}")
    path = study_exports.write_to(study=study, path=out)
    study_exports.record(study=study, by=by, path=path, now=clock.now())
    return path


def campaign_of(name: str) -> Campaign:
    """Return a campaign by its number or link. Raises `CommandError`."""
    field = {"pk": int(name)} if name.isascii() and name.isdigit() else {"slug": name}
    try:
        return Campaign.objects.get(**field)
    except Campaign.DoesNotExist:
        known = ", ".join(str(each.pk) for each in Campaign.objects.order_by("pk")) or "none"
        raise CommandError(f"campaign: no {name!r}; the numbers are: {known}") from None
