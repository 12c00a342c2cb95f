"""Planted qualities of a protocol's systems, from what its questions are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluation import Gate, Protocol, Question, Shown, YesNo
from evaluation.registry import get_protocol, protocol_names
from tests.simulate.own_systems import own_systems
from webapp.crowd.people import Mix, Quality

BOT = "parrot"  # what it says does not matter: people rate by the planted quality of its name
HUMAN = "human"  # the only system where people judge people
SYSTEMS: Mapping[str, float] = {"alpha": 0.95, "beta": 0.5, "gamma": 0.05}
# Replies that are compared differ less, so that the worse of two is sometimes preferred.
COMPARED: Mapping[str, float] = {"alpha": 0.65, "beta": 0.5, "gamma": 0.35}
# Of a protocol whose paper has five sources of a reply.
FIVE: Mapping[str, float] = {
    "alpha": 0.95,
    "beta": 0.75,
    "gamma": 0.5,
    "delta": 0.25,
    "epsilon": 0.05,
}
OF_FIVE = ("reply_grades",)
PARAPHRASES = "_paraphrases"  # of the conversations of the protocol before it, by name
LEVELS = (0.8, 0.2)  # of one system's questions, in turn
DETECTED = 0.95  # the chance that a character is told from random ones
# Nobody leaves or rates by chance, so that whoever is missing was lost.
MIX = Mix(spam=0.0, dropout=0.0, slow=0.0, pause=0.02, careless=0.05, plain=0.2)
# Where nobody finishes everybody leaves, after 0 to 4 messages of their own.
LEAVING = replace(MIX, dropout=1.0, careless=0.0)


def questions(protocol: Protocol) -> tuple[Question, ...]:
    return tuple(question for rate in protocol.rates for question in rate.questions)


def is_of_people(protocol: Protocol) -> bool:
    """Tell whether people are the only system: they chat with each other, or did."""
    held = source_of(protocol) or protocol
    return held.chat is not None and held.chat.partner == "person"


def source_of(protocol: Protocol) -> Protocol | None:
    """Return the protocol whose conversations third parties judge, or reword; None for nobody.

    Those who must not have judged them before judge what bots said: where the same questions are
    asked while chatting, else where people may rate their partner. Others judge people, whom nobody
    rates and who play nobody.
    """
    after = protocol.after
    if protocol.write is not None and protocol.write.of_conversations:
        known = [name for name in protocol_names() if name + PARAPHRASES in protocol_names()]
        mine = protocol.name.removesuffix(PARAPHRASES)
        return get_protocol(mine if mine in known else known[0])
    if after is None or not after.by_third_parties:
        return None
    found = [one for one in map(get_protocol, protocol_names()) if one.chat is not None]
    if not after.not_before:
        apart = (one for one in found if is_of_people(one) and not one.rates)
        return next(one for one in apart if one.chat and not one.chat.pool)
    same = [one for one in found if one.live is not None and one.live.each == after.each]
    rated = [one for one in found if one.after is not None and not is_of_people(one)]
    return (same or rated)[0]


def held_before(protocol: Protocol) -> Protocol:
    """Return a protocol whose conversations with bots another one compares as wholes."""
    found = [one for one in map(get_protocol, protocol_names()) if one.chat is not None]
    return next(one for one in found if one.after is not None and not is_of_people(one))


def planted(protocol: Protocol) -> dict[str, Quality]:
    """Return what is planted in each system: a point of each scale, or the chance of an answer."""
    asked = [question for question in questions(protocol) if question.level != "text"]
    if is_of_people(protocol):
        levels = {one.name: LEVELS[n % len(LEVELS)] for n, one in enumerate(asked)}
        return {HUMAN: {one.name: _quality(one, levels[one.name]) for one in asked}}
    if not asked:  # nobody tells systems apart
        return {next(iter(_shares(protocol))): {}}
    return {
        system: {
            one.name: _quality(one, COMPARED.get(system, share) if one.compares else share)
            for one in asked
        }
        for system, share in _shares(protocol).items()
    }


def _shares(protocol: Protocol) -> Mapping[str, float]:
    """Return which systems there are, and how good: those of a file, or the usual ones."""
    usual = FIVE if protocol.name in OF_FIVE else SYSTEMS
    return {each.name: each.share for each in own_systems(protocol.name)} or usual


def _quality(question: Question, share: float) -> float:
    if question.personas_beside() is not None:
        return DETECTED
    if not question.is_scale or question.scale is None:
        return share
    low, high = question.scale
    return low + share * (high - low)


def expected_level(protocol: Protocol, question: Question, quality: Quality) -> float:
    """Return the planted level, 0 for the lowest and 1 for the highest that there can be.

    Where a question stays closed, what is stored instead counts.
    """
    low, high = question.scale if question.is_scale and question.scale else (0.0, 1.0)
    level = (quality[question.name] - low) / (high - low)
    if question.only_if is None or not isinstance(question.otherwise, int | float):
        return level
    share = _opened(protocol, question.only_if, quality)
    return share * level + (1 - share) * (question.otherwise - low) / (high - low)


def _opened(protocol: Protocol, gate: Gate, quality: Quality) -> float:
    """Return how often a gate opens: people choose by chance, and near a planted point."""
    asked = next(one for one in questions(protocol) if one.name == gate.question)
    before = 1.0 if asked.only_if is None else _opened(protocol, asked.only_if, quality)
    if asked.is_scale:
        return before * gate.opens(round(quality[asked.name]))
    if isinstance(asked, YesNo):
        yes = quality[asked.name]
        return before * (yes * gate.opens(1) + (1 - yes) * gate.opens(0))
    return before * len(gate.values) / len(asked.form_field(Shown(())).options)
