"""Importing contexts for a static protocol: previewed like personas, stored when all are right."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bots.datasets import contexts as dataset
from evaluation import Protocol
from webapp.models import (
    IMPORTED,
    Campaign,
    Candidate,
    Context,
    Conversation,
    Event,
    QuotaCell,
    Seat,
    System,
)
from webapp.services.campaign import campaigns
from webapp.services.rating import contexts
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms import known_answers
from webapp.services.staff_forms.fields import Invalid, shown
from webapp.services.staff_forms.pasted import (
    BadRow,
    PastedRow,
    Preview,
    checked,
    content,
    json_rows,
    key_of,
    limited,
    texts_of,
    without_repeats,
)

MOST_SHOWN = 500
MOST_SYSTEMS = 20
FIELDS = {"id", "messages", "dataset", "character", "replies", "known"}
SYSTEM_NAME = re.compile(r"[-a-zA-Z0-9_]{1,60}")


class AlreadyAnswered(Exception):
    """Replies to the contexts were collected: they cannot be taken away."""


@dataclass(frozen=True)
class ReplyDraft:
    """An imported reply to a context; `intended` is what it was meant to be."""

    system: str
    text: str
    intended: str = ""


@dataclass(frozen=True)
class ContextDraft:
    """A context that is not stored yet, with the replies that come with it."""

    messages: tuple[str, ...]
    group: str = ""
    about: str = ""
    replies: tuple[ReplyDraft, ...] = ()
    known: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return what no two contexts have in common; of texts by themselves the texts."""
        texts = self.messages or (self.about, *(reply.text for reply in self.replies))
        return "\n".join(texts)


@dataclass(frozen=True)
class StoredContext:
    """A context of a campaign as its page lists it."""

    key: str
    messages: tuple[str, ...]
    about: str
    replies: int
    is_known: bool


def preview(*, campaign: AnyCampaign, text: str) -> Preview[ContextDraft]:
    """Read pasted JSON Lines."""
    here = _("in this campaign")
    known: dict[str, str] = {}
    row = row_of(campaign)
    for context in row.contexts.all():
        known[context.key] = here
        if context.messages:
            known[content("\n".join(context.messages))] = here
    bots = {system.name for system in row.systems.all() if system.bot != IMPORTED}
    parse = partial(_parse, protocol=protocol_of(row), bots=bots)
    return limited(list(without_repeats(json_rows(checked(text), parse), known)))


def store(*, campaign: AnyCampaign, text: str, by: Any, now: datetime) -> int:
    """Store what a preview found right; refuses all where one row is wrong."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        found = preview(campaign=row, text=text)
        if not found.good:
            raise Invalid({"text": _("has rows that are wrong; correct them first")})
        drafts = {each.key: each.value for each in found.rows if each.value}
        made = Context.objects.bulk_create(
            [
                Context(
                    campaign=row,
                    key=key,
                    messages=list(draft.messages),
                    group=draft.group,
                    about=draft.about,
                    known=draft.known,
                )
                for key, draft in drafts.items()
            ],
            batch_size=500,
        )
        _add_replies([(context, drafts[context.key]) for context in made], row, now)
        _note(row, by, "contexts imported", now, len(found.rows))
        return len(found.rows)


def bundled(campaign: AnyCampaign | None = None) -> str:
    """Return the contexts that come with Parley as JSON Lines; of a campaign, those that fit."""
    least, most = _lengths(protocol_of(campaign)) if campaign else (1, dataset.LONGEST)
    records = (
        {"id": each.id, "messages": [turn.text for turn in each.turns]}
        for each in dataset.read("")
        if least <= len(each.turns) <= most
    )
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove a draft's contexts, unless replies to them were collected."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if row.conversations.exclude(context="").exclude(system__bot=IMPORTED).exists():
            raise AlreadyAnswered
        _remove_replies(row)
        count, _kinds = row.contexts.all().delete()
        _note(row, by, "contexts removed", now, count)
        return count


def stored(campaign: AnyCampaign) -> list[StoredContext]:
    """Return the campaign's contexts, the first ones of many."""
    rows = list(Context.objects.filter(campaign=campaign.pk).order_by("id")[:MOST_SHOWN])
    replies = Conversation.objects.filter(
        campaign=campaign.pk, system__bot=IMPORTED, context__in=[row.key for row in rows]
    )
    counts = Counter(replies.values_list("context", flat=True))
    return [
        StoredContext(row.key, tuple(row.messages), row.about, counts[row.key], bool(row.known))
        for row in rows
    ]


def messages_wanted(campaign: AnyCampaign) -> str:
    """Return how many messages a context may have, in words; "" where texts stand alone."""
    return _wanted(*_lengths(protocol_of(campaign)))


def _wanted(least: int, most: int) -> str:
    if least < most:
        return _("%(least)d to %(most)d messages") % {"least": least, "most": most}
    text = ngettext("%(count)d message", "%(count)d messages", most)
    return text % {"count": most} if most else ""


def _lengths(protocol: Protocol) -> tuple[int, int]:
    step = protocol.write or protocol.after
    return (1, dataset.LONGEST) if step is None else step.messages


