"""Protocols as a requester chooses among them: what each is and gives, from its file alone."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation import Protocol, Question
from evaluation.registry import UnknownProtocol, get_protocol, protocol_names
from webapp.services.campaign import own_protocols
from webapp.services.rules import access
from webapp.services.rules.protocols import original


@dataclass(frozen=True)
class Offer:
    """A protocol that a campaign can be created from.

    about: a sentence on what participants do. results: what a requester gets out of it.
    """

    protocol: Protocol
    about: str
    results: tuple[str, ...]
    own: uuid.UUID | None = None  # the version, where a requester built it


def offers(user: access.User) -> list[Offer]:
    """Return all protocols, the user's own first."""
    return [*_own(user), *(_offer(name) for name in protocol_names())]


def shipped() -> list[Protocol]:
    """Return the protocols that come with Parley, by title."""
    return sorted(map(get_protocol, protocol_names()), key=lambda each: each.title.casefold())


def find(name: str) -> Protocol | None:
    """Return the protocol of this name, if there is one."""
    try:
        return get_protocol(name)
    except UnknownProtocol:
        return None


def grouped(found: Sequence[Offer]) -> list[tuple[str, list[Offer]]]:
    """Return the offers under headings, by what participants do."""
    headings = {
        "chat": _("People chat, and rate"),
        "talk": _("People chat; what they write is what counts"),
        "reply": _("People judge replies"),
        "compare": _("People compare or rank replies"),
        "over": _("People judge conversations that are over"),
        "write": _("People write"),
    }
    tasks = [(_task(offer.protocol), offer) for offer in found]
    groups = {name: [offer for task, offer in tasks if task == name] for name in headings}
    return [(headings[name], each) for name, each in groups.items() if each]


def _task(protocol: Protocol) -> str:
    if protocol.chat:
        return "chat" if protocol.rates else "talk"
    if protocol.write:
        return "write"
    if any(rate.over != "contexts" for rate in protocol.rates):
        return "over"
    questions = [question for rate in protocol.rates for question in rate.questions]
    return "compare" if any(question.compares for question in questions) else "reply"


def _own(user: access.User) -> Iterator[Offer]:
    for row in own_protocols.listed(user):
        protocol = original(row.name, row.pk)
        about = _("Your own protocol, version %(version)d.") % {"version": row.version}
        yield Offer(protocol, about, tuple(results(protocol)), row.pk)


def _offer(name: str) -> Offer:
    module = importlib.import_module(f"evaluation.protocols.{name}")
    protocol = get_protocol(name)
    return Offer(protocol, (module.__doc__ or "").strip(), tuple(results(protocol)))


WRITTEN = {
    "persona": gettext_lazy("Personas that conversations of other campaigns can use"),
    "revision": gettext_lazy("Each persona in other words, beside its original sentences"),
    "reply": gettext_lazy("Replies of people, which can be judged beside those of systems"),
    "paraphrase": gettext_lazy(
        "Other ways to say messages of conversations, for sets of candidates"
    ),
}


def results(protocol: Protocol) -> Iterator[str]:
    """Yield what answers to the protocol's questions are good for, by their kinds of value."""
    if protocol.write:
        yield str(WRITTEN[protocol.write.makes])
    questions = [question for rate in protocol.rates for question in rate.questions]
    pairs = [question for question in questions if question.personas_beside() is not None]
    others = [question for question in questions if question not in pairs]
    scored = [question for question in others if question.scale is not None]
    texts = [question for question in others if question.level == "text"]
    preferred = [question for question in others if question.compares == "together"]
    ranked = [question for question in others if question.compares == "each"]
    known = (*scored, *texts, *preferred, *ranked)
    named = [question for question in others if question not in known]
    if scored:
        yield _("A score of each system, with an interval: %(names)s") % {"names": _names(scored)}
    if named:
        yield _("How often each answer is given: %(names)s") % {"names": _names(named)}
    if preferred:
        yield _("How often each system is preferred: %(names)s") % {"names": _names(preferred)}
    if ranked:
        yield _("Where each system is ranked: %(names)s") % {"names": _names(ranked)}
    if pairs:
        yield _("How often the partner's character is recognized")
    if texts:
        yield _("Reasons in words beside the scores") if scored else _("Answers in words")
    votes = max((rate.votes for rate in protocol.rates), default=1)
    if votes > 1:
        yield _("How far the %(votes)d raters of an item agree") % {"votes": votes}
    if protocol.chat:
        yield _conversations(protocol)


def _conversations(protocol: Protocol) -> str:
    if protocol.chat is not None and protocol.chat.endless:
        return _("How long, how often and in which mood people talk to each system")
    lengths = protocol.chat.minimum.options if protocol.chat else ()
    words = ngettext(
        "The conversations, of at least %(least)d message",
        "The conversations, of at least %(least)d messages",
        min(lengths),
    )
    text = words % {"least": min(lengths)}
    return text if protocol.rates else _("%(text)s, for others to judge") % {"text": text}


def _names(questions: Sequence[Question]) -> str:
    return ", ".join(question.name.replace("_", " ") for question in questions)
