"""Checklist before a campaign opens, each point in words: green, or red and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation import Chat, Protocol, Question, Write, word_count
from webapp.models import IMPORTED, Campaign, Conversation, Persona, System
from webapp.services.campaign import campaigns, message_items
from webapp.services.rating import context_items, conversation_items, third_parties
from webapp.services.replies import heartbeats, pace, partials
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms import known_answers

FEWEST_PERSONAS = 4
MOST_NAMED = 5
# Pay per hour between the minimum that panels ask for and what is rather a slip of the pen.
USUAL_HOURLY = {
    "USD": (Decimal(8), Decimal(100)),
    "EUR": (Decimal(8), Decimal(100)),
    "GBP": (Decimal(6), Decimal(100)),
}
SHORT_CONSENT = 300  # characters
HTML = re.compile(r"</?[a-zA-Z][^>]*>")
MINUTES = re.compile(r"\b(\d{1,3}) minutes?\b")
PAID = re.compile(r"\b(paid|pay)\b", re.I)
PARTS = {
    gettext_lazy("what is kept"): re.compile(r"\b(keep|kept|stor|record|collect)", re.I),
    gettext_lazy("that taking part is voluntary"): re.compile(r"\b(voluntar|stop at any)", re.I),
    gettext_lazy("how to withdraw"): re.compile(r"\b(withdr|delet)", re.I),
}


@dataclass(frozen=True)
class LaunchCheck:
    """One line of the checklist; `where` names the page that puts it right.

    warns: it does not stand in the way of a launch, but somebody should look at it.
    """

    name: str
    ok: bool
    text: str
    where: str = ""
    warns: bool = False


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
    if third_parties.uses_others(campaign):
        return [_messages(campaign), _pay(campaign), _consent(campaign), _contact(campaign)]
    if protocol.write is not None:
        written = [*_of_writing(campaign, protocol.write)]
        return [*written, _pay(campaign), _consent(campaign), _contact(campaign)]
    if protocol.after is not None and protocol.after.over == "speakers":
        shown = [_conversations(campaign), *_of_controls(campaign, protocol)]
        return [*shown, _pay(campaign), _consent(campaign), _contact(campaign)]
    checks = [
        _systems(systems, protocol),
        _rehearsed(systems),
        _workers(systems, now),
        *_of_chat(campaign, protocol, systems),
        *_of_streams(campaign, protocol.chat, systems),
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
    wanted = campaign.contexts.filter(known={}).count() * bots + imported
    return Replies(wanted, begun.count(), settled.count())


def _systems(systems: list[System], protocol: Protocol) -> LaunchCheck:
    name = _("Systems")
    if not systems:
        text = _("There is none yet; add at least one.")
        if protocol.chat is None:
            text += " " + _("Names in imported replies become systems.")
        return LaunchCheck(name, False, text, "systems")
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
    text = _("Every bot passed.") if systems else _("There is no system to test yet.")
    return LaunchCheck(name, bool(systems), text, "systems")


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
        yield _personas(campaign, protocol.chat)
    without = [system.name for system in systems if system.cell.target < 1]
    total = sum(system.cell.target for system in systems)
    odd = [each.name for each in systems if each.is_people and each.cell.target % 2]
    if without:
        text = _("%(names)s: no participations wanted; set a target above 0.") % {
            "names": ", ".join(without)
        }
        yield LaunchCheck(_("Targets"), False, text, "systems")
    elif odd:
        text = _(
            "%(names)s: people come in pairs, so the last of an odd number would wait for nobody; "
            "set an even target."
        ) % {"names": ", ".join(odd)}
        yield LaunchCheck(_("Targets"), False, text, "systems")
    else:
        text = _("%(count)d participations wanted.") % {"count": total}
        rating = sum(raters(system, protocol) for system in systems)
        if rating < total:
            text += " " + _("%(raters)d of them rate: one of two people who are partners.") % {
                "raters": rating
            }
        yield LaunchCheck(_("Targets"), total > 0, text, "systems")
    if protocol.chat.conversations > max(1, len(systems)):
        text = _(
            "%(wanted)d are set and there are %(count)d systems, each of which a participant meets "
            "once; set %(count)d or fewer, or add systems."
        ) % {"wanted": protocol.chat.conversations, "count": len(systems)}
        yield LaunchCheck(_("Conversations per participant"), False, text, "settings")


def _of_streams(
    campaign: Campaign, chat: Chat | None, systems: list[System]
) -> Iterator[LaunchCheck]:
    """Check that replies grow where systems and settings agree on it, and nowhere else."""
    streamed = ", ".join(each.name for each in systems if partials.is_streamed(each.options))
    is_on = chat is not None and chat.streams
    if not streamed and not is_on:
        return
    name = _("Streamed replies")
    if not is_on:
        text = _(
            "%(names)s: set to stream, but the settings do not show a reply while it is written; "
            "turn that on, or the option off."
        ) % {"names": streamed}
        yield LaunchCheck(name, False, text, "systems")
    elif not streamed:
        text = _("No system streams its replies; turn its option on, or the setting off.")
        yield LaunchCheck(name, False, text, "settings")
    elif settings.CHANNEL_LAYERS and not settings.PARTIALS_BY_REDIS:
        text = _(
            "Workers are processes of their own here, and texts do not go through Redis. Whoever "
            "runs the server can set PARTIALS_BY_REDIS=1; else turn the setting off."
        )
        yield LaunchCheck(name, False, text, "settings")
    elif pace.is_mixed(campaign):
        text = _("A partner may be a person or a bot, and replies that grow would tell which.")
        yield LaunchCheck(name, False, f"{text} {_('Turn the setting off.')}", "settings")
    else:
        text = _("Shown while they are written: those of %(names)s.") % {"names": streamed}
        rest = [each for each in systems if not partials.is_streamed(each.options)]
        doubt = _("Those of the other systems appear whole, which people can see.") if rest else ""
        yield LaunchCheck(name, True, f"{text} {doubt}".strip(), "systems", warns=bool(rest))


def raters(system: System, protocol: Protocol) -> int:
    """Return how many of a system's participations rate: all, or one of two people."""
    one = protocol.one_rates and system.is_people
    return system.cell.target // 2 if one else system.cell.target


