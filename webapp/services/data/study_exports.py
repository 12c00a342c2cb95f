"""A study's data as one zip: the tables of its campaigns one below the other.

Columns `campaign` and `phase` tell the rows apart; codebook, plan and protocol of each campaign
are in a folder of its name. The analysis reads it as it reads the export of a campaign.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from webapp.models import Campaign, Study
from webapp.services.campaign import studies
from webapp.services.data import (
    assignment_rules,
    codebook,
    contribution_rows,
    conversation_records,
    exports,
    message_file,
    phases,
    rating_file,
    reply_records,
    reviewed_answers,
    study_record,
    tables,
)
from webapp.services.data.exports import Archive, pretty
from webapp.services.data.rating_file import LaidDownRatings
from webapp.services.data.snapshots import snapshot
from webapp.services.rules import audit
from webapp.services.rules.access import AnyStudy

CARD = """# {name}

{note}

The campaigns of a study, collected with Parley. Every table has those of all campaigns; the columns
`campaign` and `phase` tell them apart. The files of a campaign itself are in a folder of its name.

| campaign | phase | protocol | state |
|---|---|---|---|
{rows}

A person has another pseudonym in every campaign, so nobody can be followed from one to the next.

## The same numbers as on the study's pages

In a checkout of Parley, after `script/bootstrap`:

    .venv/bin/python -m analysis {file}.zip --report meena_ssa

People wrote freely: read the conversations for what may identify them before you share them.
"""


def name_of(study: AnyStudy) -> str:
    """Return the name of a study's files."""
    return f"study-{study.pk}"


def write_to(*, study: AnyStudy, path: Path) -> Path:
    """Write the export to a path; nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with exports.replacing(path) as unfinished, snapshot():
        row = Study.objects.get(pk=study.pk)  # as of the snapshot
        archive = Archive(unfinished)
        rows = phases.rating_rows(row)
        with archive.zip, rating_file.laid_down(rows, phases.RATINGS, path.parent) as ratings:
            _fill(archive, row, ratings)
    return path


def download(*, study: AnyStudy, by: str, now: datetime) -> IO[bytes]:
    """Return the export for a member of staff as an open file, logged (S15); it has no name."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_to(study=study, path=Path(folder) / "export.zip")
        record(study=study, by=by, path=path, now=now)
        return path.open("rb")  # which can be read when the folder is gone


def record(*, study: AnyStudy, by: str, path: Path, now: datetime) -> None:
    """Log of each campaign that somebody took it within a study's export."""
    sha256 = exports.sha256(path)
    for campaign in studies.phases(study):
        detail = {"sha256": sha256, "study": study.pk}
        audit.append(actor=by, action="exported", campaign=campaign, now=now, **detail)


def _fill(archive: Archive, study: Study, ratings: LaidDownRatings) -> None:
    campaigns = studies.phases(study)
    archive.text("README.md", _card(study, campaigns))
    archive.lines("conversations.jsonl", _conversations(campaigns))
    beside = tuple(codebook.OF_STUDY)
    _add(archive, study, "admission.csv", codebook.ADMISSION, conversation_records.admission)
    broken = assignment_rules.id_rule_rows
    _add(archive, study, assignment_rules.BROKEN, codebook.BROKEN_RULES, broken)
    texts = contribution_rows.contribution_rows
    _add(archive, study, "contributions.csv", codebook.CONTRIBUTIONS, texts)
    archive.add("messages.csv", lambda file: message_file.write(file, campaigns, beside))
    _add(archive, study, "replies.csv", codebook.REPLIES, reply_records.reply_rows)
    _add(archive, study, "reply_events.csv", codebook.REPLY_EVENTS, reply_records.event_rows)
    reviewed = reviewed_answers.rows
    _add(archive, study, reviewed_answers.FILE, codebook.REVIEWED_ANSWERS, reviewed)
    people = conversation_records.participants
    _add(archive, study, "participants.csv", codebook.PARTICIPANTS, people)
    archive.lines("personas.jsonl", _personas(campaigns))
    archive.ratings(ratings)
    for campaign in campaigns:
        name = phases.of_study(campaign)["campaign"]
        folder = f"{name}/"
        exports.add_plan(archive, campaign, codebook.codebook(campaign), folder)
        answers = ratings.judged(name)
        archive.text(f"{folder}{exports.HEDS}", study_record.heds_text(campaign, answers))
    archive.text("manifest.json", pretty(_manifest(archive, study, campaigns)))


def _add(
    archive: Archive,
    study: Study,
    name: str,
    columns: Iterable[str],
    of_one: Callable[[Campaign], Iterable[tables.Row]],
) -> None:
    """Add a table that each campaign has, one below the other."""
    both = list(dict.fromkeys((*codebook.OF_STUDY, *columns)))
    archive.table(name, both, phases.rows(study, of_one))


def _conversations(campaigns: list[Campaign]) -> Iterator[dict[str, Any]]:
    for campaign in campaigns:
        rows = conversation_records.conversations(campaign)
        yield from (row | phases.of_study(campaign) for row in rows)


def _personas(campaigns: list[Campaign]) -> Iterator[dict[str, Any]]:
    for campaign in campaigns:
        rows = conversation_records.personas(campaign)
        yield from (row | phases.of_study(campaign) for row in rows)


def _card(study: Study, campaigns: list[Campaign]) -> str:
    cells = [
        (phases.of_study(each)["campaign"], codebook.cell(each.phase), each.protocol, each.state)
        for each in campaigns
    ]
    rows = "\n".join(f"| {' | '.join(each)} |" for each in cells)
    note = study.note or "Without a note."
    return CARD.format(name=study.name, note=note, rows=rows, file=name_of(study))


def _manifest(archive: Archive, study: Study, campaigns: list[Campaign]) -> dict[str, Any]:
    return {
        "schema": exports.SCHEMA,
        "study": name_of(study),
        "name": study.name,
        "note": study.note,
        "disjoint": study.disjoint,
        "campaigns": [exports.about(each) | {"phase": each.phase} for each in campaigns],
        "columns": codebook.OF_STUDY,
        "outcomes": study_record.outcomes(),
        "filters": exports.FILTERS,
        "files": exports.files_of(archive),
    }
