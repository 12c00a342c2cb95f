"""`manage.py personal_data CAMPAIGN PERSON --out FILE`: all that is stored about one person."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from webapp import clock
from webapp.management.commands.export import BY, campaign_of
from webapp.management.quick import QuickCommand
from webapp.models import Campaign, Participation
from webapp.services.data import personal_data


class Command(QuickCommand):
    help = "Write all that is stored about one person into a JSON file, for them; it is logged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number, or the last part of its start link")
        parser.add_argument(
            "person", help="the id at the panel, the completion code, or the number"
        )
        parser.add_argument("--out", type=Path, required=True, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, out = campaign_of(options["campaign"]), options["out"]
        pk = _person(campaign, options["person"])
        content = personal_data.taken(campaign=campaign, pk=pk, by=BY, now=clock.now())
        try:
            out.write_text(content, encoding="utf-8")
        except OSError as problem:
            raise CommandError(f"--out: {out} cannot be written ({problem})") from None
        self.stdout.write(f"{out}: all that is stored about participation {pk}")


def _person(campaign: Campaign, name: str) -> int:
    """Return a person's number. Raises `CommandError`."""
    people = Participation.objects.filter(campaign=campaign)
    is_number = name.isascii() and name.isdigit() and len(name) < 18
    ways: tuple[dict[str, Any], ...] = ({"external__value": name}, {"code__code": name})
    for way in (*ways, *([{"pk": int(name)}] if is_number else [])):
        if (person := people.filter(**way).first()) is not None:
            return person.pk
    raise CommandError(f"person: {name!r} is no id, code or number of a person of this campaign")
