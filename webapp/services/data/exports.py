"""A campaign's data as one zip; the same snapshot gives the same bytes (R31-R33).

Within it `ratings.csv` (and .parquet) holds what the results rest on, so that whatever reads it
finds the numbers of the results page; `ratings_all.csv` has every answer, with the reasons of those
set aside.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd

from evaluation import serialized
from webapp.models import Campaign
from webapp.services.campaign import launch
from webapp.services.data import (
    assignment_rules,
    candidate_sets,
    codebook,
    contribution_rows,
    conversation_records,
    csv_format,
    message_file,
    rating_file,
    reply_records,
    reviewed_answers,
    study_record,
    tables,
)
from webapp.services.data.dataset_card import dataset_card
from webapp.services.data.rating_file import LaidDownRatings
from webapp.services.data.snapshots import snapshot
from webapp.services.rules import audit, ledger, protocols
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.staff_forms import protocol_images

SCHEMA = 2  # of the export; in 1 the codebook named a setting's fields otherwise
HEDS = "heds.json"  # what the form of the datasheet loads
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: no file has a time of its own
READABLE = 0o644 << 16
FILTERS = {
    "ratings.csv": "current answers that are not set aside: of participations that count, in "
    "conversations that ended as the protocol says, complete, not excluded by a reviewer",
    "ratings.parquet": "the rows of ratings.csv",
    "ratings_all.csv": "every current answer; `excluded` says why one is set aside",
    "contributions.csv": "every text that people wrote for the protocol, refused ones too",
    reviewed_answers.FILE: "each answer that was reviewed at the staff desk",
    candidate_sets.FILE: "only where messages were paraphrased: accepted paraphrases, of messages "
    "and people that nobody withdrew or set aside",
    "conversations.jsonl": "every conversation of the study, abandoned and failed ones too",
    "broken_rules.csv": "who judged what they had said, written or judged elsewhere; without rows "
    "where nobody did",
    "everywhere": "what people withdrew is absent or blank; rehearsals and test chats are absent",
}


@dataclass(frozen=True)
class Written:
    """One file of the zip, as its manifest tells."""

    sha256: str
    size: int
    rows: int | None


class Archive:
    """A zip whose bytes depend on nothing but its contents."""

    def __init__(self, path: Path) -> None:
        self.zip = zipfile.ZipFile(path, "w")
        self.written: dict[str, Written] = {}

    def add(self, name: str, write: Callable[[io.BufferedIOBase], int | None]) -> None:
        """Add a file that `write` fills; it returns how many rows it wrote, if it has rows."""
        info = zipfile.ZipInfo(name, EPOCH)
        info.compress_type, info.external_attr, info.create_system = (
            zipfile.ZIP_DEFLATED,
            READABLE,
            3,
        )
        with self.zip.open(info, "w") as member:
            counted = _Counted(member)
            rows = write(counted)
        self.written[name] = Written(counted.digest.hexdigest(), counted.size, rows)

    def text(self, name: str, content: str) -> None:
        """Add a file that fits into memory."""

        def write(stream: io.BufferedIOBase) -> None:
            stream.write(content.encode())

        self.add(name, write)

    def table(self, name: str, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
        """Add a CSV file; a row may know more than its columns."""
        wanted = list(columns)
        self._csv(name, wanted, ([row[column] for column in wanted] for row in rows))

    def frame(self, name: str, frame: pd.DataFrame) -> None:
        """Add a frame as CSV."""
        self._csv(name, list(frame.columns), frame.itertuples(index=False))

    def ratings(self, rows: LaidDownRatings) -> None:
        """Add the three files of ratings."""
        self._csv("ratings.csv", rows.columns, rows.rows(is_whole=False))
        self.add("ratings.parquet", rows.parquet)
        self._csv("ratings_all.csv", rows.columns, rows.rows(is_whole=True))

    def _csv(self, name: str, columns: list[str], rows: Iterable[Sequence[Any]]) -> None:
        def write(stream: io.BufferedIOBase) -> int:
            with io.TextIOWrapper(cast(IO[bytes], stream), "utf-8", newline="") as text:
                return csv_format.write(text, columns, rows)

        self.add(name, write)

    def lines(self, name: str, records: Iterable[Any]) -> None:
        """Add a JSON Lines file."""

        def write(stream: io.BufferedIOBase) -> int:
            count = 0
            for record in records:
                stream.write(f"{canonical(record)}\n".encode())
                count += 1
            return count

        self.add(name, write)


class _Counted(io.BufferedIOBase):
    """A file to write to that remembers the length and checksum of what was written."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.size, self.digest = stream, 0, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.size += len(data)
        return self.stream.write(data)

    def tell(self) -> int:
        return self.size


def write(*, campaign: Campaign, folder: Path, now: datetime) -> Path:
    """Write the export into a folder, under a name that tells the time, and return its path."""
    path = folder / f"{tables.name_of(campaign)}-{now:%Y%m%dT%H%M%S%fZ}.zip"
    return write_to(campaign=campaign, path=path)


