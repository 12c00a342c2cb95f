"""Redaction: stretches of imported conversations that give somebody away, replaced for good.

What is replaced is kept nowhere: not in messages, not in what raters quoted, not in the log. The
mark is MEENA's (appendix A).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.models import (
    Amendment,
    Assignment,
    Campaign,
    Conversation,
    Event,
    Rating,
    TranscriptNote,
)
from webapp.services.rating import transcripts
from webapp.services.rating.transcripts import MARK, ImportedChat
from webapp.services.rules import audit, erasure
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import Invalid, shown

SHORTEST = 2  # characters


def read(raw: str) -> tuple[str, ...]:
    """Return the stretches of a form, one a line. Raises `Invalid`."""
    found = tuple(dict.fromkeys(" ".join(line.split()) for line in raw.splitlines()))
    stretches = tuple(each for each in found if each)
    for each in stretches:
        if len(each) < SHORTEST:
            right = _("%(value)s is one character; write two or more")
            raise Invalid({"redact": right % {"value": shown(each)}})
        if each.casefold() in MARK.casefold():
            right = _("%(value)s is part of the mark itself; write something else")
            raise Invalid({"redact": right % {"value": shown(each)}})
    return stretches


def redacted(text: str, stretches: Sequence[str]) -> tuple[str, int]:
    """Return a text without the stretches, however they are capitalized, and how many it had.

    A stretch within a longer word goes too: it is better to lose a syllable than to leave a name.
    """
    if not stretches:
        return text, 0
    longest_first = sorted(stretches, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(map(re.escape, each.split())) for each in longest_first)
    return re.subn(pattern, MARK, text, flags=re.IGNORECASE)


def of_chat(chat: ImportedChat, stretches: Sequence[str]) -> tuple[ImportedChat, int]:
    """Return a conversation that is not stored yet without the stretches, and how many it had."""
    name, count = redacted(chat.name, stretches)
    turns = []
    for turn in chat.turns:
        text, found = redacted(turn.text, stretches)
        turns.append(replace(turn, text=text))
        count += found
    return replace(chat, name=name, turns=tuple(turns)), count


def redact(*, campaign: AnyCampaign, raw: str, by: Any, now: datetime) -> int:
    """Redact stretches in everything that was imported; return how many were found.

    Once the campaign is launched, an amendment says that it was done, and not what it was.
    Raises `Invalid` where there is nothing to look for, or nothing was found.
    """
    stretches = read(raw)
    if not stretches:
        raise Invalid({"redact": _("is empty; write what must not be read, one stretch a line")})
    with transaction.atomic():
        row = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        count = _in_messages(row, stretches) + _in_answers(row, stretches)
        if not count:
            raise Invalid(
                {"redact": _("occurs in no imported conversation; look how it is written")}
            )
        _tell(row, count, by, now)
        erasure.empty_results()
        erasure.empty_log_on_commit()
        return count


def _in_messages(campaign: Campaign, stretches: Sequence[str]) -> int:
    chats, count = transcripts.of(campaign), 0
    for event in Event.objects.filter(conversation__in=chats, kind=Event.Kind.MESSAGE):
        text, found = redacted(event.content["text"], stretches)
        if found:
            Event.objects.filter(pk=event.pk).update(content=event.content | {"text": text})
            count += found
    for note in TranscriptNote.objects.filter(conversation__in=chats):
        name, found = redacted(note.name, stretches)
        if found:
            TranscriptNote.objects.filter(pk=note.pk).update(name=name)
            count += found
    return count


def _in_answers(campaign: Campaign, stretches: Sequence[str]) -> int:
    """Redact what raters wrote of these conversations, and have begun to write."""
    count = 0
    chats = Conversation.objects.filter(pk__in=transcripts.of(campaign))
    for rating in Rating.objects.filter(candidate__conversation__in=chats):
        if isinstance(rating.value, str):
            value, found = redacted(rating.value, stretches)
            if found:
                Rating.objects.filter(pk=rating.pk).update(value=value)
                count += found
    for draft in Assignment.objects.filter(item__campaign=campaign).exclude(draft={}):
        cleaned = {name: redacted(str(text), stretches) for name, text in draft.draft.items()}
        found = sum(each for _text, each in cleaned.values())
        if found:
            kept = {name: text for name, (text, _found) in cleaned.items()}
            Assignment.objects.filter(pk=draft.pk).update(draft=kept)
            count += found
    return count


def _tell(campaign: Campaign, count: int, by: Any, now: datetime) -> None:
    audit.append(
        actor=by.get_username(),
        action="stretches redacted",
        campaign=campaign,
        now=now,
        count=count,
    )
    if campaign.state != Campaign.State.DRAFT:
        words = ngettext(
            "%(count)d stretch of imported conversations was redacted.",
            "%(count)d stretches of imported conversations were redacted.",
            count,
        )
        Amendment.objects.create(campaign=campaign, made_by=by, text=words % {"count": count})