def _personas(campaign: Campaign, chat: Chat) -> LaunchCheck:
    pool, name = chat.pool, _("Personas")
    rows = campaign.personas.filter(split=pool)
    count, plain = rows.count(), rows.filter(revised=[])
    if "revised" in _forms(chat) and plain.exists():
        text = _(
            "The settings want revised personas, and %(count)d of the pool “%(pool)s” have no "
            "revised form, among them %(key)s; import them with one, or set the form to original."
        ) % {"count": plain.count(), "pool": pool, "key": plain.order_by("pk")[0].key}
        return LaunchCheck(name, False, text, "personas")
    text = _("%(count)d in the pool “%(pool)s”.") % {"count": count, "pool": pool}
    if chat.brief is not None and chat.brief.one_group:
        return _groups(rows, name, text)
    if count < FEWEST_PERSONAS:
        text += " " + _(
            "At least %(least)d are needed: one per side and others to choose from."
        ) % {"least": FEWEST_PERSONAS}
    return LaunchCheck(name, count >= FEWEST_PERSONAS, text, "personas")


def _groups(rows: QuerySet[Persona], name: str, text: str) -> LaunchCheck:
    """Refuse a group of one sheet: both sides of a conversation have theirs from the same."""
    sizes = dict(rows.values_list("group").annotate(Count("pk")).order_by())
    alone = sorted(group for group, size in sizes.items() if size < 2)
    if alone:
        text += " " + _("Of these groups there is one sheet only: %(groups)s.") % {
            "groups": ", ".join(alone)
        }
    elif not sizes:
        text += " " + _("Import at least two sheets of one group.")
    return LaunchCheck(name, bool(sizes) and not alone, text, "personas")


def _forms(chat: Chat) -> set[str]:
    """Return the forms that personas are shown or given in."""
    return {chat.form} | ({chat.partner_form} if chat.has_setting("partner_form") else set())


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
    if protocol.onboarding is not None:
        ok, text = known_answers.enough(campaign, protocol.onboarding)
        yield LaunchCheck(_("Items with known answers"), ok, text, "contexts")
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


def _of_writing(campaign: Campaign, write: Write) -> Iterator[LaunchCheck]:
    """Yield what a writing campaign needs: something to revise, or to reply to."""
    if write.makes == "persona":
        text = _("%(count)d are wanted: %(valid)d for validation, %(test)d for test.")
        about = {"count": write.count, "valid": write.valid, "test": write.test}
        yield LaunchCheck(_("Personas"), True, text % about, "settings")
    elif write.makes == "revision":
        count = campaign.personas.exclude(sentences=[]).count()
        text = _("%(count)d to revise.") % {"count": count}
        missing = _("Import some, or use those of a campaign in which they were written.")
        yield LaunchCheck(_("Personas"), count > 0, text if count else missing, "personas")
    else:
        count = campaign.contexts.count()
        text = _("%(count)d to reply to.") % {"count": count}
        yield LaunchCheck(
            _("Contexts"), count > 0, text if count else _("Import some."), "contexts"
        )


