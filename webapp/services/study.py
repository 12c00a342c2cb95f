"""What is the same for everybody in a campaign, as its participants are shown it (S11)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import nh3
from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from evaluation import Protocol
from webapp import notices
from webapp.models import Campaign
from webapp.services import places
from webapp.services.plans import protocol_of

FIRST_HEADING, LAST_HEADING = 3, 6  # the page itself has the first two levels
TAGS = {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "em", "blockquote", "code", "br"}


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is the same for everybody in a campaign."""

    slug: str
    minutes: int
    pay: str
    hourly: str
    waiting_pay: str
    is_paid: bool
    contact: str
    consent: SafeString
    told: str
    has_chat: bool
    has_persona: bool
    labels: bool
    asks: bool  # something of its participants, now or afterwards
    instructions: tuple[str, ...]
    steps: tuple[str, ...]
    closed: str  # why nobody can join now; "" where they can


def money(campaign: Campaign, amount: Decimal) -> str:
    """Return an amount in words of the participant's locale."""
    return f"{number_format(amount, 2)} {campaign.currency}"


def of(campaign: Campaign) -> Study:
    """Return what an entry page shows."""
    protocol = protocol_of(campaign)
    hourly = campaign.pay * 60 / campaign.minutes if campaign.minutes else Decimal(0)
    chat = protocol.chat
    return Study(
        slug=campaign.slug,
        minutes=campaign.minutes,
        pay=money(campaign, campaign.pay),
        hourly=money(campaign, hourly),
        waiting_pay=money(campaign, campaign.waiting_pay),
        is_paid=campaign.pay > 0,
        contact=campaign.contact,
        consent=sanitized(campaign.consent),
        told=chat.told if chat else "",
        has_chat=chat is not None,
        has_persona=bool(chat and chat.pool),
        labels=protocol.live is not None,
        asks=bool(protocol.rates),
        instructions=protocol.instructions,
        steps=steps_of(protocol),
        closed=_closed(campaign),
    )


def sanitized(markdown: str) -> SafeString:
    """Return a requester's Markdown as HTML: no links, no images, no markup of theirs."""
    parser = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])
    tokens = parser.parse(markdown)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        level = FIRST_HEADING + int(token.tag[1]) - highest
        token.tag = f"h{min(level, LAST_HEADING)}"
    html = parser.renderer.render(tokens, parser.options, {})
    return SafeString(nh3.clean(html, tags=TAGS, attributes={}))


def steps_of(protocol: Protocol) -> tuple[str, ...]:
    steps = [_("Consent"), _("Instructions")]
    if protocol.chat:
        steps.append(_("Conversation"))
    if protocol.after:
        steps.append(_("Questions") if protocol.chat else _("Replies"))
    return (*steps, _("Done"))


def _closed(campaign: Campaign) -> str:
    if campaign.state == Campaign.State.PAUSED:
        return notices.text("paused")
    if campaign.state != Campaign.State.OPEN:
        return notices.text("over")
    return "" if places.has_room(campaign) else notices.text("full")
