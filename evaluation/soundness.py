"""Soundness of a protocol: everything that keeps people from taking part in it as it stands.

Apart because the tests of the shipped protocols ask for it too. The dataclasses refuse what cannot
be; this finds what can be, and asks nobody anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from evaluation.chat import Brief, Chat
from evaluation.checks import NoNonstopOverlap
from evaluation.protocol import Protocol
from evaluation.questions import Question
from evaluation.rating import Rate
from evaluation.settings import InvalidSetting
from evaluation.words import texts
from evaluation.writing import Write

NAME = re.compile(r"[a-z][a-z0-9_]*")
LANGUAGE = re.compile(r"[a-z]{2,3}")
LONGEST_NAME = {"protocol": 60, "question": 40}  # characters, as databases store them
LONGEST = {"title": 120, "source": 500}  # characters
LONGEST_TEXT = 2_000
LONGEST_ALT, MOST_IMAGES = 500, 10
MINUTES = (1, 240)
MOST_OF_A_CONTEXT = 50  # messages

Complaint = tuple[str, str]  # what it is about: a field's path or "question NAME"; what is wrong


def complaints(protocol: Protocol) -> Iterator[Complaint]:
    """Yield everything that is wrong with a protocol."""
    if (wrong := _no_name(protocol.name, "protocol")) is not None:
        yield "name", wrong
    for field, most in LONGEST.items():
        if not 1 <= len(getattr(protocol, field).strip()) <= most:
            yield field, f"must have 1 to {most} characters"
    if not MINUTES[0] <= protocol.minutes <= MINUTES[1]:
        yield "minutes", f"{protocol.minutes} is not from {MINUTES[0]} to {MINUTES[1]}"
    if not protocol.instructions or not all(map(_fits, protocol.instructions)):
        yield "instructions", f"need 1 line or more, each of 1 to {LONGEST_TEXT} characters"
    yield from _of_steps(protocol)
    yield from _of_settings(protocol)
    yield from _of_questions(protocol)
    yield from _of_images(protocol)
    yield from _of_translations(protocol)


def _of_steps(protocol: Protocol) -> Iterator[Complaint]:
    if protocol.chat is None and protocol.after is None and protocol.write is None:
        yield "steps", "nobody has anything to do; add a conversation, or questions about replies"
    if protocol.write is not None:
        yield from _of_write(protocol.write, protocol)
    kinds = Counter(
        f"rate {step.when}" if isinstance(step, Rate) else step.prefix for step in protocol.steps
    )
    for kind, count in kinds.items():
        if count > 1:
            yield "steps", f"there are {count} of {kind}; there can be one"
    if protocol.chat is not None:
        yield from _of_chat(protocol.chat, protocol)
    if protocol.onboarding and not _has_known(protocol.after):
        right = "replies to contexts, or conversations in pairs, of which some have known answers"
        yield "onboarding.items", f"needs {right}"
    if protocol.attention and protocol.after is None:
        yield "attention", "has no form to stand in; add questions at the end, or leave it out"
    for known in protocol.quiz.answers if protocol.quiz else ():
        if len(known.explanation) > LONGEST_TEXT:
            about = f"question {known.question}"
            yield about, f"explanation: must have at most {LONGEST_TEXT} characters"
    for rate in protocol.rates:
        yield from _of_rate(rate, protocol)


def _has_known(rate: Rate | None) -> bool:
    return rate is not None and (
        rate.over == "contexts" or (rate.over == "speakers" and rate.show == "pairs")
    )


def _of_chat(chat: Chat, protocol: Protocol) -> Iterator[Complaint]:
    if not _fits(chat.told):
        yield "chat.told", f"must have 1 to {LONGEST_TEXT} characters"
    if chat.brief is not None:
        yield from _of_brief(chat.brief)
    for field in ("checks", "partner_checks"):
        names = Counter(check.name for check in getattr(chat, field))
        for name in (name for name, count in names.items() if count > 1):
            yield f"chat.{field}", f"has {name} more than once; there can be one"
    if chat.brief and not chat.pool:
        yield "chat.pool", "is empty; a brief needs sheets, which come from a split"
    if chat.turns == "free" and chat.partner != "bot":
        yield "chat.turns", "free turns need a bot as the partner; two people take turns"
    if chat.conversations > 1 and not chat.has_setting("conversations"):
        kind = "is endless" if chat.endless else "is with a person, of whom there is one system"
        yield "chat.conversations", f"{chat.conversations} are set and the chat {kind}; write 1"
    if chat.idle < 0:
        yield "chat.idle", f"{chat.idle} is no time; write 0 for never, or 30 seconds or more"
    if chat.endless and (chat.partner != "bot" or chat.maximum is not None or chat.idle):
        yield "chat.endless", "needs a bot as the partner, and neither maximum nor idle"
    if chat.endless and protocol.after is not None:
        yield "chat.endless", "nobody comes to questions afterwards; leave them out"
    if not chat.has_setting("streams") and (problem := chat.streaming_problem()):
        yield "chat.streams", problem
    if chat.partner_checks and chat.partner == "person":
        yield "chat.partner_checks", "are for bots, and the partner is a person"


def _of_brief(brief: Brief) -> Iterator[Complaint]:
    for field in ("yours", "theirs"):
        if not _fits(getattr(brief, field)):
            yield f"chat.brief.{field}", f"must have 1 to {LONGEST_TEXT} characters"


def _of_rate(rate: Rate, protocol: Protocol) -> Iterator[Complaint]:
    has_chat = protocol.chat is not None
    if not rate.questions:
        yield "steps", "a step of questions asks none; add one, or leave the step out"
    for question in rate.questions:
        yield from ((f"question {question.name}", each) for each in _of_otherwise(question))
    if rate.when == "live" and (rate.over != "messages" or rate.together):
        yield "rate.when", "while chatting only each message of the partner can be asked about"
    if has_chat != (rate.over == "partner" or rate.when == "live"):
        right = "about the partner, or live about messages" if has_chat else "about others' replies"
        yield "rate.over", f"{rate.over}, {rate.when} cannot be asked here; ask {right}"
    if rate.keep == "system" and rate.show == "all":
        yield "rate.keep", "nobody is kept to one system where each page shows replies of all"
    least, most = rate.messages
    if rate.over == "contexts" and not 0 <= least <= most <= MOST_OF_A_CONTEXT:
        yield "rate.messages", f"{least} to {most} is no range within 0 to {MOST_OF_A_CONTEXT}"


def _of_write(write: Write, protocol: Protocol) -> Iterator[Complaint]:
    if len(protocol.steps) > 1 + len(protocol.admissions):
        yield "steps", "writing is a step by itself; chat and rate in other campaigns"
    if not write.asks.required:
        yield "write.asks", "required is false; a text that is asked for cannot be left blank"
    about = f"question {write.asks.name}"
    if (wrong := _no_name(write.asks.name, "question")) is not None:
        yield about, f"name: {wrong}"
    if not _fits(write.asks.text):
        yield about, f"text: must have 1 to {LONGEST_TEXT} characters"
    overlaps = any(isinstance(check, NoNonstopOverlap) for check in write.checks)
    if overlaps and write.makes not in ("revision", "paraphrase"):
        yield "write.checks", f"a {write.makes} has no original to compare the words with"
    least, most = write.messages
    if write.makes == "reply" and not 1 <= least <= most <= MOST_OF_A_CONTEXT:
        yield "write.messages", f"{least} to {most} is no range within 1 to {MOST_OF_A_CONTEXT}"


def _of_settings(protocol: Protocol) -> Iterator[Complaint]:
    """Yield complaints about values that a requester could not set either, each of them once."""
    found: dict[str, str] = {}
    for setting in protocol.settings():
        value = getattr(setting.value, "options", setting.value)
        try:
            protocol.change({setting.name: value})
        except InvalidSetting as problem:
            name, _, text = str(problem).partition(": ")
            found.setdefault(name, text)
    yield from found.items()


def _of_questions(protocol: Protocol) -> Iterator[Complaint]:
    questions = protocol.questions
    for name, count in Counter(question.name for question in questions).items():
        if count > 1:
            yield f"question {name}", f"name: {count} questions have it; give each its own"
    for question in questions:
        yield from _of_question(question, protocol)


def _of_question(question: Question, protocol: Protocol) -> Iterator[Complaint]:
    about = f"question {question.name}"
    if (wrong := _no_name(question.name, "question")) is not None:
        yield about, f"name: {wrong}"
    if not _fits(question.text):
        yield about, f"text: must have 1 to {LONGEST_TEXT} characters"
    if len(question.help) > LONGEST_TEXT:
        yield about, f"help: must have at most {LONGEST_TEXT} characters"
    for example in question.examples:
        if not _fits(example.text) or not _fits(example.answer) or len(example.why) > LONGEST_TEXT:
            most = f"1 to {LONGEST_TEXT} characters"
            yield about, f"examples: text and answer must have {most}, why at most as many"
    has_personas = protocol.chat is not None and bool(protocol.chat.pool)
    if question.personas_beside() is not None and not has_personas:
        yield about, "asks for a persona, and the partner has none; set chat.pool to a split"


def _of_otherwise(question: Question) -> Iterator[str]:
    """Yield a complaint where what is stored in place of an answer could not be analyzed."""
    stored, scale = question.otherwise, question.scale
    if scale is None or stored is None or stored == "":  # which has no row in the data
        return
    low, high = scale
    if isinstance(stored, str | tuple) or not low <= stored <= high:
        yield (
            f"otherwise: “{stored}” would be stored where it is not asked; write a number from "
            f"{low:g} to {high:g}, or leave it empty, and such answers have no row in the data"
        )


def _of_images(protocol: Protocol) -> Iterator[Complaint]:
    images = protocol.every_image
    if len(images) > MOST_IMAGES:
        yield "images", f"there are {len(images)}; there can be {MOST_IMAGES}"
    for image in images:
        if not 1 <= len(image.alt.strip()) <= LONGEST_ALT:
            most = f"must have 1 to {LONGEST_ALT} characters that say what the image shows"
            yield f"image {image.sha256[:8]}", f"alt {most}"


def _of_translations(protocol: Protocol) -> Iterator[Complaint]:
    fields = dict(texts(protocol))
    if not LANGUAGE.fullmatch(protocol.language):
        yield "language", f"“{protocol.language}” is no code of a language, such as de"
    for language, labels in protocol.translations.items():
        about = f"translations.{language}"
        if not LANGUAGE.fullmatch(language):
            yield about, f"“{language}” is no code of a language, such as de"
        for field, label in labels.items():
            if field not in fields:
                yield about, f"{field} is no text here; there are {', '.join(fields)}"
            if not _fits(label):
                yield about, f"{field}: must have 1 to {LONGEST_TEXT} characters"


def _no_name(name: str, sort: str) -> str | None:
    most = LONGEST_NAME[sort]
    if NAME.fullmatch(name) and len(name) <= most:
        return None
    return f"“{name}” is no name; write 1 to {most} of a to z, 0 to 9 and _, a letter first"


def _fits(text: str) -> bool:
    return 1 <= len(text.strip()) <= LONGEST_TEXT
