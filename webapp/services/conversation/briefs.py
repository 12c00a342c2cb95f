"""Briefs of a conversation: sheets of one group, and the topic that both sides are told.

Apart because the page of a chat asks for them too, which knows nothing of how a conversation opens.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation import Brief
from webapp.models import Conversation, Persona, Seat
from webapp.services.replies.background import known_of
from webapp.services.rules.protocols import protocol_of

C = Conversation.State
NOT_HELD = (C.ABANDONED, C.FAILED)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What a side is shown beside the lines of its own sheet."""

    heading: str
    name: str
    partner_heading: str
    partner: tuple[str, ...]  # what both know of the partner's sheet; empty before there is one
    topic: str


def group_of(brief: Brief | None, partners: Sequence[Persona]) -> str | None:
    """Return the group that the next sheet has to be of, None for any."""
    if brief is None or not brief.one_group or not partners:
        return None
    return partners[0].group


def draw_topic(conversation: Conversation, brief: Brief, sheets: Sequence[Persona]) -> None:
    """Draw the topic of a conversation, among those that the fewest conversations have had.

    sheets: those of both sides.
    """
    topics = brief.topics_for(sheets[0].group if sheets else "")
    if not topics:
        return
    rows = conversation.campaign.conversations.filter(purpose=Conversation.Purpose.STUDY)
    held = Counter(rows.exclude(state__in=NOT_HELD).values_list("topic", flat=True))
    fewest = min(held[topic] for topic in topics)
    draw = random.Random(f"{conversation.seed}:topic")  # noqa: S311 (to be repeated)
    conversation.topic = str(draw.choice([topic for topic in topics if held[topic] == fewest]))
    conversation.save(update_fields=["topic"])


def sheet_of(brief: Brief, seat: Seat) -> Sheet:
    """Return what a side is shown: nothing private of the partner's sheet is in it."""
    others = seat.conversation.seats.select_related("persona").exclude(pk=seat.pk)
    partners = [other.persona for other in others if other.persona is not None]
    return _sheet(
        brief,
        seat.persona,
        partner=known_of(partners),
        topic=_topic(brief, seat.conversation),
    )


def _topic(brief: Brief, conversation: Conversation) -> str:
    """Return the topic as the brief that is shown has it, which may be a translation."""
    chat = protocol_of(conversation.campaign).chat
    source = chat.brief if chat else None
    return brief.topic_like(conversation.topic, source or brief)


def held_sheet(brief: Brief, persona: Persona | None) -> Sheet | None:
    """Return what a person is shown who waits with a sheet; there is no partner yet."""
    return _sheet(brief, persona) if persona else None


def _sheet(
    brief: Brief, persona: Persona | None, *, partner: tuple[str, ...] = (), topic: str = ""
) -> Sheet:
    return Sheet(
        heading=brief.yours,
        name=persona.name if persona else "",
        partner_heading=brief.theirs,
        partner=partner,
        topic=topic,
    )