def _messages(campaign: Campaign) -> LaunchCheck:
    found, protocol = message_items.counts(campaign), protocol_of(campaign)
    is_whole = protocol.after is not None and protocol.after.over == "conversation"
    name = _("Conversations to judge") if is_whole else _("Messages to judge")
    name = _("Messages to paraphrase") if protocol.write else name
    if not found["messages"]:
        return LaunchCheck(name, False, _("Take those of a campaign that has ended."), "messages")
    if is_whole:
        count = found["conversations"]
        text = ngettext("%(count)d conversation.", "%(count)d conversations.", count)
        return LaunchCheck(name, True, text % {"count": count}, "messages")
    words = ngettext(
        "%(messages)d messages of %(conversations)d conversation.",
        "%(messages)d messages of %(conversations)d conversations.",
        found["conversations"],
    )
    text = words % found
    return LaunchCheck(name, True, text, "messages")


def _conversations(campaign: Campaign) -> LaunchCheck:
    count = conversation_items.planned(campaign) - conversation_items.controls(campaign)
    words = ngettext("%(count)d page to judge.", "%(count)d pages to judge.", count)
    text = words % {"count": count}
    if not count:
        text = _(
            "Take or import conversations; where two stand side by side, of two systems or more."
        )
    return LaunchCheck(_("Conversations to judge"), count > 0, text, "transcripts")


def _of_controls(campaign: Campaign, protocol: Protocol) -> Iterator[LaunchCheck]:
    """Refuse fewer pairs with known answers than each rater gets of them."""
    if protocol.onboarding is None:
        return
    count, wanted = conversation_items.controls(campaign), protocol.onboarding.items
    text = _("%(count)d pairs with known answers, %(items)d are wanted of each rater.")
    words = text % {"count": count, "items": wanted}
    if count < wanted:
        words += " " + _("Mark conversations as controls, better ones and worse ones.")
    yield LaunchCheck(_("Pairs with known answers"), count >= wanted, words, "transcripts")


def _pay(campaign: Campaign) -> LaunchCheck:
    rate = campaigns.hourly(campaign.pay, campaign.minutes)
    text = _("%(pay)s %(currency)s for %(minutes)d minutes: %(rate)s per hour.") % {
        "pay": campaign.pay,
        "currency": campaign.currency,
        "minutes": campaign.minutes,
        "rate": rate,
    }
    least, most = USUAL_HOURLY.get(campaign.currency, (Decimal(0), rate))
    if campaign.pay == 0:
        text = _("Nothing is paid: right for volunteers only.")
    elif not least <= rate <= most:
        text += " " + _("Usual is %(least)s to %(most)s per hour; check pay and minutes.") % {
            "least": least,
            "most": most,
        }
        return LaunchCheck(_("Pay"), True, text, "settings", warns=True)
    return LaunchCheck(_("Pay"), True, text, "settings")


def _consent(campaign: Campaign) -> LaunchCheck:
    name, words = _("Consent text"), word_count(campaign.consent)
    if not words:
        return LaunchCheck(name, False, _("Write the consent text."), "settings")
    text = ngettext("%(count)d word.", "%(count)d words.", words) % {"count": words}
    doubts = [*_doubts(campaign.consent), *_contradictions(campaign)]
    return LaunchCheck(name, True, " ".join([text, *doubts]), "settings", warns=bool(doubts))


def _doubts(consent: str) -> Iterator[str]:
    """Yield what looks wrong with a consent text; the parts are looked for in English words."""
    if len(consent) < SHORT_CONSENT:
        yield _("That is short.")
    if HTML.search(consent):
        yield _("It has HTML, which is shown as it is typed: write Markdown.")
    missing = [str(part) for part, words in PARTS.items() if not words.search(consent)]
    if missing:
        yield _("It does not seem to say: %(parts)s.") % {"parts": "; ".join(missing)}


def _contradictions(campaign: Campaign) -> Iterator[str]:
    """Yield what participants would read otherwise beside the consent text."""
    stated = [int(number) for number in MINUTES.findall(campaign.consent)]
    if stated and campaign.minutes not in stated:
        about = {"stated": stated[0], "minutes": campaign.minutes}
        yield _("It says %(stated)d minutes, the duration is %(minutes)d.") % about
    if not campaign.pay and PAID.search(campaign.consent):
        yield _("It speaks of pay, and nothing is paid.")


def _contact(campaign: Campaign) -> LaunchCheck:
    text = campaign.contact.strip() or _("Enter a contact for participants' questions.")
    return LaunchCheck(_("Contact"), bool(campaign.contact.strip()), text, "settings")
