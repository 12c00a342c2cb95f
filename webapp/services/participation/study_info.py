"""Study information for participants; only the amounts are each one's own (S11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import nh3
from django.conf import settings
from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from evaluation import Image, Protocol, Question, WorkedExample
from webapp import notices
from webapp.languages import Language, listed
from webapp.models import Campaign, Participation
from webapp.services.conversation import allocation
from webapp.services.participation import waiting_list
from webapp.services.rules import ledger, payment, rounds
from webapp.services.rules.protocols import consent_of, shown_protocol, task_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

FIRST_HEADING, LAST_HEADING = 3, 6  # the page itself has the first two levels
TAGS = {"h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "em", "blockquote", "code", "br"}


@dataclass(frozen=True, kw_only=True)
class StudyInfo:
    """A campaign on a participant's page, with the amounts that bind for them."""

    slug: str
    minutes: int
    pay: str  # of each conversation
    most: int  # conversations
    offer: str  # the pay as the form of consent sends it back
    hourly: str
    waiting_pay: str
    stopping: str  # what stopping early pays; "" where nothing is paid at all
    checks: tuple[str, ...]  # what may keep somebody from the work, and what that pays
    is_paid: bool
    contact: str
    consent: SafeString
    partner_notice: str  # about the partner, before the conversation
    has_chat: bool
    has_persona: bool
    labels: bool
    task: str  # what they do, in one sentence
    writes: bool
    examples: tuple[WorkedExample, ...]
    judged: tuple[Question, ...]  # questions whose definition or examples are read beforehand
    instructions: tuple[str, ...]
    images: tuple[Image, ...]  # with the instructions
    steps: tuple[str, ...]
    languages: tuple[Language, ...]  # to choose from; none where there is no choice
    keeping: str = ""  # how long what is personal is kept
    closed: str = ""  # why nobody can join now; "" where they can
    crowded: str = ""  # why nobody can begin at once, where they can wait for a place


def money(amount: Decimal, currency: str) -> str:
    """Return an amount in words of the participant's locale."""
    return f"{number_format(amount, 2)} {currency}"


def pay_words(amount: Decimal, person: Participation) -> str:
    """Return what a notice says of the pay: nothing to people who take part without any."""
    return money(amount, person.currency) if amount or person.pay else ""


def of(campaign: Campaign, terms: payment.Terms | None = None) -> StudyInfo:
    """Return what a page shows, under somebody's terms or those that a newcomer is offered."""
    protocol = shown_protocol(campaign)
    terms = terms or payment.offered(campaign)
    hourly = terms.pay * 60 / campaign.minutes if campaign.minutes else Decimal(0)
    chat = protocol.chat
    return StudyInfo(
        slug=campaign.slug,
        minutes=campaign.minutes,
        pay=money(terms.pay, terms.currency),
        most=rounds.most(campaign),
        offer=str(terms.pay),
        hourly=money(hourly, terms.currency),
        waiting_pay=money(terms.waiting_pay, terms.currency),
        stopping=stopping_words(terms, protocol),
        checks=tuple(_checks(protocol, terms)),
        is_paid=terms.pay > 0,
        contact=campaign.contact,
        consent=sanitized(consent_of(campaign)),
        partner_notice=chat.told if chat else "",
        has_chat=chat is not None,
        has_persona=bool(chat and chat.pool),
        labels=protocol.live is not None,
        task=str(notices.TASKS[task_of(protocol)]),
        writes=protocol.write is not None,
        examples=protocol.write.examples if protocol.write else (),
        judged=tuple(_judged(protocol)),
        instructions=protocol.instructions,
        images=protocol.images,
        steps=steps_of(protocol),
        languages=listed(campaign.languages) if len(campaign.languages) > 1 else (),
        keeping=_keeping(campaign),
    )


def offered(campaign: Campaign, now: datetime, terms: payment.Terms | None = None) -> StudyInfo:
    """Return what the entry page shows, with the reason why nobody can join, or begin, now."""
    closed, crowded = _shut(campaign, now)
    return replace(of(campaign, terms), closed=closed, crowded=crowded)


