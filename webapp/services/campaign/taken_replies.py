"""Replies of another campaign, as the lines of an import: the very same ones, asked about anew.

A re-run with one other question (ME-P6) wants what was judged before; bots asked again would reply
otherwise. Apart because it reads another campaign and knows nothing of how lines are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from webapp.models import Campaign, Context, Conversation, Event
from webapp.services.rating import context_items
from webapp.services.rules import access
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.staff_forms.fields import Invalid, shown


@dataclass(frozen=True)
class ReplySource:
    """A campaign whose replies to contexts can be taken."""

    campaign: Campaign
    replies: int


def sources(*, campaign: AnyCampaign, user: access.User) -> list[ReplySource]:
    """Return the campaigns with replies to contexts, those of the same study first."""
    rows = access.beside(campaign, user).filter(conversations__in=_replies())
    study = row_of(campaign).study_id
    found = [
        ReplySource(row, _replies().filter(campaign=row).count())
        for row in rows.distinct().order_by("-pk")
    ]
    return sorted(found, key=lambda one: study is None or one.campaign.study_id != study)


def lines(*, campaign: AnyCampaign, source: str, user: access.User) -> str:
    """Return contexts and replies of a campaign as JSON Lines, to be imported. Raises `Invalid`.

    `source` is the campaign's number as a form sends it.
    """
    known = {str(one.campaign.pk): one.campaign for one in sources(campaign=campaign, user=user)}
    if source not in known:
        complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
        raise Invalid({"source": complaint % {"value": shown(source)}})
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in _records(known[source]))


def _replies() -> Any:
    return Conversation.objects.filter(
        purpose=Conversation.Purpose.CONTEXT, state=Conversation.State.FINISHED, excluded=""
    )


def _records(source: Campaign) -> Iterator[dict[str, Any]]:
    events = Event.objects.filter(
        conversation__campaign=source, kind=Event.Kind.MESSAGE, in_reply_to__isnull=False
    )
    texts = {pk: content["text"] for pk, content in events.values_list("conversation", "content")}
    names = dict(source.systems.values_list("pk", "name"))
    for context, replies in context_items.answered(source):
        record = {"id": context.key, "messages": context.messages, **_about(context)}
        found: dict[str, list[dict[str, str]]] = {}
        for reply in replies:
            text = {"text": texts[reply.pk]}
            intended = {"intended": reply.intended} if reply.intended else {}
            found.setdefault(names[reply.system_id], []).append(text | intended)
        yield record | {"replies": found}


def _about(context: Context) -> dict[str, str]:
    named = {"dataset": context.group, "character": context.about}
    return {name: value for name, value in named.items() if value}