def write_to(*, campaign: Campaign, path: Path) -> Path:
    """Write the export to a path; nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished, snapshot():
        rows = Campaign.objects.prefetch_related("systems")
        campaign = rows.get(pk=campaign.pk)  # as of the snapshot
        archive = Archive(unfinished)
        answers = tables.rating_rows(campaign)
        columns = list(codebook.RATINGS)
        with archive.zip, rating_file.laid_down(answers, columns, path.parent) as ratings:
            _fill(archive, campaign, ratings)
    return path


def download(*, campaign: AnyCampaign, by: str, now: datetime) -> IO[bytes]:
    """Return the export for a member of staff as an open file, logged (S15); it has no name."""
    campaign = row_of(campaign)
    with tempfile.TemporaryDirectory() as folder:
        path = write_to(campaign=campaign, path=Path(folder) / "export.zip")
        record(campaign=campaign, by=by, path=path, now=now)
        return path.open("rb")  # which can be read when the folder is gone


def record(*, campaign: Campaign, by: str, path: Path, now: datetime) -> None:
    """Log that somebody took an export."""
    found = sha256(path)
    audit.append(actor=by, action="exported", campaign=campaign, now=now, sha256=found)


def sha256(path: Path) -> str:
    """Return the checksum of a file, whatever its size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def canonical(value: Any) -> str:
    """Return JSON on one line, in ASCII: no reader splits it at a separator inside a message."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place once it is complete and stored."""
    handle, name = tempfile.mkstemp(prefix=".export-", suffix=".part", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb") as complete:
            os.fsync(complete.fileno())
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def _fill(archive: Archive, campaign: Campaign, ratings: LaidDownRatings) -> None:
    book = codebook.codebook(campaign)
    archive.text("README.md", dataset_card(campaign, book, answers=ratings.kept))
    broken = assignment_rules.id_rule_rows(campaign)
    archive.table(assignment_rules.BROKEN, codebook.BROKEN_RULES, broken)
    written = contribution_rows.contribution_rows(campaign)
    archive.table("contributions.csv", codebook.CONTRIBUTIONS, written)
    if sets := candidate_sets.text_of(campaign):
        archive.text(candidate_sets.FILE, sets)
    add_plan(archive, campaign, book)
    archive.lines("conversations.jsonl", conversation_records.conversations(campaign))
    archive.add("messages.csv", lambda stream: message_file.write(stream, [campaign]))
    archive.table("replies.csv", codebook.REPLIES, reply_records.reply_rows(campaign))
    archive.table("reply_events.csv", codebook.REPLY_EVENTS, reply_records.event_rows(campaign))
    reviewed = reviewed_answers.rows(campaign)
    archive.table(reviewed_answers.FILE, codebook.REVIEWED_ANSWERS, reviewed)
    people = study_record.people_of(campaign)
    archive.text(HEDS, study_record.heds_text(campaign, ratings.judged(), people))
    archive.frame("participants.csv", people)
    archive.table("admission.csv", codebook.ADMISSION, conversation_records.admission(campaign))
    archive.lines("personas.jsonl", conversation_records.personas(campaign))
    archive.ratings(ratings)
    archive.text("manifest.json", pretty(_manifest(archive, campaign)))


def add_plan(
    archive: Archive, campaign: Campaign, book: Mapping[str, Any], folder: str = ""
) -> None:
    """Add what a campaign was to be: codebook, plan and protocol."""
    archive.text(f"{folder}codebook.json", pretty(book))
    archive.text(f"{folder}codebook.md", codebook.as_markdown(dict(book)))
    archive.text(f"{folder}plan.json", pretty(campaign.plan))
    protocol = protocols.protocol_of(campaign)
    files = protocol_images.as_text(protocol)
    more = {"image_files": files} if files else {}
    archive.text(f"{folder}protocol.json", pretty(serialized.to_json(protocol) | more))


def _manifest(archive: Archive, campaign: Campaign) -> dict[str, Any]:
    return about(campaign) | {
        "schema": SCHEMA,
        "outcomes": study_record.outcomes(),
        "filters": FILTERS,
        "files": files_of(archive),
    }


def about(campaign: Campaign) -> dict[str, Any]:
    """Return what a manifest says of a campaign."""
    identity = protocols.identity_of(campaign)
    return {
        "campaign": tables.name_of(campaign),
        "name": campaign.name,
        "protocol": campaign.protocol,
        "protocol_version": identity["version"],
        "protocol_sha256": identity["sha256"],
        "state": campaign.state,
        "plan_sha256": campaign.plan_hash or None,
        "amendments": [
            {"at": each.made_at.isoformat(), "text": each.text}
            for each in campaign.amendments.order_by("pk")
        ],
        "arms": launch.arms(campaign),
        "withdrew": study_record.withdrew(campaign),
        "datasheet": campaign.datasheet,
        "money": _money(campaign),
    }


def _money(campaign: Campaign) -> dict[str, str]:
    """Return the sums of the ledger: of codes and bonuses, and of what people at work may get."""
    books = ledger.books(campaign)
    sums = {"budget": books.budget, "reserved": books.reserved, "spent": books.spent}
    return {name: str(sums[name]) for name in sums} | {"currency": campaign.currency}


def files_of(archive: Archive) -> dict[str, Any]:
    """Return what a manifest says of the files written so far."""
    return {
        name: {"sha256": each.sha256, "bytes": each.size}
        | ({} if each.rows is None else {"rows": each.rows})
        for name, each in sorted(archive.written.items())
    }


def pretty(value: Any) -> str:
    """Return JSON for readers, in the order of its keys."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
