"""`manage.py take_conversations CAMPAIGN SOURCE ...`: conversations of one's own ended campaign."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from webapp import clock
from webapp.management.commands.export import campaign_of
from webapp.management.quick import QuickCommand
from webapp.models import Campaign
from webapp.services.campaign import taken_conversations
from webapp.services.campaign.campaigns import NotDraft
from webapp.services.staff_forms.fields import Invalid


class Command(QuickCommand):
    help = "Take finished conversations of an ended campaign into a draft that compares them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the draft: its number, or the last part of its link")
        parser.add_argument("source", help="the campaign that has ended, named alike")
        parser.add_argument("--system", action="append", help="by default all; may be repeated")
        parser.add_argument(
            "--control", default="", help="better or worse: as such in pairs with known answers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, source = campaign_of(options["campaign"]), campaign_of(options["source"])
        if not taken_conversations.takes(campaign):
            raise CommandError(f"campaign: {campaign.protocol} compares no whole conversations")
        try:
            count = taken_conversations.take(
                campaign=campaign,
                source=str(source.pk),
                systems=options["system"] or _systems(source),
                control=options["control"],
                by=campaign.owner,
                now=clock.now(),
            )
        except (Invalid, NotDraft) as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"{count} conversations taken")
        for row in taken_conversations.counts(campaign):
            role = f" ({row.control} of a control)" if row.control else ""
            self.stdout.write(f"{row.system}{role}: {row.conversations}")


def _systems(source: Campaign) -> list[str]:
    return list(source.systems.values_list("name", flat=True))
