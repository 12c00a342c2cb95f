"""Importing transcripts: looked at first, and stored as a whole or not at all (ME-P4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from webapp.models import PEOPLE, Campaign, QuotaCell
from webapp.services.campaign import campaigns, message_items, redaction
from webapp.services.rating import third_parties, transcript_rules, transcripts
from webapp.services.rating.transcripts import ChatCounts, ImportedChat
from webapp.services.rules import audit, identity
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms import transcript_files
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.pasted import LARGEST
from webapp.services.staff_forms.transcript_files import FileFault, FoundChat, TextFile

MOST_CHATS = 2_000
MOST_SYSTEMS = 20


@dataclass(frozen=True, kw_only=True)
class TranscriptUpload:
    """What a requester gives: files, stretches to redact, and whether a too short wait is kept."""

    files: tuple[TextFile, ...]
    redact: str = ""
    keep_hour: bool = False


@dataclass(frozen=True, kw_only=True)
class TranscriptPreview:
    """Everything that files hold; nothing is stored yet."""

    found: tuple[FoundChat, ...]
    faults: tuple[FileFault, ...]
    redacted: int

    @property
    def good(self) -> bool:
        return bool(self.found) and not self.faults

    @property
    def counts(self) -> list[ChatCounts]:
        return transcripts.counts([each.chat for each in self.found])


def takes(campaign: AnyCampaign) -> bool:
    """Tell whether transcripts can be imported into a campaign."""
    rate = protocol_of(campaign).after
    return rate is not None and rate.of_transcripts


def preview(*, campaign: AnyCampaign, upload: TranscriptUpload) -> TranscriptPreview:
    """Read files without storing anything. Raises `Invalid`, where there is too much or nothing."""
    _check_size(upload.files)
    stretches = redaction.read(upload.redact)
    read = transcript_files.read(upload.files)
    if len(read.found) > MOST_CHATS:
        complaint = _("has more than %(most)d conversations; import it in parts")
        raise Invalid({"file": complaint % {"most": MOST_CHATS}})
    row, known = row_of(campaign), transcripts.stored(campaign)
    cleaned, count = list[FoundChat](), 0
    for each in read.found:
        chat, hits = redaction.of_chat(each.chat, stretches)
        cleaned.append(replace(each, chat=replace(chat, volunteer=_pseudonym(row, chat.volunteer))))
        count += hits
    found = tuple(cleaned)
    faults = [*read.faults, *_refused(row, found, known)]
    if third_parties.judges(row):
        marked = transcript_rules.marked([each.chat for each in found], known)
        found = tuple(replace(one, chat=chat) for one, chat in zip(found, marked, strict=True))
        faults += [] if upload.keep_hour else _too_soon(found, known)
    faults = [replace(each, value=redaction.redacted(each.value, stretches)[0]) for each in faults]
    return TranscriptPreview(found=found, faults=tuple(faults), redacted=count)


def store(*, campaign: AnyCampaign, upload: TranscriptUpload, by: Any, now: datetime) -> int:
    """Store what a preview found right; refuses all where anything is wrong."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        right = preview(campaign=row, upload=upload)
        if not right.good:
            raise Invalid({"file": _("has faults; correct them first")})
        made = transcripts.add(campaign=row, chats=[each.chat for each in right.found], now=now)
        message_items.add_imported(campaign=row, conversations=made)
        _note(row, by, "transcripts imported", now, len(made))
        return len(made)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove a draft's imported conversations, and the systems that nothing else is of."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        count = transcripts.remove(row)
        unused = row.systems.filter(
            candidates=None, conversations=None, taken_conversations=None
        ).exclude(bot=PEOPLE)
        keys = list(unused.values_list("pk", flat=True))
        QuotaCell.objects.filter(system__in=keys).delete()
        row.systems.filter(pk__in=keys).delete()
        _note(row, by, "transcripts removed", now, count)
        return count


def copy(*, source: Campaign, draft: Campaign, now: datetime) -> None:
    """Import a source's conversations into its duplicate, as they are now."""
    made = transcripts.add(campaign=draft, chats=transcripts.stored(source), now=now)
    message_items.add_imported(campaign=draft, conversations=made)


def _check_size(files: Sequence[TextFile]) -> None:
    if not any(file.text.strip() for file in files):
        raise Invalid({"file": _("is missing; choose a file, or paste conversations")})
    if sum(len(file.text.encode(errors="replace")) for file in files) > LARGEST:
        raise Invalid({"file": _("has more than 900 kB; import it in parts")})


def _pseudonym(campaign: Campaign, volunteer: str) -> str:
    return identity.pseudonym(campaign, identity.TRANSCRIPT, volunteer) if volunteer else ""


def _refused(
    campaign: Campaign, found: Sequence[FoundChat], known: Sequence[ImportedChat]
) -> list[FileFault]:
    """Return what cannot come into this campaign beside what is there."""
    names = {chat.name for chat in known}
    bots = {each.name for each in campaign.systems.all() if each.is_bot}
    faults = [
        FileFault(each.file, each.line, "id", each.chat.name, _("is in this campaign already"))
        for each in found
        if each.chat.name in names
    ]
    faults += [
        FileFault(each.file, each.line, "system", each.chat.system, _("is a bot of this campaign"))
        for each in found
        if each.chat.system in bots
    ]
    if protocol_of(campaign).onboarding is None:
        right = _("the protocol has no pairs with known answers; leave control blank")
        faults += [
            FileFault(each.file, each.line, "control", each.chat.control, right)
            for each in found
            if each.chat.control
        ]
    systems = {each.chat.system for each in found} | {chat.system for chat in known}
    if len(systems) > MOST_SYSTEMS:
        right = _("there are %(count)d systems; a campaign has at most %(most)d")
        last = found[-1]
        words = right % {"count": len(systems), "most": MOST_SYSTEMS}
        faults.append(FileFault(last.file, last.line, "system", last.chat.system, words))
    return faults


def _too_soon(found: Sequence[FoundChat], known: Sequence[ImportedChat]) -> list[FileFault]:
    everything = [*known, *(each.chat for each in found)]
    faults = []
    for each in found:
        until = transcript_rules.too_soon(each.chat, everything)
        if until is not None and each.chat.began_at is not None:
            right = _(
                "another volunteer had the account until %(until)s; an hour must lie between, or "
                "keep such conversations with a mark"
            )
            value = f"{each.chat.began_at:%Y-%m-%d %H:%M}"
            words = right % {"until": f"{until:%Y-%m-%d %H:%M}"}
            faults.append(FileFault(each.file, each.line, "began_at", value, words))
    return faults


def _note(campaign: Campaign, by: Any, action: str, now: datetime, count: int) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now, count=count)
