"""Checklist before a campaign opens, each point in words: green, or red and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation import Protocol, Question
from webapp.models import IMPORTED, Campaign, Conversation, System
from webapp.services.campaign import campaigns, message_items
from webapp.services.rating import context_items, third_parties
from webapp.services.replies import heartbeats
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of

FEWEST_PERSONAS = 4
MOST_NAMED = 5


@dataclass(frozen=True)
class LaunchCheck:
    """One line of the checklist; `where` names the page that puts it right."""

    name: str
    ok: bool
    text: str
    where: str = ""


@dataclass(frozen=True)
class Replies:
    """How far the replies to fixed contexts are."""

    wanted: int
    begun: int
    settled: int

    @property
    def ready(self) -> bool:
        return 0 < self.wanted == self.settled


def checklist(campaign: AnyCampaign, now: datetime) -> list[LaunchCheck]:
    """Return every check of a draft."""
    campaign = row_of(campaign)
    protocol = protocol_of(campaign)
    systems = list(campaign.systems.select_related("cell"))
    if third_parties.judges(campaign):
        return [_messages(campaign), _pay(campaign), _consent(campaign), _contact(campaign)]
    checks = [
        _systems(systems, protocol),
        _rehearsed(systems),
        _workers(systems, now),
        *_of_chat(campaign, protocol, systems),
        *_of_contexts(campaign, protocol),
        _pay(campaign),
        _consent(campaign),
        _contact(campaign),
    ]
    return checks


def replies_to_contexts(campaign: AnyCampaign) -> Replies:
    """Count the replies to contexts: wanted, begun, and made into items."""
    campaign = row_of(campaign)
    bots = sum(system.is_bot for system in campaign.systems.all())
    begun = campaign.conversations.filter(purpose=Conversation.Purpose.CONTEXT)
    settled = begun.filter(state=Conversation.State.FINISHED)
    imported = begun.filter(system__bot=IMPORTED).count()
    wanted = campaign.contexts.count() * bots + imported
    return Replies(wanted, begun.count(), settled.count())


def _systems(systems: list[System], protocol: Protocol) -> LaunchCheck:
    name = _("Systems")
    if not systems:
        return LaunchCheck(name, False, _("There is none yet; add at least one."), "systems")
    partner = protocol.chat.partner if protocol.chat else "bot"
    wrong = [s.name for s in systems if (s.is_people and partner == "bot")]
    wrong += [s.name for s in systems if (not s.is_people and partner == "person")]
    if wrong:
        text = _("%(names)s cannot be a partner in this protocol; remove it.")
        return LaunchCheck(name, False, text % {"names": ", ".join(wrong)}, "systems")
    return LaunchCheck(name, True, ", ".join(system.name for system in systems), "systems")


def _rehearsed(systems: list[System]) -> LaunchCheck:
    name = _("Rehearsal")
    untried = [
        system.name
        for system in systems
        if system.is_bot and system.rehearsal != System.Rehearsal.PASSED
    ]
    if untried:
        text = _("Not passed by %(names)s: test them with the button “Rehearse”.")
        return LaunchCheck(name, False, text % {"names": ", ".join(untried)}, "systems")
    return LaunchCheck(name, bool(systems), _("Every bot answered a test message."), "systems")


def _workers(systems: list[System], now: datetime) -> LaunchCheck:
    name = _("Reply workers")
    bots = {system.bot for system in systems if system.is_bot}
    workers = heartbeats.alive(now)
    lacking = [bot for bot in sorted(bots) if not heartbeats.hosting(workers, bot)]
    if lacking:
        text = _("No live reply worker hosts %(bots)s; start one (see docs/running.md).")
        return LaunchCheck(name, False, text % {"bots": ", ".join(lacking)})
    return LaunchCheck(
        name, True, _("A live worker hosts every bot.") if bots else _("None is needed.")
    )


def _of_chat(
    campaign: Campaign, protocol: Protocol, systems: list[System]
) -> Iterator[LaunchCheck]:
    if protocol.chat is None:
        return
    if protocol.chat.pool:
        yield _personas(campaign, protocol.chat.pool)
    without = [system.name for system in systems if system.cell.target < 1]
    total = sum(system.cell.target for system in systems)
    if without:
        text = _("%(names)s: no participations wanted; set a target above 0.") % {
            "names": ", ".join(without)
        }
        yield LaunchCheck(_("Targets"), False, text, "systems")
    else:
        text = _("%(count)d participations wanted.") % {"count": total}
        yield LaunchCheck(_("Targets"), total > 0, text, "systems")
    if protocol.chat.conversations > max(1, len(systems)):
        text = _(
            "%(wanted)d are set and there are %(count)d systems, each of which a participant meets "
            "once; set %(count)d or fewer, or add systems."
        ) % {"wanted": protocol.chat.conversations, "count": len(systems)}
        yield LaunchCheck(_("Conversations per participant"), False, text, "settings")


def _personas(campaign: Campaign, pool: str) -> LaunchCheck:
    count = campaign.personas.filter(split=pool).count()
    text = _("%(count)d in the pool “%(pool)s”.") % {"count": count, "pool": pool}
    if count < FEWEST_PERSONAS:
        text += " " + _(
            "At least %(least)d are needed: one per side and others to choose from."
        ) % {"least": FEWEST_PERSONAS}
    return LaunchCheck(_("Personas"), count >= FEWEST_PERSONAS, text, "personas")


def _of_contexts(campaign: Campaign, protocol: Protocol) -> Iterator[LaunchCheck]:
    if not any(rate.over == "contexts" for rate in protocol.rates):
        return
    replies = replies_to_contexts(campaign)
    count = campaign.contexts.count()
    text = _("%(count)d contexts.") % {"count": count}
    yield LaunchCheck(_("Contexts"), count > 0, text if count else _("Import some."), "contexts")
    text = _("%(done)d of %(wanted)d replies collected.") % {
        "done": replies.settled,
        "wanted": replies.wanted,
    }
    if not replies.ready:
        text += " " + _("Collect them with the button on the page of contexts.")
    yield LaunchCheck(_("Replies to contexts"), replies.ready, text, "contexts")
    if protocol.after is not None and protocol.after.show != "one":
        yield _shown_together(campaign)
    for question in protocol.after.questions if protocol.after is not None else ():
        if question.intended:
            yield _intended(campaign, question)


def _shown_together(campaign: Campaign) -> LaunchCheck:
    """Refuse contexts that would never be shown, because there is nothing to compare."""
    name = _("Replies shown together")
    keys = context_items.without_items(campaign)
    if keys:
        text = _(
            "Nothing to compare: %(keys)s. Two systems or more must reply to every context; "
            "add replies, or remove those contexts."
        ) % {"keys": ", ".join(keys[:MOST_NAMED]) + (", ..." if len(keys) > MOST_NAMED else "")}
        return LaunchCheck(name, False, text, "contexts")
    return LaunchCheck(name, True, _("Every context has replies to compare."), "contexts")


def _intended(campaign: Campaign, question: Question) -> LaunchCheck:
    """Refuse a question that would never be asked, because no import says what replies are."""
    rows = campaign.conversations.filter(purpose=Conversation.Purpose.CONTEXT)
    count = rows.filter(intended__in=question.intended).count()
    words = {
        "count": count,
        "name": question.name,
        "intended": _(" or ").join(question.intended),
    }
    if count:
        text = _("%(count)d replies were meant to be %(intended)s; %(name)s is asked of them.")
    else:
        text = _(
            "%(name)s is asked only of replies that were meant to be %(intended)s, and none is; "
            "import replies with text and intended."
        )
    return LaunchCheck(_("Replies as intended"), count > 0, text % words, "contexts")


def _messages(campaign: Campaign) -> LaunchCheck:
    found = message_items.counts(campaign)
    words = ngettext(
        "%(messages)d messages of %(conversations)d conversation.",
        "%(messages)d messages of %(conversations)d conversations.",
        found["conversations"],
    )
    text = words % found
    if not found["messages"]:
        text = _("Take those of a campaign that has ended.")
    return LaunchCheck(_("Messages to judge"), found["messages"] > 0, text, "messages")


def _pay(campaign: Campaign) -> LaunchCheck:
    rate = campaigns.hourly(campaign.pay, campaign.minutes)
    text = _("%(pay)s %(currency)s for %(minutes)d minutes: %(rate)s per hour.") % {
        "pay": campaign.pay,
        "currency": campaign.currency,
        "minutes": campaign.minutes,
        "rate": rate,
    }
    if campaign.pay == 0:
        text = _("Nothing is paid: right for volunteers only.")
    return LaunchCheck(_("Pay"), True, text, "settings")


def _consent(campaign: Campaign) -> LaunchCheck:
    words = len(campaign.consent.split())
    text = _("%(count)d words.") % {"count": words} if words else _("Write the consent text.")
    return LaunchCheck(_("Consent text"), words > 0, text, "settings")


def _contact(campaign: Campaign) -> LaunchCheck:
    text = campaign.contact.strip() or _("Enter a contact for participants' questions.")
    return LaunchCheck(_("Contact"), bool(campaign.contact.strip()), text, "settings")
