"""Campaigns of replies that people judge side by side or in lists, from import to export."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis import RatingTable, Report, get_report, read
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import after, start
from webapp.models import Campaign, Participation, QuotaCell
from webapp.services.campaign import contexts_import, transcripts_import
from webapp.services.campaign.transcripts_import import TranscriptUpload
from webapp.services.data import exports
from webapp.services.rating import context_items, conversation_items, submission
from webapp.services.staff_forms.transcript_files import TextFile

# The answer of a rater, by number, to a question about a context and one system, or all that are
# shown, by name; of a preference the system or the tie. None leaves the question out.
Answer = Callable[[str, str, tuple[str, ...], int], str | None]


def replies_campaign(
    protocol: str, rows: Sequence[Mapping[str, Any]], **changes: object
) -> Campaign:
    """Return an open campaign with imported contexts and replies; changes are those of settings."""
    names = {f"rate.{name}": value for name, value in changes.items()}
    campaign = make_campaign(protocol, personas=0, state="DRAFT", changes=names)
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    campaign.systems.all().delete()
    text = "\n".join(map(json.dumps, rows))
    contexts_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW)
    context_items.make(campaign, at_launch=True)
    Campaign.objects.filter(pk=campaign.pk).update(state="OPEN")
    return Campaign.objects.get(pk=campaign.pk)


def chats_campaign(
    protocol: str, chats: Mapping[str, Sequence[Sequence[str]]], **changes: object
) -> Campaign:
    """Return an open campaign with conversations of each system, by their messages."""
    names = {f"rate.{name}": value for name, value in changes.items()}
    campaign = make_campaign(protocol, personas=0, state="DRAFT", changes=names)
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    campaign.systems.all().delete()
    records = [
        {
            "id": f"{system}{number}",
            "system": system,
            "turns": [
                {"speaker": ("Human", system)[turn % 2], "text": text}
                for turn, text in enumerate(texts)
            ],
        }
        for system, conversations in chats.items()
        for number, texts in enumerate(conversations)
    ]
    file = TextFile("chats.jsonl", "\n".join(map(json.dumps, records)))
    upload = TranscriptUpload(files=(file,))
    transcripts_import.store(campaign=campaign, upload=upload, by=make_staff(), now=NOW)
    conversation_items.make(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(state="OPEN")
    return Campaign.objects.get(pk=campaign.pk)


def judge(campaign: Campaign, people: int, answer: Answer) -> None:
    """Let people answer every form they get."""
    for number in range(people):
        person = start(campaign)
        while judge_page(person, number, answer):
            pass


def judge_page(person: Participation, number: int, answer: Answer) -> bool:
    assignment = submission.current(person)
    if assignment is None:
        return False
    rows = assignment.item.candidates.select_related("system")
    systems = {each.key: each.system.name for each in rows}
    keys = {name: key for key, name in systems.items()}
    context = assignment.item.context
    raw = {}
    for about, question in submission.rate_of(person).form_questions(
        submission.shown_to(assignment)
    ):
        names = (systems[about],) if about in systems else tuple(sorted(keys))
        value = answer(question.name, context.key if context else "", names, number)
        if value is not None:
            raw[f"{about}.{question.name}"] = keys.get(value, value)
    submission.submit(person=person, answers=raw, now=after(60))
    return True


def exported(campaign: Campaign, folder: Path) -> RatingTable:
    """Return the ratings of the campaign's export, as the command of the analysis reads them."""
    found = read(exports.write_to(campaign=campaign, path=folder / "export.zip")).ratings
    assert found is not None
    return found


def report_of(name: str, campaign: Campaign, folder: Path) -> Report:
    """Return a report made of the campaign's export."""
    made: Report = get_report(name)(exported(campaign, folder))
    return made
