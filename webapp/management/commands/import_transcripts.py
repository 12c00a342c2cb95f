"""`manage.py import_transcripts CAMPAIGN FILE ...`: conversations that were held elsewhere."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from webapp import clock
from webapp.management.commands.export import campaign_of
from webapp.management.quick import QuickCommand
from webapp.services.campaign import transcripts_import
from webapp.services.campaign.campaigns import NotDraft
from webapp.services.campaign.transcripts_import import TranscriptPreview, TranscriptUpload
from webapp.services.rating import transcript_rules
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.transcript_files import TextFile


@dataclass(frozen=True)
class CommandLine:
    """Who acts, in the log."""

    def get_username(self) -> str:
        return "command line"


class Command(QuickCommand):
    help = "Look at transcripts, and import them into a draft with --store."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number, or the last part of its start link")
        parser.add_argument("file", nargs="+", type=Path, help="text, JSON Lines or CSV")
        parser.add_argument("--redact", type=Path, metavar="FILE", help="stretches, one a line")
        parser.add_argument(
            "--keep-hour", action="store_true", help="mark what came within an hour, not refuse it"
        )
        parser.add_argument("--store", action="store_true", help="import what has no fault")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_of(options["campaign"])
        if not transcripts_import.takes(campaign):
            raise CommandError(f"campaign: {campaign.protocol} judges nothing that is imported")
        redact = options["redact"]
        upload = TranscriptUpload(
            files=tuple(TextFile(str(path), _text(path)) for path in options["file"]),
            redact=_text(redact) if redact else "",
            keep_hour=options["keep_hour"],
        )
        try:
            found = transcripts_import.preview(campaign=campaign, upload=upload)
            self._tell(found)
            if not found.good:
                raise CommandError(f"{len(found.faults)} faults; nothing was imported")
            if options["store"]:
                now, who = clock.now(), CommandLine()
                transcripts_import.store(campaign=campaign, upload=upload, by=who, now=now)
        except (Invalid, NotDraft) as problem:
            raise CommandError(str(problem)) from None
        done = "imported" if options["store"] else "right; --store imports them"
        self.stdout.write(f"{len(found.found)} conversations {done}")

    def _tell(self, found: TranscriptPreview) -> None:
        for fault in found.faults:
            self.stdout.write(str(fault))
        for one in found.counts:
            self.stdout.write(
                f"{one.system}: {one.conversations} conversations, {one.turns} turns, "
                f"{one.judged} to judge, {one.redacted} redacted, {one.images} images in words"
            )
            for name, words in transcript_rules.WORDS.items():
                if name in one.marks:
                    self.stdout.write(f"  {one.marks[name]}: {words}")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"{path}: cannot be read ({problem})") from None