def known_question(campaign: AnyCampaign) -> str:
    """Return a question whose known answer may be imported, "" without an onboarding."""
    return known_answers.wanted_of(protocol_of(campaign))


def count(campaign: AnyCampaign) -> int:
    """Count the campaign's contexts."""
    return Context.objects.filter(campaign=campaign.pk).count()


def _parse(
    record: Mapping[str, Any], *, protocol: Protocol, bots: Collection[str]
) -> PastedRow[ContextDraft]:
    if unknown := sorted(set(record) - FIELDS):
        raise BadRow(
            _("has a field %(name)s; there are %(known)s")
            % {"name": shown(unknown[0]), "known": ", ".join(sorted(FIELDS))}
        )
    messages = texts_of(record, "messages")
    least, most = _lengths(protocol)
    if not least <= len(messages) <= most:
        raise BadRow(
            ngettext(
                "has %(count)d message; it must have %(wanted)s",
                "has %(count)d messages; it must have %(wanted)s",
                len(messages),
            )
            % {"count": len(messages), "wanted": _wanted(least, most) or _("none")}
        )
    replies = _replies(record.get("replies", {}), bots)
    _check_lengths([*messages, *(reply.text for reply in replies)])
    if not messages and not replies:
        raise BadRow(_("has no replies; where there are no messages it must have some"))
    group, about = _label(record, "dataset", 40), _label(record, "character", 200)
    known = known_answers.read(record.get("known", {}), protocol, [r.system for r in replies])
    return PastedRow(0, key_of(record), ContextDraft(messages, group, about, replies, known))


def _replies(value: Any, bots: Collection[str]) -> tuple[ReplyDraft, ...]:
    if not isinstance(value, dict):
        complaint = _("replies is %(value)s; it must map names of systems to texts")
        raise BadRow(complaint % {"value": shown(value)})
    found = []
    for name, texts in value.items():
        if SYSTEM_NAME.fullmatch(name) is None:
            raise BadRow(
                _("replies has the system %(name)s; a name has letters, digits, - and _ only")
                % {"name": shown(name)}
            )
        if name in bots:
            raise BadRow(
                _("replies has the system %(name)s, which replies by itself here; name another")
                % {"name": shown(name)}
            )
        for each in texts if isinstance(texts, list) else [texts]:
            found.append(_reply(name, each))
    return tuple(found)


def _reply(system: str, value: Any) -> ReplyDraft:
    """Return a reply, which is a text, or an object of a text and what it was meant to be."""
    parts = value if isinstance(value, dict) else {"text": value}
    text = parts.get("text")
    if not isinstance(text, str) or not text.strip() or set(parts) - {"text", "intended"}:
        complaint = _(
            "the reply of %(system)s is %(value)s; it must be a text, or have text and intended"
        )
        raise BadRow(complaint % {"system": system, "value": shown(value)})
    return ReplyDraft(system, " ".join(text.split()), _label(parts, "intended", 40))


def _label(record: Mapping[str, Any], name: str, most: int) -> str:
    value = record.get(name, "")
    if isinstance(value, str) and len(value) <= most:
        return " ".join(value.split())
    complaint = _("%(name)s is %(value)s; it must be a text of at most %(most)d characters")
    raise BadRow(complaint % {"name": name, "value": shown(value), "most": most})


def _check_lengths(texts: Sequence[str]) -> None:
    if any(len(text) > settings.MAX_MESSAGE_CHARACTERS for text in texts):
        raise BadRow(
            _("has a message of more than %(most)d characters")
            % {"most": settings.MAX_MESSAGE_CHARACTERS}
        )


# --- imported replies -------------------------------------------------------------------------


def _add_replies(
    made: Sequence[tuple[Context, ContextDraft]], campaign: Campaign, now: datetime
) -> None:
    """Store the replies that came with contexts; their systems are made when first named."""
    systems = {system.name: system for system in campaign.systems.all()}
    names = {reply.system: None for _, draft in made for reply in draft.replies}
    for name in (name for name in names if name not in systems):
        systems[name] = System.objects.create(campaign=campaign, bot=IMPORTED, name=name)
        QuotaCell.objects.create(system=systems[name], target=0)
    if len(systems) > MOST_SYSTEMS:
        complaint = _("has replies of %(count)d systems; a campaign has at most %(most)d")
        raise Invalid({"text": complaint % {"count": len(systems), "most": MOST_SYSTEMS}})
    contexts.add_replies(
        [
            contexts.FixedReply(context, systems[reply.system], reply.text, reply.intended)
            for context, draft in made
            for reply in draft.replies
        ],
        now=now,
    )


def _remove_replies(campaign: Campaign) -> None:
    """Remove imported replies, what was made of them, and their systems."""
    imported = campaign.conversations.filter(system__bot=IMPORTED)
    items = campaign.items.filter(context__isnull=False)
    Candidate.objects.filter(item__in=items).delete()
    items.delete()
    Event.objects.filter(conversation__in=imported).delete()
    Seat.objects.filter(conversation__in=imported).delete()
    imported.delete()
    systems = campaign.systems.filter(bot=IMPORTED)
    QuotaCell.objects.filter(system__in=systems).delete()
    systems.delete()


def _note(campaign: AnyCampaign, by: Any, action: str, now: datetime, count: int) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now, count=count)