def stopping_words(terms: payment.Terms, protocol: Protocol) -> str:
    """Return the rule of stopping as it is stated before consent, "" where nothing is paid."""
    if not terms.pay:
        return ""
    lengths = protocol.chat.minimum.options if protocol.chat else ()
    replies = notices.WRITE_STOPS if protocol.write else notices.REPLY_STOPS
    words = notices.CHAT_STOPS if lengths else replies
    rule = words[terms.quit_rule] % {
        "pay": money(terms.pay, terms.currency),
        "minimum": _range(lengths),
    }
    if protocol.chat and protocol.chat.conversations > 1:
        rule = f"{rule} {notices.EACH_STOPS}"
    if terms.quit_rule == payment.QuitRule.MINIMUM:
        return rule
    # The minimum itself is always enough, and so is all that one person is given.
    least = min((terms.least_work, *(lengths or (protocol.batch,))))
    return f"{rule} {words['one'] if least == 1 else words['least'] % {'least': least}}"


def _checks(protocol: Protocol, terms: payment.Terms) -> Iterator[str]:
    """Yield what is announced before consent of the checks that somebody may fail."""
    pay = money(terms.screening_pay, terms.currency)
    has_pay = terms.screening_pay > 0
    pays = notices.text("pays_screening", pay=pay) if has_pay else notices.text("pays_nothing")
    if protocol.screening:
        yield notices.text("first_questions", pays=pays)
    if protocol.quiz and protocol.quiz.tries == 1:
        yield notices.text("first_quiz_once", pays=pays)
    elif protocol.quiz:
        yield notices.text("first_quiz", tries=protocol.quiz.tries, pays=pays)
    if protocol.onboarding and not protocol.onboarding.silently:
        yield notices.text("first_items", items=protocol.onboarding.items, pays=pays)
    if attention := protocol.attention:
        name = "attention_ends" if attention.ends else "attention_marks"
        yield notices.text(name, wrong=attention.misses, pays=pays)


def _judged(protocol: Protocol) -> Iterator[Question]:
    """Yield what is asked of messages and replies, where it is explained.

    Questions about the partner come after the chat, which they would change if they were known.
    """
    for rate in protocol.rates:
        if rate.when == "live" or rate.is_shared:
            yield from (
                each for each in rate.questions if each.help or each.examples or each.images
            )


def _range(lengths: Sequence[int]) -> str:
    if len(set(lengths)) > 1:
        return _("%(fewest)d to %(most)d") % {"fewest": min(lengths), "most": max(lengths)}
    return str(lengths[0]) if lengths else ""


def sanitized(markdown: str) -> SafeString:
    """Return a requester's Markdown as HTML: no links, no images, no markup of theirs."""
    parser = _parser()
    tokens = parser.parse(markdown)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        level = FIRST_HEADING + int(token.tag[1]) - highest
        token.tag = f"h{min(level, LAST_HEADING)}"
    html = parser.renderer.render(tokens, parser.options, {})
    return SafeString(nh3.clean(html, tags=TAGS, attributes={}))


def plain(markdown: str) -> str:
    """Return a requester's Markdown as text for where no page is: lines, and bullets of lists."""
    lines: list[str] = []
    marker, is_item = "", False
    for token in _parser().parse(markdown):
        if token.type.endswith("_list_open") and not token.level:
            is_item = False
        elif token.type == "list_item_open":
            marker = f"{token.info}{token.markup} " if token.info else "• "
        elif token.content:
            if lines and not (is_item and marker):
                lines.append("")
            inline = token.children or [token]
            words = "".join(" " if each.type == "softbreak" else each.content for each in inline)
            lines.append(f"{marker}{words}")
            is_item, marker = bool(marker), ""
    return "\n".join(lines)


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # it takes long, and few instructions have any

    return MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def steps_of(protocol: Protocol) -> tuple[str, ...]:
    steps = [_("Consent"), *([_("About you")] if protocol.screening else []), _("Instructions")]
    if protocol.chat:
        steps.append(_("Conversation"))
    if protocol.after:
        steps.append(_("Questions") if protocol.chat else _("Replies"))
    if protocol.write:
        steps.append(_("Writing"))
    return (*steps, _("Done"))


def _keeping(campaign: Campaign) -> str:
    ids = notices.text("keeps_ids", days=settings.KEEP_IDS_DAYS)
    if campaign.keep_days is None:
        return ids
    return f"{ids} {notices.text('keeps_words', days=campaign.keep_days)}"


def _shut(campaign: Campaign, now: datetime) -> tuple[str, str]:
    """Return why nobody can join, and why nobody can begin at once; "" where they can."""
    if campaign.state == Campaign.State.PAUSED:
        return notices.text("paused"), ""
    if campaign.state != Campaign.State.OPEN:
        return notices.text("over"), ""
    if allocation.has_capacity(campaign) and ledger.can_reserve(campaign, campaign.pay):
        return "", ""
    if waiting_list.may_wait(campaign, now):
        return "", notices.text("crowded")
    return notices.text("full"), ""
